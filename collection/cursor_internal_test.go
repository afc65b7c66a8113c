package collection

import (
	"errors"
	"testing"

	"sheaf"
	"sheaf/search"
)

// explained is a ranking of hits with explanations of so many parts each.
func explained(hits, parts int) *kept {
	list := make([]search.Hit, hits)
	for i := range list {
		list[i].Explanation = &sheaf.Explanation{Parts: make([]sheaf.Explanation, parts)}
	}
	found := &ranked{result: &search.Result{Hits: list}}
	return &kept{ranked: found, bytes: found.bytes()}
}

// Rankings are kept within a bound of memory, the one that came last in any case.
func TestKeptBytes(t *testing.T) {
	s := newRankings()
	one := explained(100, 1000) // about 10 MB
	if least := int64(100 * 1000 * partBytes); one.bytes < least {
		t.Fatalf("a ranking counts %d bytes, and its parts are %d", one.bytes, least)
	}
	first := s.keep(one, 1, 1)
	for range 20 {
		s.keep(explained(100, 1000), 1, 1)
		if s.bytes > maxKeptBytes {
			t.Fatalf("%d rankings take %d bytes, want at most %d", s.order.Len(), s.bytes, maxKeptBytes)
		}
	}
	if _, _, _, err := s.find(first, ""); !errors.Is(err, ErrExpired) || s.order.Len() < 2 {
		t.Errorf("the first of 21 rankings: %v; %d are kept", err, s.order.Len())
	}
	huge := s.keep(explained(1000, 1000), 1, 1)
	if _, _, _, err := s.find(huge, ""); err != nil || s.order.Len() != 1 {
		t.Errorf("one that is larger than the bound: %v; %d are kept", err, s.order.Len())
	}
	last := s.keep(explained(1, 1), 1, 1)
	if _, _, _, err := s.find(last, ""); err != nil || s.order.Len() != 1 || s.bytes > maxKeptBytes {
		t.Errorf("the one after it: %v; %d are kept, %d bytes", err, s.order.Len(), s.bytes)
	}
	if s.evict(0, maxKeptBytes+1, one.used); s.order.Len() != 0 || s.bytes != 0 || s.hits != 0 {
		t.Errorf("nothing is kept: %d rankings, %d bytes, %d hits", s.order.Len(), s.bytes, s.hits)
	}
}
