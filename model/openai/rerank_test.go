package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// rerankServer answers requests of at most batch texts with handle, which gets number and texts.
func rerankServer(t *testing.T, shape Shape, batch int,
	handle func(n int64, texts []string, w http.ResponseWriter)) (*Reranker, *atomic.Int64) {
	t.Helper()
	var count atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model, Query     string
			Documents, Texts []string
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Query != "cat" || r.URL.Path != "/v1/rerank" ||
			r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("request %s %+v, %v", r.URL.Path, body, err)
		}
		texts := body.Documents
		if shape == ShapeTEI {
			texts = body.Texts
		} else if body.Model != "m" {
			t.Errorf("model %q", body.Model)
		}
		handle(count.Add(1), texts, w)
	}))
	t.Cleanup(s.Close)
	r, err := NewReranker(RerankOptions{Shape: shape, Batch: batch, Server: Server{URL: s.URL + "/v1/", Model: "m",
		Key: "secret", sleep: func(context.Context, time.Duration) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	return r, &count
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
		if err != nil || fmt.Sprint(scores) != "[4 1 8000 2 1]" || count.Load() != 3 {
			t.Errorf("%s: %v, %v, %d requests", shape, scores, err, count.Load())
		}
		if scores, err := r.Rerank(context.Background(), "cat", nil); err != nil || len(scores) != 0 {
			t.Errorf("no texts: %v, %v", scores, err)
		}
	}
}

func TestRerankWaitsWhenBusy(t *testing.T) {
	r, count := rerankServer(t, ShapeCohere, 2, func(n int64, texts []string, w http.ResponseWriter) {
		if n < 3 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		lengths(ShapeCohere, texts, w)
	})
	if _, err := r.Rerank(context.Background(), "cat", []string{"a"}); err != nil || count.Load() != 3 {
		t.Errorf("%v after %d requests", err, count.Load())
	}
	r, _ = rerankServer(t, ShapeCohere, 2, func(_ int64, _ []string, w http.ResponseWriter) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	if _, err := r.Rerank(context.Background(), "cat", []string{"a"}); !errors.Is(err, errRerank) ||
		!strings.Contains(err.Error(), "asks to wait 1h") {
		t.Errorf("busy for an hour: %v", err)
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
		if !errors.Is(err, errRerank) || !strings.Contains(err.Error(), want) || count.Load() != 1 {
			t.Errorf("%s: %v after %d requests, want %q", answer, err, count.Load(), want)
		}
	}
	r, _ := rerankServer(t, ShapeCohere, 2, func(_ int64, _ []string, w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"results":`)
	})
	if _, err := r.Rerank(context.Background(), "cat", []string{"a"}); !errors.Is(err, errRerank) ||
		!strings.Contains(err.Error(), "broke off its answer") {
		t.Errorf("half a body: %v", err)
	}
	r, _ = rerankServer(t, ShapeCohere, 2, func(_ int64, _ []string, w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<html>secret")
	})
	if _, err := r.Rerank(context.Background(), "cat", []string{"a"}); err == nil ||
		!strings.Contains(err.Error(), "an HTML page") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a page: %v", err)
	}
}
