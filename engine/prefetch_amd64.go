package engine

// cacheLine is the number of bytes that come together.
const cacheLine = 64

func init() {
	prefetch = func(b []byte) {
		if len(b) > 0 {
			prefetchLines(&b[0], (len(b)+cacheLine-1)/cacheLine)
		}
	}
}

// prefetchLines asks for so many lines, at least one.
//
//go:noescape
func prefetchLines(from *byte, lines int)
