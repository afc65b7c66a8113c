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

// prefetchLines requests lines cache lines from the address from on. lines is at least one.
//
//go:noescape
func prefetchLines(from *byte, lines int)

// prefetchAt requests the lengths of n ordinals. n is at least one.
//
//go:noescape
func prefetchAt(from *byte, size int, ordinals *uint32, n int)
