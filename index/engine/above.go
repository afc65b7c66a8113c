package engine

// above sets in mask the bit of each sum that is at least need, and clears the other bits. mask and sums belong to one
// window. above is nil on machines where it would not save time.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)

// take writes the sums of a window that are at least need, and their ordinals, in order. start is the first ordinal of
// the window. take clears all sums and returns the number of written ones. It may also overwrite entries after the last
// written one. take is nil on machines where it would not save time.
var take func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int
