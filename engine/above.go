package engine

// above sets the bits of those sums of a window that are at least need, and clears the
// others; nil where a machine has no way of doing that which is faster than marking what
// is added to.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)
