package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
)

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
	if len(r.Hits) != len(plain.Hits) || r.Hits[0].ID != "t:garden.md#Stones" || r.Hits[1].ID != "t:cats.md#Sleep" {
		t.Errorf("reranked: %v", found(r))
	}
	for _, h := range r.Hits {
		checkReason(t, "reranked", h.Score, h.Explanation)
		if len(h.Legs) != 2 || !strings.Contains(labelsOf(h.Explanation), "what the model says") {
			t.Errorf("%s lost its legs or its reasons", h.ID)
		}
	}
	if r := mustSearch(t, s, query("cat", 9), reranked(t, "n: 20, weight: 0"),
		search.Options{}); fmt.Sprint(found(r)) != fmt.Sprint(found(plain)) {
		t.Errorf("weight 0 changes the order: %v, not %v", found(r), found(plain))
	}
	if r := mustSearch(t, s, query("cat", 9), reranked(t, "n: 2"), search.Options{}); len(r.Hits) != 2 {
		t.Errorf("n 2 leaves %v", found(r))
	}
}

// TestRerankFailsSoftly checks that the ranking stays after a fault of the model, with a warning.
func TestRerankFailsSoftly(t *testing.T) {
	shelf := animals()
	s := searcher(shelf)
	plain := found(mustSearch(t, s, query("cat", 4), load(t, "rrf"), search.Options{}))
	p := reranked(t, "timeout: 0.05")
	r := mustSearch(t, s, query("cat", 4), p, search.Options{})
	if r.Degraded || len(r.Notes) != 1 || fmt.Sprint(found(r)) != fmt.Sprint(plain) {
		t.Errorf("no model: %v %v %v", r.Degraded, r.Notes, found(r))
	}
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
		if !r.Degraded || !strings.HasPrefix(r.Warnings[0], "rerank: ") || fmt.Sprint(found(r)) != fmt.Sprint(plain) ||
			strings.Contains(r.Warnings[0], "not stopped") {
			t.Errorf("%s: degraded %v, %v, %v", what, r.Degraded, r.Warnings, found(r))
		}
	}
	s.Rerank, s.Text = preferStones, func(sheaf.ID) (string, error) { return "", sheaf.ErrNotFound }
	if r := mustSearch(t, s, query("cat", 4), p, search.Options{}); len(r.Hits) != 4 || len(r.Notes) == 0 {
		t.Errorf("no texts: %v, %v", found(r), r.Notes)
	}
}
