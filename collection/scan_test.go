package collection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/model/hashed"
	"sheaf/search"
	"sheaf/search/scan"
)

// scanning opens a collection with files and a scanner, for profiles without an index.
func scanning(t *testing.T, files map[string]string) *collectiontest.Fixture {
	t.Helper()
	return collectiontest.Open(t, files, func(o *collection.Options) {
		s, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer,
			Embedder: hashed.New(64)})
		if err != nil {
			t.Fatal(err)
		}
		o.Scanner = s
	})
}

// TestScanHasSnippetsAndPages checks that a profile without an index answers with snippets and pages,
// from the current files.
func TestScanHasSnippetsAndPages(t *testing.T) {
	f := scanning(t, map[string]string{"a.md": "---\naccess: public\n---\n# Alpha\n\nAbout the harbor and its cranes.\n",
		"b.md": "# Beta\n\nAnother harbor.\n", "c.md": "# Gamma\n\nNothing of that.\n"})
	f.Write(t, "new.md", "# New\n\nA harbor that was not indexed yet.\n")
	r, err := f.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// tiered ranks at most 100 results, so a larger window acts like 100.
	answer, err := r.Search(context.Background(),
		collection.SearchRequest{Text: "harbor", Profile: "tiered", Limit: 2, Window: 882})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Total.Value != 3 || len(answer.Results) != 2 || answer.Next == "" {
		t.Fatalf("%d of %d results, next %q", len(answer.Results), answer.Total.Value, answer.Next)
	}
	more, err := r.Page(context.Background(), answer.Next, collection.SearchRequest{Text: "harbor"})
	if err != nil || len(more.Results) != 1 {
		t.Fatalf("%v, %v", more, err)
	}
	for _, result := range append(answer.Results, more.Results...) {
		if result.Stale || !strings.Contains(result.Snippet, "harbor") || len(result.Matches) == 0 ||
			!strings.HasSuffix(string(result.ID), ".md#0") {
			t.Errorf("%+v", result)
		}
	}
	explained, err := r.Explain(context.Background(), collection.SearchRequest{Text: "harbor", Profile: "tiered"})
	if err != nil || len(explained.Results) != 3 || explained.Results[0].Explanation == nil {
		t.Errorf("%v, %v", explained, err)
	}
	absence, err := r.WhyNot(context.Background(), collection.SearchRequest{Text: "harbor", Profile: "tiered"},
		collectiontest.Tree+":c.md")
	if err != nil || !strings.Contains(strings.Join(absence.Reasons, "\n"),
		"neither the path nor the text of c.md holds") {
		t.Errorf("%v, %v", absence, err)
	}
}

// countingScans counts the scans of files.
type countingScans struct {
	search.Scanner
	scans atomic.Int64
}

func (c *countingScans) Scan(ctx context.Context, req search.ScanRequest) (*search.Scanned, error) {
	c.scans.Add(1)
	return c.Scanner.Scan(ctx, req)
}

