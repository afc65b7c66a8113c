package collection_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// late is a reranking model that answers when the request's time ends.
type late struct {
	end func() // ends the time of the request
}

func (*late) Model() string { return "late" }

func (l *late) Rerank(ctx context.Context, _ string, _ []string) ([]float64, error) {
	l.end()
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLateRerankKeepsRanking checks that a late model leaves the previous ranking, with a warning.
func TestLateRerankKeepsRanking(t *testing.T) {
	open := func(change func(*collection.Options)) *collection.Reader {
		return reader(t, collectiontest.Open(t, map[string]string{
			"port.md": "# Port\n\nShips come and go in the harbor.\n", "dock.md": "# Dock\n\nNine cranes, near the harbor.\n",
		}, change), access.Unrestricted())
	}
	write := func(o *collection.Options, profile string) {
		writeFile(t, filepath.Join(o.ProfileDirs[0], "rrf.yaml"), profile)
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
	got, err := r.Search(ctx, collection.SearchRequest{Text: "harbor", Profile: "rrf"})
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
