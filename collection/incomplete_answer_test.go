package collection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/search"
	"sheaf/store"
)

// failing is a store that fails at requests other than retrieving while err is not nil.
type failing struct {
	whole
	err *error
}

// whole is the part of a store that these tests need.
type whole interface {
	countable
	store.Faceter
	store.Versioned
}

func (f failing) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if *f.err != nil {
		return nil, *f.err
	}
	return f.whole.Explain(ctx, req, ids)
}

func (f failing) Facets(ctx context.Context, req store.Request, columns []string, limit int) ([]store.Facet, error) {
	if *f.err != nil {
		return nil, *f.err
	}
	return f.whole.Facets(ctx, req, columns, limit)
}

// uncounting is a store whose Count fails while err is not nil.
type uncounting failing

func (f uncounting) Count(ctx context.Context, req store.Request) (int, error) {
	if *f.err != nil {
		return 0, *f.err
	}
	return f.whole.Count(ctx, req)
}

// TestAnswerWithMissingDataIsNotCached checks that an answer without data that the store failed to return is not
// cached. An answer without data that the store never supports is cached.
func TestAnswerWithMissingDataIsNotCached(t *testing.T) {
	for what, q := range map[string]collection.SearchRequest{
		"an explanation":   {Text: "undo a commit", Explain: true},
		"values there are": {Text: "undo tag:nothing-has-it"},
	} {
		var fault error
		f := collectiontest.Open(t, notes, func(o *collection.Options) { o.Backend = failing{o.Backend.(whole), &fault} })
		r := reader(t, f, access.Unrestricted())
		said := func(a *collection.Answer) (string, bool) {
			text, err := json.Marshal([]any{a.Notes, a.Results})
			if err != nil {
				t.Fatal(err)
			}
			return string(text), slices.ContainsFunc(a.Timings, func(s search.Timing) bool { return s.Step == "cache" })
		}
		fault = errors.New("connection refused")
		short, _ := said(find(t, r, q))
		fault = nil
		if got, remembered := said(find(t, r, q)); got == short || strings.Contains(got, "refused") || remembered {
			t.Errorf("%s, asked again: %s, remembered %v", what, got, remembered)
		}
		if _, remembered := said(find(t, r, q)); !remembered {
			t.Errorf("%s: a whole answer is not remembered", what)
		}
		fault, q.Limit = sheaf.ErrUnsupported, 3
		find(t, r, q)
		if got, remembered := said(find(t, r, q)); !remembered {
			t.Errorf("%s: what the store never tells is asked for again: %s", what, got)
		}
	}
}

// TestSnippetWithoutCountsIsNotCached checks that a snippet is not cached if the store failed to count its words.
// This holds for callers that see all or a part.
func TestSnippetWithoutCountsIsNotCached(t *testing.T) {
	files := map[string]string{"a.md": "---\naccess: public\n---\n# A\n\nApples and bread.\n\n" +
		strings.Repeat("Filler of it all. ", 60) + "\n\nOne cheese.\n"}
	for i := range 30 {
		files[fmt.Sprintf("other%d.md", i)] = "---\naccess: public\n---\n# B\n\nApples and bread, apart.\n"
	}
	var fault error
	f := openOld(t, files, func(o *collection.Options) { o.Backend = uncounting{o.Backend.(whole), &fault} })
	for who, grant := range map[string]access.Grant{"all": access.Unrestricted(),
		"a part": {Scopes: []access.Scope{access.ScopeSearch}}} {
		q := collection.SearchRequest{Text: "apples bread cheese path:a.md", Profile: "rrf", Limit: 1}
		fault = errors.New("connection refused")
		guessed := find(t, reader(t, f, grant), q).Results[0].Snippet
		fault = nil
		if got := find(t, reader(t, f, grant), q).Results[0].Snippet; !strings.Contains(got, "cheese") ||
			strings.Contains(guessed, "cheese") {
			t.Errorf("who sees %s is shown %q, before that %q", who, got, guessed)
		}
	}
}

// openOld is like collectiontest.Open, but with files written an hour ago. For fresh files, cached
// results are not reused, because a later change could have the same time.
func openOld(t *testing.T, files map[string]string, change func(*collection.Options)) *collectiontest.Fixture {
	t.Helper()
	f := collectiontest.Unindexed(t, files, change)
	at := time.Now().Add(-time.Hour)
	for path := range files {
		if err := os.Chtimes(filepath.Join(f.Root, path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	f.Index(t)
	return f
}
