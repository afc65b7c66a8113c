package search_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/inference"
	"sheaf/inference/static/english"
	"sheaf/search"
)

// counted is a store that counts every word in one chunk, the cat in all.
type counted struct{ backend.Backend }

func (counted) Count(_ context.Context, req backend.Request) (int, error) {
	if req.Text.Query == (sheaf.Match{Text: "cat"}) {
		return 100, nil
	}
	return 1, nil
}

// uncounting is a store that says that it cannot count.
type uncounting struct{ backend.Backend }

func (uncounting) Count(context.Context, backend.Request) (int, error) {
	return 0, sheaf.ErrUnsupported
}

// Where words cannot be counted the vector of a query is that of its words alike, and
// the answer says so; where they can, rare words weigh more, and nothing is said.
func TestModelWithoutCounts(t *testing.T) {
	e, err := english.New()
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	plainly := searcher(animals())
	const text = "the cat and the dog"
	plain, err := e.Embed(context.Background(), inference.Query, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		store backend.Backend
		alike bool
	}{
		{"a store that counts", counted{plainly.Backend}, false},
		{"one that has no counts", struct{ backend.Backend }{plainly.Backend}, true},
		{"one that says that it cannot", uncounting{plainly.Backend}, true},
	} {
		s := *plainly
		s.Backend = c.store
		s.SetModel(e, a, 100)
		got, err := s.Embed(context.Background(), text)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if got := slices.Equal(got, plain[0]); got != c.alike {
			t.Errorf("%s: the vector is that of words alike: %v, want %v", c.what, got, c.alike)
		}
		embed := s.Embed
		s.Embed = func(ctx context.Context, text string) ([]float32, error) { // of the dimension of the store
			if _, err := embed(ctx, text); err != nil {
				return nil, err
			}
			return vector(text), nil
		}
		notes := strings.Join(mustSearch(t, &s, query(text, 3), load(t, "rrf"), search.Options{}).Notes, "; ")
		if strings.Contains(notes, "cannot count words") != c.alike {
			t.Errorf("%s: notes %q", c.what, notes)
		}
	}
}
