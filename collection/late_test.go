package collection_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// late is a reranking model that answers as the time of the request ends, and the turn
// of that request, which comes back to it until the model was asked.
type late struct {
	asked atomic.Bool
	end   func() // ends the time of the request
}

func (*late) Model() string { return "late" }

func (l *late) Rerank(ctx context.Context, _ string, texts []string) ([]float64, error) {
	l.asked.Store(true)
	l.end()
	<-ctx.Done()
	return make([]float64, len(texts)), nil
}

func (l *late) Take(ctx context.Context, _ time.Duration) error {
	if l.asked.Load() {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (*late) Rest() {}
func (*late) End()  {}

func (*late) Full() bool { return false }

// TestRerankedAsTimeEnds: the opinion of a model that comes when no time is left takes
// nothing away: the ranking before it is the answer, with a warning.
func TestRerankedAsTimeEnds(t *testing.T) {
	open := func(change func(*collection.Options)) *collection.Reader {
		return reader(t, collectiontest.Open(t, map[string]string{
			"port.md": "# Port\n\nShips come and go in the harbor.\n", "dock.md": "# Dock\n\nNine cranes, near the harbor.\n",
		}, change), access.Unrestricted())
	}
	write := func(o *collection.Options, profile string) {
		if err := os.MkdirAll(o.ProfileDirs[0], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(o.ProfileDirs[0], "rrf.yaml"), []byte(profile), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := find(t, open(func(o *collection.Options) {
		write(o, strings.Replace(gathers, "  - rerank: {n: 10}\n", "", 1))
	}), collection.SearchRequest{Text: "harbor", Profile: "rrf"})
	model := &late{}
	r := open(func(o *collection.Options) {
		write(o, strings.Replace(gathers, "{n: 10}", "{n: 10, timeout: 60}", 1))
		o.Rerank = model
	})
	ctx := newEnding(t.Context())
	model.end = ctx.end
	got, err := r.Search(collection.WithTurn(ctx, model), collection.SearchRequest{Text: "harbor", Profile: "rrf"})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Degraded || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "rerank: ") ||
		len(got.Results) != len(want.Results) {
		t.Fatalf("degraded %v, warnings %q, %d results of %d", got.Degraded, got.Warnings, len(got.Results),
			len(want.Results))
	}
	for i := range want.Results {
		if a, b := got.Results[i], want.Results[i]; a.ID != b.ID || a.Snippet != b.Snippet || a.Snippet == "" {
			t.Errorf("result %d is %s %q, want %s %q", i+1, a.ID, a.Snippet, b.ID, b.Snippet)
		}
	}
}
