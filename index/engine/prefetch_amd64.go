package engine

// cacheLine is the number of bytes that a processor loads from memory together.
const cacheLine = 64

func init() {
	prefetch = func(b []byte) {
		if len(b) > 0 {
			prefetchLines(&b[0], (len(b)+cacheLine-1)/cacheLine)
		}
	}
	prefetchEach = func(b []byte, size int, ordinals []uint32) {
		if len(b) > 0 && len(ordinals) > 0 {
			prefetchAt(&b[0], size, &ordinals[0], len(ordinals))
		}
	}
}

// prefetchLines requests cache lines from memory. The first is at the address from. lines is their number, at least 1.
//
//go:noescape
func prefetchLines(from *byte, lines int)

// prefetchAt requests from memory, for each of n ordinals, the bytes at from plus size times the ordinal. n is at least
// 1.
//
//go:noescape
func prefetchAt(from *byte, size int, ordinals *uint32, n int)
