package openai

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sheaf/internal/check"
	"sheaf/model"
)

// TestRerankServerTakesFewerTexts checks a reranker that accepts fewer texts at once, shorter texts, or none.
func TestRerankServerTakesFewerTexts(t *testing.T) {
	for _, most := range []struct{ texts, chars int }{{3, 1 << 20}, {64, 600}, {0, 0}} {
		r, count := rerankServer(t, ShapeTEI, 64, func(_ int64, texts []string, w http.ResponseWriter) {
			if len(texts) > most.texts || longest(texts) > most.chars {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
			lengths(ShapeTEI, texts, w)
		})
		texts := make([]string, 20)
		for i := range texts {
			texts[i] = strings.Repeat("x", 100*i)
		}
		scores, err := r.Rerank(context.Background(), "cat", texts)
		if most.texts == 0 {
			check.That(t, errors.Is(err, errRerank) && count.Load() <= 20, "%v after %d requests", err, count.Load())
			continue
		}
		check.That(t, err == nil && len(scores) == len(texts) && scores[3] == 300 && scores[19] <= float64(most.chars) &&
			count.Load() <= 24, "%v, %v after %d requests", scores, err, count.Load())
	}
}

func longest(texts []string) (n int) {
	for _, text := range texts {
		n = max(n, len(text))
	}
	return n
}

// TestOtherAddress checks that texts and the key go only to the configured address.
func TestOtherAddress(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another address was asked")
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		o, count := server(t, func(_ int64, _ []string, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/v2/embeddings?key=secret", status)
		})
		for _, client := range []*http.Client{nil, {}} {
			o.Client = client
			e := embedder(t, o)
			before := count.Load()
			_, err := e.Embed(context.Background(), model.Passage, []string{"x"})
			check.That(t, errors.Is(err, ErrUnavailable) && strings.Contains(err.Error(), elsewhere.URL+"/v2/embeddings") &&
				!strings.Contains(err.Error(), "secret") && count.Load() == before+1, "%d: %v", status, err)
		}
	}
}

// TestSlowBody checks that a server that starts an answer and does not end it counts as not
// answering. A canceled caller gets one error.
func TestSlowBody(t *testing.T) {
	release := make(chan struct{})
	o, count := server(t, func(_ int64, _ []string, w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	o.QueryTimeout, o.Rest = 500*time.Millisecond, time.Minute
	e := embedder(t, o)
	for range 2 {
		_, err := e.Embed(context.Background(), model.Query, []string{"x"})
		check.That(t, errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "did not answer in time") &&
			count.Load() <= 1, "%v after %d requests", err, count.Load())
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(30*time.Millisecond, cancel)
	_, err := e.Embed(ctx, model.Passage, []string{"x"})
	check.That(t, errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "in time") &&
		!strings.Contains(err.Error(), "\n"), "given up: %v", err)
	ctx, cancel = context.WithCancel(context.Background())
	o.sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	o.URL = "http://127.0.0.1:1/v1"
	e = embedder(t, o)
	_, err = e.Embed(ctx, model.Passage, []string{"x"})
	check.That(t, errors.Is(err, context.Canceled) && strings.Contains(err.Error(), "is it running") &&
		!strings.Contains(err.Error(), "\n"), "given up between attempts: %v", err)
}
