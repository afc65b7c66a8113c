package engine

// Lengths of chunks lie where nothing else of a query does, a few of them on each cache
// line: asked for when they are needed, they are waited for. These ask before, and wait for
// nothing; both are nil where a machine has no way of doing that.
var (
	// prefetch asks for the bytes of b.
	prefetch func(b []byte)
	// prefetchEach asks for the bytes of b at size times each ordinal; size is 1 or 2.
	prefetchEach func(b []byte, size int, ordinals []uint32)
)
