package analysis

import (
	"math/rand/v2"
	"testing"
)

// TestPlainPrefix checks that eight bytes at once give the same result as one by one.
func TestPlainPrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 2))
	for c := range 256 {
		for at := range 8 {
			text := []byte("aZ09_zAq")
			text[at] = byte(c)
			if rng.IntN(2) == 0 {
				text[rng.IntN(8)] = byte(rng.IntN(256))
			}
			want := 0
			for want < 8 && ascii[text[want]] == classWord {
				want++
			}
			if got := plainPrefix(string(text)); got != want {
				t.Fatalf("%q: %d, want %d", text, got, want)
			}
		}
	}
}
