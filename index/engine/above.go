package engine

// above sets the bits of those sums of a window that are at least need, and clears the
// others; nil where a machine has no way of doing that which is faster than marking what
// is added to.
var above func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64)

// take writes the ordinals and sums of a window that begins at start, of those that are
// at least need, in their order, clears all sums, and returns how many it wrote. What lies
// behind those it may overwrite. It is nil where nothing is faster than above and a loop.
var take func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int
