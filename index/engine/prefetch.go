package engine

// Lengths of chunks are far from the other data of a query, only a few on each cache line, so
// reading them waits for memory. These functions request them early and do not wait; both are nil
// on machines without such instructions.
var (
	// prefetch requests the bytes of b.
	prefetch func(b []byte)
	// prefetchEach requests the bytes of b at size times each ordinal; size is 1 or 2.
	prefetchEach func(b []byte, size int, ordinals []uint32)
)
