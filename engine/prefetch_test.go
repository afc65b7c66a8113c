package engine

import "testing"

// TestPrefetch: asking for bytes ends, and touches none, however many they are.
func TestPrefetch(t *testing.T) {
	if prefetch == nil {
		t.Skip("this machine has none")
	}
	prefetch(nil)
	b := make([]byte, 3*64)
	for i := range b {
		b[i] = byte(i)
	}
	for from := range b {
		prefetch(b[from:])
		prefetch(b[:from])
	}
	for i := range b {
		if b[i] != byte(i) {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
}
