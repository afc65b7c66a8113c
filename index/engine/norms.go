package engine

import "sheaf/index/engine/bm25"

// norms has the BM25 norm of each length below longField, for certain parameters and an average length.
type norms [longField]float64

// normsOf is the key of cached norms: the parameters and the average length from which they were computed.
type normsOf struct {
	parameters bm25.Parameters
	average    float64
}

// normsKept is the largest number of norms that a snapshot caches. Most requests use the same norms, and computing
// norms takes longer than a search in a small index.
const normsKept = 64

// normsFor returns the norms of lengths for these parameters and this average length.
func (s *Snapshot) normsFor(p bm25.Parameters, average float64) *norms {
	key := normsOf{p, average}
	if known, ok := s.norms.Get(key); ok {
		return known
	}
	n := new(norms)
	for length := range n {
		n[length] = p.Norm(float64(p.Lengths.Of(uint32(length))), average)
	}
	s.norms.Put(key, n, 1)
	return n
}
