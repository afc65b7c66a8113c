package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// noPhrases is a store without phrases.
type noPhrases struct{ *memory.Backend }

func (n noPhrases) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if req.Text != nil {
		if _, ok := req.Text.Query.(sheaf.Phrase); ok {
			return nil, fmt.Errorf("%w: phrases", sheaf.ErrUnsupported)
		}
	}
	return n.Backend.Retrieve(ctx, req)
}

// TestAdjacentWordsRankFirst checks that a document with the query's words side by side ranks before one
// with the same words apart. On a store without phrases only words count, and a note says so.
func TestAdjacentWordsRankFirst(t *testing.T) {
	notes := newShelf(map[string][]string{
		"a.md": {"First: trees were planted by the old wall where apple pips fell", "Second: soil"},
		"b.md": {"First: pips fell by the old wall where apple trees were planted", "Second: soil"},
		"c.md": {"First: stones", "Second: stones"}, "d.md": {"First: walls", "Second: water"},
		"e.md": {"First: paths", "Second: gates"},
	})
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	st := memory.New(a)
	must.Do(t, st.Write(context.Background(), store.Batch{Chunks: notes.stored}))
	p := load(t, "sheaf")
	ask := func(b store.Backend, strength string) (*search.Result, map[string]string) {
		s := &search.Searcher{Backend: b, Store: "shelf", Facts: notes, Analyzer: a}
		r := mustSearch(t, s, query("apple trees", 5), p,
			search.Options{Explain: true, Trace: true, Parameters: map[string]string{"pairs": strength}})
		why := map[string]string{}
		for _, h := range r.Hits {
			checkReason(t, string(h.ID), h.Score, h.Explanation)
			why[h.Path] += fmt.Sprintf("%+v", *h.Explanation)
		}
		return r, why
	}
	scores := func(r *search.Result) (a, b float64) {
		at := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.Path == "a.md" })
		bt := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.Path == "b.md" })
		if at < 0 || bt < 0 {
			t.Fatalf("found %v", found(r))
		}
		return r.Hits[at].Score, r.Hits[bt].Score
	}
	const pair = `"apple trees"`
	r, why := ask(st, "0.4")
	if x, y := scores(r); y < x+0.39 || r.Hits[0].Path != "b.md" {
		t.Errorf("apart %v, side by side %v", x, y)
	}
	if strings.Contains(why["a.md"], pair) || !strings.Contains(why["b.md"], pair) {
		t.Errorf("explained by %s\nand %s", why["a.md"], why["b.md"])
	}
	quoted := query("", 5)
	quoted.Words = sheaf.Phrase{Text: "apple trees"}
	s := &search.Searcher{Backend: st, Store: "shelf", Facts: notes, Analyzer: a}
	phrase := mustSearch(t, s, quoted, p, search.Options{Parameters: map[string]string{"pairs": "0.4"}})
	if _, y := scores(r); phrase.Hits[0].Path != "b.md" || phrase.Hits[0].Score < y {
		t.Errorf("quotes give %s %v, the same words without quotes %v", phrase.Hits[0].Path, phrase.Hits[0].Score, y)
	}
	if r, _ = ask(st, "0"); len(r.Notes) > 1 {
		t.Errorf("notes %q", r.Notes)
	}
	if x, y := scores(r); x != y {
		t.Errorf("without pairs: apart %v, side by side %v", x, y)
	}
	r, _ = ask(noPhrases{st}, "0.4")
	if x, y := scores(r); x != y || r.Degraded ||
		!slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.Contains(n, "shelf cannot look for words side by side")
		}) {
		t.Errorf("without phrases: apart %v, side by side %v; degraded %t, notes %q", x, y, r.Degraded, r.Notes)
	}
	for _, s := range r.Trace {
		if said := strings.Contains(strings.Join(s.Notes, "\n"), "side by side"); said != strings.HasPrefix(s.Step,
			"word_pairs") {
			t.Errorf("step %s notes %q", s.Step, s.Notes)
		}
	}
}
