package engine

// above sets the bits of the sums of a window that are at least need, and clears the others. It is
// nil on machines without a way that beats marking the changed sums.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)

// take writes the ordinals and sums, at least need, of a window that begins at start, in their
// order. It clears all sums and returns how many it wrote; it may overwrite what follows them. It
// is nil where above and a loop are as fast.
var take func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int