// TestExplanationScansCurrentFiles checks that each explanation scans the current files.
func TestExplanationScansCurrentFiles(t *testing.T) {
	counted := &countingScans{}
	f := collectiontest.Open(t, map[string]string{"a.md": "---\naccess: public\n---\n# Alpha\n\nThe harbor.\n",
		"b.md": "# Beta\n\nAnother harbor.\n"}, func(o *collection.Options) {
		s, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer,
			Embedder: hashed.New(64)})
		if err != nil {
			t.Fatal(err)
		}
		counted.Scanner = s
		o.Scanner = counted
	})
	public := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	explain := func(grant access.Grant, text, k string) (*collection.Explanation, int64) {
		t.Helper()
		before := counted.scans.Load()
		e, err := reader(t, f, grant).Explain(context.Background(),
			collection.SearchRequest{Text: text, Profile: "tiered", Parameters: map[string]string{"rrf_k": k}})
		if err != nil {
			t.Fatal(err)
		}
		return e, counted.scans.Load() - before
	}
	for i, c := range []struct {
		what    string
		grant   access.Grant
		text, k string
		change  bool
		scans   int64
		results int
	}{
		{"the first", access.Unrestricted(), "harbor", "60", false, 1, 2},
		{"another number", access.Unrestricted(), "harbor", "10", false, 1, 2},
		{"another query", access.Unrestricted(), "another", "10", false, 1, 1},
		{"a part", public, "harbor", "60", false, 1, 1},
		{"a part again", public, "harbor", "60", false, 1, 1},
		{"after a change", access.Unrestricted(), "harbor", "60", true, 1, 3},
	} {
		if c.change {
			f.Write(t, "new.md", "# New\n\nA harbor.\n")
			f.Index(t)
		}
		e, n := explain(c.grant, c.text, c.k)
		if n != c.scans || len(e.Results) != c.results || e.Parameters["rrf_k"] != c.k || e.Results[0].Snippet == "" {
			t.Errorf("%d, %s: scanned %d times, want %d; %+v", i, c.what, n, c.scans, e.Answer)
		}
	}
	for range 2 {
		before := counted.scans.Load()
		if _, err := reader(t, f, access.Unrestricted()).Search(context.Background(),
			collection.SearchRequest{Text: "harbor", Profile: "tiered"}); err != nil || counted.scans.Load() == before {
			t.Errorf("%v: a search did not look at the files", err)
		}
	}
}

// TestHiddenFilesAreNotScanned checks that hidden files are not scanned: neither results nor reasons
// reveal them, even if a file was public when it was indexed.
func TestHiddenFilesAreNotScanned(t *testing.T) {
	const public = "---\naccess: public\n---\n"
	f := scanning(t, map[string]string{"open.md": public + "A harbor.\n", "closed.md": "A harbor.\n",
		"was-open.md": public + "A harbor.\n"})
	for name, text := range map[string]string{"was-open.md": "A harbor, closed.\n", "new.md": public +
		"A harbor that nobody has indexed.\n"} {
		if err := os.WriteFile(filepath.Join(f.Root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := f.For(access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	answer, err := r.Search(context.Background(), collection.SearchRequest{Text: "harbor", Profile: "tiered"})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Results) != 1 || answer.Results[0].Path != "open.md" {
		t.Errorf("%+v", answer.Results)
	}
	for _, name := range []string{"closed.md", "was-open.md", "new.md", "missing.md", "open.md#0#0", "missing.md#0"} {
		id := sheaf.ID(collectiontest.Tree + ":" + name)
		for _, text := range []string{"harbor", "nothing of that"} {
			absence, err := r.WhyNot(context.Background(), collection.SearchRequest{Text: text, Profile: "tiered"}, id)
			_, other := r.WhyNot(context.Background(), collection.SearchRequest{Text: text, Profile: "rrf"}, id)
			if !errors.Is(err, sheaf.ErrNotFound) || name != "was-open.md" && fmt.Sprint(err) != fmt.Sprint(other) {
				t.Errorf("why not %s, %q: %+v, %v; another profile says %v", id, text, absence, err, other)
			}
		}
	}
	if _, err := r.WhyNot(context.Background(), collection.SearchRequest{Text: "cranes", Profile: "tiered"},
		collectiontest.Tree+":open.md"); err != nil {
		t.Errorf("why not what may be seen: %v", err)
	}
}

// TestScanProfileWithoutFolder checks that loading the profile without a folder fails, and that a
// collection with this profile does not open.
func TestScanProfileWithoutFolder(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "word\n"}, nil)
	if _, err := f.Load("tiered"); !errors.Is(err, sheaf.ErrUnsupported) ||
		!strings.Contains(err.Error(), "candidates: scan") {
		t.Errorf("loaded: %v", err)
	}
	o := f.Options
	o.Profile = "tiered"
	if _, err := collection.New(o); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("opened: %v", err)
	}
}
