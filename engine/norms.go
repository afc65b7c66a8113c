package engine

import (
	"sync"
	"sync/atomic"

	"sheaf/engine/bm25"
)

// norms are BM25's norms of the lengths below longField, for some parameters and
// an average length.
type norms [longField]float64

// normCache keeps the norms that requests have used, because most requests use the
// same ones, and computing them takes longer than answering from a small index.
// It does not grow beyond maxNorms.
type normCache struct {
	known sync.Map // of normKey to *norms
	count atomic.Int32
}

type normKey struct {
	bm25.Parameters
	average float64
}

const maxNorms = 64

func (c *normCache) of(p bm25.Parameters, average float64) *norms {
	key := normKey{p, average}
	if n, ok := c.known.Load(key); ok {
		return n.(*norms)
	}
	n := new(norms)
	for length := range n {
		n[length] = p.Norm(float64(p.Lengths.Of(uint32(length))), average)
	}
	if c.count.Load() < maxNorms {
		if _, loaded := c.known.LoadOrStore(key, n); !loaded {
			c.count.Add(1)
		}
	}
	return n
}
