package engine

// above sets the bits of the sums of a window that are at least need, and clears the others. It is
// nil on machines where marking the changed sums is as fast.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)

// take writes the sums of a window that are at least need, and their ordinals, in order; start is
// the first ordinal of the window. It clears all sums and returns the number of written sums. It
// may overwrite the entries after them. It is nil where above and a loop are as fast.
var take func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int
