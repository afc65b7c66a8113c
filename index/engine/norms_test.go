package engine

import (
	"sync"
	"testing"

	"sheaf/index/engine/bm25"
)

// TestNorms checks that norms belong to their parameters and average length, with several
// goroutines and with more norms than the cache holds. Cached norms are computed once.
func TestNorms(t *testing.T) {
	var c normCache
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 3 * maxNorms {
				p := bm25.Parameters{K1: 1 + float64(i%3), B: 0.5}
				average := float64(1 + i%maxNorms)
				for length, norm := range c.of(p, average) {
					if want := p.Norm(float64(length), average); norm != want {
						t.Errorf("K1 %v, average %v: the norm of %d is %v, want %v", p.K1, average, length, norm, want)
						return
					}
				}
			}
		})
	}
	wait.Wait()
	kept := 0
	for i := range c {
		known := c[i].Load()
		if known == nil {
			continue
		}
		if kept++; c.of(known.parameters, known.average) != &known.norms {
			t.Errorf("norms of %v for an average of %v are made again", known.parameters, known.average)
		}
	}
	if kept != maxNorms {
		t.Errorf("%d norms are kept, want %d", kept, maxNorms)
	}
}
