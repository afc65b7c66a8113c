package engine

import (
	"math"
	"sync/atomic"

	"sheaf/index/engine/bm25"
)

// norms has the BM25 norm of each length below longField, for certain parameters and an average length.
type norms [longField]float64

// normCache keeps the norms of recent requests. Most requests use the same norms, and computing them takes longer than
// answering from a small index. A hash of the average length selects the slot. If other norms have the slot, the cache
// tries the slots after it. It takes no lock and never grows.
type normCache [maxNorms]atomic.Pointer[knownNorms]

// knownNorms are norms and the parameters that they were computed with.
type knownNorms struct {
	parameters bm25.Parameters
	average    float64
	norms      norms
}

const (
	normBits = 6
	maxNorms = 1 << normBits
)

func (c *normCache) of(p bm25.Parameters, average float64) *norms {
	home := math.Float64bits(average) * 0x9e3779b97f4a7c15 >> (64 - normBits)
	for i := range uint64(maxNorms) {
		slot := &c[(home+i)%maxNorms]
		known := slot.Load()
		if known == nil {
			made := newNorms(p, average)
			if slot.CompareAndSwap(nil, made) {
				return &made.norms
			}
			known = slot.Load() // another goroutine was first
		}
		if known.average == average && known.parameters == p {
			return &known.norms
		}
	}
	return &newNorms(p, average).norms
}

func newNorms(p bm25.Parameters, average float64) *knownNorms {
	n := &knownNorms{parameters: p, average: average}
	for length := range n.norms {
		n.norms[length] = p.Norm(float64(p.Lengths.Of(uint32(length))), average)
	}
	return n
}
