package engine

// above sets in mask the bit of each sum that is at least need, and clears the other bits. mask and sums belong to one
// window. above is nil on machines where it would not save time.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)

// take copies the sums that are at least need from a window to taken, and their ordinals to ordinals. start is the
// first ordinal of the window. take clears all sums and returns the number of copied sums. It may also overwrite
// entries after the last copied sum. take is nil on machines where it would not save time.
var take func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int
