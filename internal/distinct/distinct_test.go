package distinct

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/internal/must"
)

// TestList checks that every value is in the list once, at its first position.
func TestList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var l List[int]
		var want []int
		for range 2 * n {
			v := random.IntN(n + 1)
			if l.Add(v); !slices.Contains(want, v) {
				want = append(want, v)
			}
		}
		must.That(t, slices.Equal(l.Values, want), "%v, want %v", l.Values, want)
	}
}
