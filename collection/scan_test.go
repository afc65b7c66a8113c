package collection_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/search/scan"
)

// scanning opens a collection with files and a scanner, for profiles without an index.
func scanning(t *testing.T, files map[string]string) *collectiontest.Fixture {
	t.Helper()
	return collectiontest.Open(t, files, func(o *collection.Options) {
		s, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer,
			Embedder: o.Ingest.Embedder})
		if err != nil {
			t.Fatal(err)
		}
		o.Scanner = s
	})
}

// TestHiddenFilesAreNotScanned checks that hidden files are not scanned: neither results nor reasons
// reveal them, even if a file was public when it was indexed.
func TestHiddenFilesAreNotScanned(t *testing.T) {
	const public = "---\naccess: public\n---\n"
	f := scanning(t, map[string]string{"open.md": public + "A harbor.\n", "closed.md": "A harbor.\n",
		"was-open.md": public + "A harbor.\n"})
	for name, text := range map[string]string{"was-open.md": "A harbor, closed.\n", "new.md": public +
		"A harbor that nobody has indexed.\n"} {
		writeFile(t, filepath.Join(f.Root, name), text)
	}
	r := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	answer := find(t, r, collection.SearchRequest{Text: "harbor", Profile: "tiered"})
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
