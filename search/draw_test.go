package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// fewAtOnce is a store that gives fewer than most hits at once, and counts when it can.
type fewAtOnce struct {
	store.Backend
	most int
}

func (s fewAtOnce) Supports(req store.Request) error {
	if req.Limit >= s.most {
		return fmt.Errorf("%w: a limit of %d: fewer than %d", sheaf.ErrUnsupported, req.Limit, s.most)
	}
	return nil
}

func (s fewAtOnce) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := s.Supports(req); err != nil {
		return nil, err
	}
	return s.Backend.Retrieve(ctx, req)
}

type fewCounted struct {
	fewAtOnce
	store.Counter
}

// drawnFrom is a store of n chunks about cats.
func drawnFrom(t *testing.T, n int) *memory.Backend {
	t.Helper()
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New(a)
	var batch store.Batch
	for i := range n {
		id := sheaf.ID(fmt.Sprintf("t:%03d.md#a", i))
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: id, Doc: sheaf.DocumentID("t", id.Path()),
			Fields: []store.Field{{Name: sheaf.FieldBody, Text: strings.Repeat("a dog ", i%7) + "a cat"}}})
	}
	if err := st.Write(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestDrawAsksForWhatTheStoreGives: a store that refuses large limits is asked for fewer,
// and the draw says that it is from a part.
func TestDrawAsksForWhatTheStoreGives(t *testing.T) {
	all := drawnFrom(t, 50)
	few := fewAtOnce{all, 20}
	for _, c := range []struct {
		name  string
		store store.Backend
		total int
		note  string
	}{
		{"all at once", all, 50, "from 50: "},
		{"just all", fewCounted{fewAtOnce{all, 51}, all}, 50, "from 50: "},
		{"few at once", few, 19, "from the best 19, which the store gives at once; more may match: "},
		{"few, counted", fewCounted{few, all}, 50, "from the best 19 of 50, which the store gives at once: "},
	} {
		s := searcher(animals())
		s.Backend = c.store
		r, err := s.Search(context.Background(), query("cat", 3), load(t, "rrf"), search.Options{Order: search.RandomOrder(1)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if want := "drawn at random " + c.note + "random:1 draws the same"; r.Total != c.total || !slices.Contains(r.Notes, want) {
			t.Errorf("%s: %d in all, notes %q; want %d, %q", c.name, r.Total, r.Notes, c.total, want)
		}
	}
}

// TestDrawIsFair: over many seeds every match is drawn about as often as any other.
func TestDrawIsFair(t *testing.T) {
	const n, want, seeds = 50, 10, 2000
	st := drawnFrom(t, n)
	req := store.Request{Limit: want, Text: &store.TextRequest{Query: sheaf.Bool{}, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: store.DefaultK1, B: store.DefaultB}}
	first, any := map[sheaf.ID]int{}, map[sheaf.ID]int{}
	for seed := range uint64(seeds) {
		d, err := search.Draw(context.Background(), st, req, seed)
		if err != nil || len(d.Hits) != want || d.From != n || d.Total != n || d.Part {
			t.Fatalf("seed %d: %+v, %v", seed, d, err)
		}
		first[d.Hits[0].ID]++
		for _, h := range d.Hits {
			any[h.ID]++
		}
	}
	for id := range any { // six standard deviations about the mean: 40 and 6.3, 400 and 17.9
		if first[id] < 2 || first[id] > 78 || any[id] < 293 || any[id] > 507 {
			t.Errorf("%s is drawn %d times, %d times first", id, any[id], first[id])
		}
	}
	if len(any) != n {
		t.Errorf("%d of %d are ever drawn", len(any), n)
	}
}

// TestReadRandomOrder: what is no draw is none, and what is nearly one is refused.
func TestReadRandomOrder(t *testing.T) {
	for text, want := range map[string]string{"random:7": "random:7", "random:007": "random:7", "random:18446744073709551615": "random:18446744073709551615", "date": "", "-date": "", "randomly": "", "-randomly": "", "": ""} {
		o, err := search.ReadRandomOrder(text)
		if err != nil || (o == nil) != (want == "") || o != nil && (o.Column != want || o.Descending) {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
	for _, text := range []string{"-random", "-random:7", "-random:x", "random:", "random:x", "random:-1", "random:1.5", "random:18446744073709551616"} {
		if o, err := search.ReadRandomOrder(text); !errors.Is(err, sheaf.ErrInvalid) || o != nil {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
	if a, err := search.ReadRandomOrder("random"); err != nil || !strings.HasPrefix(a.Column, "random:") {
		t.Errorf("random: %+v, %v", a, err)
	}
}
