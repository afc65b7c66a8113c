package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestHostileLists changes a byte of a posting list under a valid checksum. It checks that no
// search panics in any loop, and that undecodable data is a fault.
func TestHostileLists(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	ix := testIndex(t, t.TempDir())
	var chunks []Chunk
	for i := range 3000 {
		id := fmt.Sprint(i)
		text := strings.Repeat("pear ", i%5) + "apple" + strings.Repeat(" apple", i%7)
		chunks = append(chunks, Chunk{ID: id, Doc: id, Fields: []FieldText{{"body", text}}})
	}
	commit(t, ix, nil, chunks)
	s := must.Get(ix.Acquire())
	defer s.Release()
	for _, query := range []string{"apple", "apple pear", "pear apple"} {
		words := &Words{Query: sheaf.Match{Text: query}, Fields: []FieldWeight{{"body", 1}}, K1: 1.2, B: 0.75}
		p := must.Get(s.planOf(&Request{Words: words}))
		terms, _ := p.root.flat()
		r := s.views[0].reader
		list := must.Get(r.List(&terms[0].refs[0], r.Field("body"), false))
		faults, good := 0, list.Postings
		for i := 0; i < len(good); i++ {
			for _, mask := range []byte{0x7f, 0xff, 1 << (i % 8)} {
				list.Postings = bytes.Clone(good)
				list.Postings[i] ^= mask
				m := must.Get(p.maxScore(terms, 0, newCollector(s, 10)))
				m.bounds[0].cursor.Reset(list, uint32(r.Chunks()))
				m.begin()
				m.run(t.Context())
				m.confirm()
				if p.faultOf(m) != nil {
					faults++
				}
			}
		}
		changes := 3 * len(good)
		t.Logf("%q: %d faults of %d", query, faults, changes)
		check.That(t, faults >= changes/30, "%q: %d faults of %d changes", query, faults, changes)
	}
}
