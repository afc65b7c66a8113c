package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/static/english"
	"sheaf/profile"
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

// TestModelWithoutCounts checks that a query's vector weighs words equally when the store cannot count, with a note.
// Otherwise rare words weigh more, without a note.
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
		got, err := s.Embed(context.Background(), []string{text})
		must.That(t, err == nil, "%s: %v", c.what, err)
		check.Equal(t, slices.Equal(got[0], plain[0]), c.alike, "%s: the vector weighs all words the same", c.what)
		s.SetModel(animalModel{e}, a, 100)
		notes := strings.Join(mustSearch(t, &s, query(text, 3), load(t, "rrf"), search.Options{}).Notes, "; ")
		check.Equal(t, strings.Contains(notes, "cannot count words"), c.alike, "%s: notes %q", c.what, notes)
	}
}

// animalModel weighs words, and has as many dimensions as the vectors of the animals.
type animalModel struct{ model.WeightEmbedder }

func (animalModel) Dims() int { return len(vector("")) }

func (animalModel) Embed(ctx context.Context, _ model.Purpose, texts []string) ([][]float32, error) {
	return animalVectors(ctx, texts)
}

func (animalModel) EmbedWeighted(text string, _ func(word string) float64) []float32 {
	vectors, _ := animalVectors(context.Background(), []string{text})
	return vectors[0]
}

// TestWrongVectors checks that an invalid vector does not fail a search with words; the message blames the model.
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
		"zeros":             {[]float32{0, 0}, false, "the model knows none of them"},
	} {
		s := searcher(animals())
		s.SetModel(wrong(c.vector), a, 100)
		r := mustSearch(t, s, query("cat", 3), load(t, "sheaf"), search.Options{})
		said := strings.Join(slices.Concat(r.Warnings, r.Notes), "; ")
		check.That(t, r.Degraded == c.degraded && len(r.Hits) != 0 && strings.Contains(said, c.say),
			"%s: degraded %v, %d hits, %q", what, r.Degraded, len(r.Hits), said)
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

// reranked returns the profile rrf with a reranking model.
func reranked(t *testing.T, settings string) *profile.Profile {
	t.Helper()
	return parse(t, "name: reranked\nextends: rrf\nthen: [{rerank: {"+settings+"}}, top]\n")
}

// preferStones is a reranking model that counts stones.
func preferStones(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i, text := range texts {
		out[i] = float64(strings.Count(strings.ToLower(text), "stone"))
	}
	return out, nil
}

func textOf(s *shelf) func(sheaf.ID) (string, error) {
	return func(id sheaf.ID) (string, error) {
		for i := range s.stored {
			if s.stored[i].ID == id {
				return s.stored[i].Fields[1].Text, nil
			}
		}
		return "", fmt.Errorf("%s: %w", id, sheaf.ErrNotFound)
	}
}

func TestRerank(t *testing.T) {
	shelf := animals()
	s := searcher(shelf)
	s.Rerank, s.Text = preferStones, textOf(shelf)
	plain := mustSearch(t, s, query("cat", 9), load(t, "rrf"), search.Options{})
	r := mustSearch(t, s, query("cat", 9), reranked(t, "n: 20"), search.Options{Explain: true})
	check.That(t, len(r.Hits) == len(plain.Hits) && r.Hits[0].ID == "t:garden.md#Stones" &&
		r.Hits[1].ID == "t:cats.md#Sleep", "reranked: %v", found(r))
	for _, h := range r.Hits {
		checkReason(t, "reranked", h.Score, h.Explanation)
		check.That(t, len(h.Legs) == 2 && strings.Contains(labelsOf(h.Explanation), "what the model says"),
			"%s lost its legs or its reasons", h.ID)
	}
	r = mustSearch(t, s, query("cat", 9), reranked(t, "n: 20, weight: 0"), search.Options{})
	check.That(t, fmt.Sprint(found(r)) == fmt.Sprint(found(plain)), "weight 0 changes the order: %v, not %v", found(r),
		found(plain))
	r = mustSearch(t, s, query("cat", 9), reranked(t, "n: 2"), search.Options{})
	check.That(t, len(r.Hits) == 2, "n 2 leaves %v", found(r))
}

// TestRerankFailsSoftly checks that the ranking stays after a fault of the model, with a warning.
func TestRerankFailsSoftly(t *testing.T) {
	shelf := animals()
	s := searcher(shelf)
	plain := found(mustSearch(t, s, query("cat", 4), load(t, "rrf"), search.Options{}))
	p := reranked(t, "timeout: 0.05")
	r := mustSearch(t, s, query("cat", 4), p, search.Options{})
	check.That(t, !r.Degraded && len(r.Notes) == 1 && fmt.Sprint(found(r)) == fmt.Sprint(plain),
		"no model: %v %v %v", r.Degraded, r.Notes, found(r))
	s.Text = textOf(shelf)
	for what, model := range map[string]func(ctx context.Context, q string, texts []string) ([]float64, error){
		"down":  func(context.Context, string, []string) ([]float64, error) { return nil, errDown },
		"short": func(context.Context, string, []string) ([]float64, error) { return []float64{1}, nil },
		"NaN": func(_ context.Context, _ string, texts []string) ([]float64, error) {
			out := make([]float64, len(texts))
			out[0] = math.NaN()
			return out, nil
		},
		"slow": func(ctx context.Context, _ string, _ []string) ([]float64, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return nil, errors.New("the model was not stopped")
			}
		},
	} {
		s.Rerank = model
		r := mustSearch(t, s, query("cat", 4), p, search.Options{})
		check.That(t, r.Degraded && strings.HasPrefix(r.Warnings[0], "rerank: ") &&
			fmt.Sprint(found(r)) == fmt.Sprint(plain) && !strings.Contains(r.Warnings[0], "not stopped"),
			"%s: degraded %v, %v, %v", what, r.Degraded, r.Warnings, found(r))
	}
	s.Rerank, s.Text = preferStones, func(sheaf.ID) (string, error) { return "", sheaf.ErrNotFound }
	r = mustSearch(t, s, query("cat", 4), p, search.Options{})
	check.That(t, len(r.Hits) == 4 && len(r.Notes) != 0, "no texts: %v, %v", found(r), r.Notes)
}
