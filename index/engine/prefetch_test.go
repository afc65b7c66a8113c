package engine

import (
	"testing"

	"sheaf/internal/must"
)

// TestPrefetch checks that prefetching any number of bytes ends and changes none of them.
func TestPrefetch(t *testing.T) {
	if prefetch == nil {
		t.Skip("this machine has none")
	}
	prefetch(nil)
	prefetchEach(nil, 1, []uint32{0})
	b, ordinals := make([]byte, 3*64), make([]uint32, 3*32)
	for i := range b {
		b[i] = byte(i)
	}
	for i := range ordinals {
		ordinals[i] = uint32(i)
	}
	for from := range b {
		prefetch(b[from:])
		prefetch(b[:from])
	}
	for n := range ordinals {
		for _, size := range []int{1, 2} {
			prefetchEach(b, size, ordinals[:n])
		}
	}
	for i := range b {
		must.Equal(t, b[i], byte(i), "byte %d", i)
	}
	for i := range ordinals {
		must.Equal(t, ordinals[i], uint32(i), "ordinal %d", i)
	}
}
