package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"sheaf/internal/check"
)

// TestPlaces checks that the cache returns what several goroutines put there, and never another chunk.
func TestPlaces(t *testing.T) {
	const views, chunks, rounds = 3, 60_000, 40_000
	c := newPlaces()
	name := func(at place) string {
		if at.ordinal%1000 == 7 {
			return fmt.Sprintf("%d/%d", at.view, at.ordinal) + strings.Repeat("x", 5000)
		}
		return fmt.Sprintf("%d/%d", at.view, at.ordinal)
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(41, uint64(worker)))
			found := 0
			for range rounds {
				at := place{rng.IntN(views), uint32(rng.IntN(chunks))}
				want := name(at)
				c.put(want, at)
				if id, ok := c.id(at); ok && id != want {
					t.Errorf("%v is called %.40q, want %.40q", at, id, want)
				}
				other, ok := c.placeOf(want)
				if ok {
					found++
				}
				check.That(t, !ok || other == at, "%.40q is at %v, want %v", want, other, at)
			}
			check.That(t, found >= rounds*9/10, "the cache has %d of %d chunks right after", found, rounds)
		})
	}
	wait.Wait()
}
