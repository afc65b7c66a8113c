package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// rerankServer answers requests of at most batch texts with handle, which gets number and texts.
func rerankServer(t *testing.T, shape Shape, batch int,
	handle func(n int64, texts []string, w http.ResponseWriter)) (*Reranker, *atomic.Int64) {
	t.Helper()
	type body struct {
		Model, Query     string
		Documents, Texts []string
	}
	h, count := answering(t, "/v1/rerank", func(n int64, b body, w http.ResponseWriter, _ *http.Request) {
		check.That(t, b.Query == "cat" && (shape != ShapeCohere || b.Model == "m"), "request %+v", b)
		handle(n, append(b.Documents, b.Texts...), w)
	})
	r := must.Get(NewReranker(started(t, h), shape))
	r.batch = batch
	return r, count
}

// lengths answers with the length of each text, in reverse order.
func lengths(shape Shape, texts []string, w http.ResponseWriter) {
	var parts []string
	for i := len(texts) - 1; i >= 0; i-- {
		name := "relevance_score"
		if shape == ShapeTEI {
			name = "score"
		}
		parts = append(parts, fmt.Sprintf(`{"index":%d,"%s":%d}`, i, name, len(texts[i])))
	}
	list := "[" + strings.Join(parts, ",") + "]"
	if shape != ShapeTEI {
		list = `{"results":` + list + `}`
	}
	fmt.Fprint(w, list)
}

func TestRerank(t *testing.T) {
	for _, shape := range []Shape{ShapeCohere, ShapeTEI} {
		r, count := rerankServer(t, shape, 2, func(_ int64, texts []string, w http.ResponseWriter) {
			lengths(shape, texts, w)
		})
		scores, err := r.Rerank(context.Background(), "cat", []string{"four", " ", strings.Repeat("x", 9000), "tw", "\xff"})
		check.That(t, err == nil && fmt.Sprint(scores) == "[4 1 8000 2 1]" && count.Load() == 3, "%s: %v, %v, %d requests",
			shape, scores, err, count.Load())
		scores, err = r.Rerank(context.Background(), "cat", nil)
		check.That(t, err == nil && len(scores) == 0, "no texts: %v, %v", scores, err)
	}
}

func TestRerankInvalidAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"results":[{"index":0,"relevance_score":1}]}`:                                  "scored 1 of 2 texts",
		`{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`:  "numbered its scores wrongly",
		`{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}`:  "numbered its scores wrongly",
		`{"results":[{"relevance_score":1},{"index":1,"relevance_score":1}]}`:            "numbered its scores wrongly",
		`{"results":[{"index":0},{"index":1,"relevance_score":1}]}`:                      "gave no score for text 0",
		`{"results":[{"index":0,"relevance_score":NaN},{"index":1,"relevance_score":1}]`: "no JSON",
		`{"results":[{"index":0,"relevance_sc`:                                           "no JSON",
		`<html>`:                                                                         "no JSON",
	} {
		r, count := rerankServer(t, ShapeCohere, 2, func(_ int64, _ []string, w http.ResponseWriter) {
			fmt.Fprint(w, answer)
		})
		_, err := r.Rerank(context.Background(), "cat", []string{"a", "b"})
		check.That(t, errors.Is(err, errRerank) && strings.Contains(err.Error(), want) && count.Load() == 1,
			"%s: %v after %d requests, want %q", answer, err, count.Load(), want)
	}
	r, _ := rerankServer(t, ShapeCohere, 2, func(_ int64, _ []string, w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"results":`)
	})
	check.Fails(t, must.Err(r.Rerank(context.Background(), "cat", []string{"a"})), errRerank,
		"broke off its answer", "half a body")
}
