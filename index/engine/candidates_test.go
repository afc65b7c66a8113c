package engine

import (
	"fmt"
	"runtime"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestSearchMemoryAfterDeletions checks that a search of an index with deleted chunks allocates no memory for each
// remaining chunk.
func TestSearchMemoryAfterDeletions(t *testing.T) {
	if raced {
		t.Skip("the race detector makes pools forget")
	}
	ix := testIndex(t, t.TempDir())
	var chunks []Chunk
	for i := range 60_000 {
		id := fmt.Sprint(i)
		chunks = append(chunks, Chunk{ID: id, Doc: id, Fields: []FieldText{{"body", fmt.Sprintf("w%dx", i%5000)}}})
	}
	commit(t, ix, nil, chunks)
	commit(t, ix, []string{"5", "5005"}, nil)
	s := must.Get(ix.Acquire())
	defer s.Release()
	req := Request{Words: &Words{Query: sheaf.Match{Text: "w5x"}, Fields: []FieldWeight{{"body", 1}}, K1: 1.2, B: 0.75},
		Limit: 20}
	search := func() {
		hits, err := s.Search(t.Context(), req)
		must.That(t, err == nil && len(hits) == 10, "%d found: %v", len(hits), err)
	}
	bounded := req
	bounded.Within = []sheaf.ID{"10", "10005", "5"}
	hits, err := s.Search(t.Context(), bounded)
	must.That(t, err == nil && len(hits) == 1, "%d found among three: %v", len(hits), err)
	for i, v := range s.views {
		check.That(t, v.alive.Load() == nil, "view %d: what is left is worked out for a search within others", i)
	}
	search()
	const times = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		search()
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / times
	check.That(t, each <= uint64(len(chunks)/16), "a search of %d chunks takes %d bytes", len(chunks), each)
}
