package search

import (
	"fmt"
	"testing"

	"sheaf"
	"sheaf/rank"
)

// Tables of one search with very many hits are not cleared for every small one after it.
func TestLargeTablesAreNotKept(t *testing.T) {
	for range 10 {
		m := newMemo(struct{ rank.Facts }{})
		m.expect(400_000)
		m.release()
		if m = newMemo(struct{ rank.Facts }{}); len(m.nodes) > maxKeptSlots {
			t.Fatalf("a search for few hits has a table of %d slots, want at most %d", len(m.nodes), maxKeptSlots)
		}
		m.release()
	}
}

// editions are documents whose titles say which of two states they are of.
type editions struct {
	rank.Facts
	title string
}

func (e editions) Document(id sheaf.ID) (sheaf.Document, bool) {
	return sheaf.Document{ID: id, Title: e.title, Chunks: []sheaf.Chunk{{ID: id + "#a", Doc: id, Title: e.title}}}, true
}

func (e editions) Date(sheaf.ID) (sheaf.Dated, bool) {
	return sheaf.Dated{Source: sheaf.DateSource(len(e.title))}, true
}

// What a search learned of documents is not told by one after it, whose memory it lies in;
// and maps that became large are not emptied for every small search.
func TestFactsAreOfOneSearch(t *testing.T) {
	for round := range 50 {
		title := fmt.Sprintf("%0*d", 1+round%2, round)
		m := newMemo(editions{title: title})
		n := 3
		if round%10 == 0 {
			n = 2 * maxKeptFacts
		}
		if kept := max(len(m.documents), len(m.chunks), len(m.outlines), len(m.dates)); kept > 0 {
			t.Fatalf("round %d begins with %d facts of an earlier search, want none", round, kept)
		}
		for i := range n {
			id := sheaf.ID(fmt.Sprintf("%d.md", i))
			if c := m.part(id + "#a"); c == nil || c.Title != title {
				t.Fatalf("round %d: the chunk of %s is %v, want one titled %q", round, id, c, title)
			}
			if d := m.document(id); d == nil || d.Title != title {
				t.Fatalf("round %d: %s is %v, want one titled %q", round, id, d, title)
			}
			if d, _ := m.Date(id); int(d.Source) != len(title) {
				t.Fatalf("round %d: the date of %s is %v, want one of this round", round, id, d)
			}
			if o := m.Outline(id); o == nil {
				t.Fatalf("round %d: %s has no outline", round, id)
			}
		}
		large := m.documents
		m.release()
		if n > maxKeptFacts && len(large) == 0 {
			t.Fatalf("round %d: a map of %d facts was emptied for another search, want at most %d", round, n, maxKeptFacts)
		}
	}
}
