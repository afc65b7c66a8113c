package engine

// above sets the bits of the sums that are at least need, and clears the other bits. mask and sums belong to one
// window. The variable above is nil on machines where marking the changed sums is as fast.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)

// take writes the sums of a window that are at least need, and their ordinals, in order. start is the first ordinal
// of the window. take clears all sums and returns the number of written ones. It may also overwrite entries after the
// last written one. The variable take is nil on machines where the function above and a loop are as fast.
var take func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int
