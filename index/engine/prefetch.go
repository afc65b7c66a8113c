package engine

// prefetch and prefetchEach request the lengths of chunks from memory early, and do not wait. Lengths are far from the
// other data of a query, so reading lengths is slow. Both functions are nil on machines without such instructions.
var (
	// prefetch requests the bytes of b from memory.
	prefetch func(b []byte)
	// prefetchEach requests, for each ordinal, the bytes of b at size times the ordinal. size is 1 or 2.
	prefetchEach func(b []byte, size int, ordinals []uint32)
)
