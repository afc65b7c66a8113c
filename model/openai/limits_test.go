package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sheaf/model"
)

// TestServerTakesFewerTexts checks a server that accepts fewer texts at once, or shorter texts: all vectors
// arrive. A server that accepts no text gets only a few requests.
func TestServerTakesFewerTexts(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	for name, c := range map[string]struct {
		texts, chars, status int
		say                  string
		most                 int64
	}{
		"few texts":       {2, 1 << 20, 422, "batch size 4 > maximum allowed batch size 2", 16},
		"a body":          {1, 1 << 20, 413, "Payload Too Large", 16},
		"short texts":     {64, 1300, 400, "maximum context length", 24},
		"as llama.cpp":    {64, 1300, 500, "input is too large to process", 24},
		"nothing":         {0, 0, 400, "no", 24},
		"nothing, a word": {0, 0, 422, "no", 8},
	} {
		t.Run(name, func(t *testing.T) {
			o, count := server(t, func(_ int64, texts []string, w http.ResponseWriter, _ *http.Request) {
				longest := 0
				for _, text := range texts {
					longest = max(longest, utf8.RuneCountInString(text))
				}
				if len(texts) > c.texts || longest > c.chars {
					w.WriteHeader(c.status)
					fmt.Fprint(w, c.say)
					return
				}
				vectors(texts, w)
			})
			o.Batch = 8
			e := embedder(t, o)
			texts := []string{"a", "bb", long, "ccc", "dddd"}
			if name == "nothing, a word" {
				texts = texts[:2]
			}
			out, err := e.Embed(context.Background(), model.Passage, texts)
			if count.Load() > c.most {
				t.Errorf("%d requests", count.Load())
			}
			if c.texts == 0 {
				if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.say) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || len(out) != len(texts) {
				t.Fatalf("%d vectors, %v", len(out), err)
			}
			for i, n := range []float64{1, 2, 0, 3, 4} {
				if n > 0 && float64(out[i][0]/out[i][1])-n > 1e-5 {
					t.Errorf("text %d has another's vector: %v", i, out[i])
				}
			}
		})
	}
}

// TestRerankServerTakesFewerTexts is TestServerTakesFewerTexts for a reranker.
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
			if !errors.Is(err, errRerank) || count.Load() > 20 {
				t.Errorf("%v after %d requests", err, count.Load())
			}
			continue
		}
		if err != nil || len(scores) != len(texts) || scores[3] != 300 || scores[19] > float64(most.chars) ||
			count.Load() > 24 {
			t.Errorf("%v, %v after %d requests", scores, err, count.Load())
		}
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
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), elsewhere.URL+"/v2/embeddings") ||
				strings.Contains(err.Error(), "secret") || count.Load() != before+1 {
				t.Errorf("%d: %v", status, err)
			}
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
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not answer in time") ||
			count.Load() > 1 {
			t.Errorf("%v after %d requests", err, count.Load())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(30*time.Millisecond, cancel)
	_, err := e.Embed(ctx, model.Passage, []string{"x"})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "in time") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("given up: %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	o.sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	o.URL = "http://127.0.0.1:1/v1"
	e = embedder(t, o)
	_, err = e.Embed(ctx, model.Passage, []string{"x"})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is it running") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("given up between attempts: %v", err)
	}
}
