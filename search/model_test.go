package search_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/static/english"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/analysis"
)

// counted is a store that counts "cat" in all chunks, and every other word in one chunk.
type counted struct{ store.Backend }

func (counted) Count(_ context.Context, req store.Request) (int, error) {
	if req.Text.Query == (sheaf.Match{Text: "cat"}) {
		return 100, nil
	}
	return 1, nil
}

// uncounting is a store that returns an error when it should count.
type uncounting struct{ store.Backend }

func (uncounting) Count(context.Context, store.Request) (int, error) {
	return 0, sheaf.ErrUnsupported
}

// TestModelWithoutCounts checks that the vector of a query weighs its words equally when the store
// cannot count words, and that a note says so. Otherwise rare words weigh more, without a note.
func TestModelWithoutCounts(t *testing.T) {
	e := must.Get(english.New())
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	plainly := searcher(animals())
	const text = "the cat and the dog"
	plain := must.Get(e.Embed(context.Background(), model.Query, []string{text}))
	for _, c := range []struct {
		what  string
		store store.Backend
		alike bool
	}{
		{"a store that counts", counted{plainly.Backend}, false},
		{"a store without counts", struct{ store.Backend }{plainly.Backend}, true},
		{"a store that refuses to count", uncounting{plainly.Backend}, true},
	} {
		s := *plainly
		s.Backend = c.store
		s.SetModel(e, a, 100)
		got, err := s.Embed(context.Background(), text)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if got := slices.Equal(got, plain[0]); got != c.alike {
			t.Errorf("%s: the vector weighs all words the same: %v, want %v", c.what, got, c.alike)
		}
		embed := s.Embed
		s.Embed = func(ctx context.Context, text string) ([]float32, error) { // as many dimensions as in the store
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

// TestWrongVectors checks that an invalid vector of a model does not fail a search that has words,
// and that the message does not blame the caller.
func TestWrongVectors(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	for what, c := range map[string]struct {
		vector   []float32
		degraded bool
		say      string
	}{
		"no number":         {[]float32{1, float32(math.NaN())}, true, "numbers that are not finite"},
		"infinite":          {[]float32{1, float32(math.Inf(-1))}, true, "numbers that are not finite"},
		"another dimension": {[]float32{1, 0, 0}, true, "model wrong gave a vector of 3 dimensions, not 2"},
		"zeros":             {[]float32{0, 0}, false, "the model does not know these words"},
	} {
		s := searcher(animals())
		s.SetModel(wrong(c.vector), a, 100)
		r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), search.Options{})
		said := strings.Join(slices.Concat(r.Warnings, r.Notes), "; ")
		if r.Degraded != c.degraded || len(r.Hits) == 0 || !strings.Contains(said, c.say) {
			t.Errorf("%s: degraded %v, %d hits, %q", what, r.Degraded, len(r.Hits), said)
		}
	}
}

// wrong is a model of two dimensions that returns the same vector for every text.
type wrong []float32

func (wrong) Model() string { return "wrong" }
func (wrong) Dims() int     { return 2 }
func (w wrong) Embed(_ context.Context, _ model.Purpose, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = w
	}
	return out, nil
}
