package engine

// The lengths of chunks are far from the other data of a query; a cache line has few lengths. So reading lengths
// waits for memory. These functions request lengths early and do not wait. Both are nil on machines without such
// instructions.
var (
	// prefetch requests the bytes of b from memory.
	prefetch func(b []byte)
	// prefetchEach requests, for each ordinal, the bytes of b at size times the ordinal. size is 1 or 2.
	prefetchEach func(b []byte, size int, ordinals []uint32)
)
