package serve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/inference/hashed"
	"sheaf/scan"
	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// scanning opens a collection of files that offers profiles without an index.
func scanning(t *testing.T, files map[string]string) *servetest.Fixture {
	t.Helper()
	return servetest.Open(t, files, func(o *serve.Options) {
		s, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: servetest.Tree, Analyzer: o.Analyzer, Embedder: hashed.New(64)})
		if err != nil {
			t.Fatal(err)
		}
		o.Scanner = s
	})
}

// A profile that needs no index answers through the doors too, with snippets and
// pages, from files as they are now.
func TestTieredThroughADoor(t *testing.T) {
	f := scanning(t, map[string]string{"a.md": "---\naccess: public\n---\n# Alpha\n\nAbout the harbor and its cranes.\n", "b.md": "# Beta\n\nAnother harbor.\n", "c.md": "# Gamma\n\nNothing of that.\n"})
	f.Write(t, "new.md", "# New\n\nA harbor that was not indexed yet.\n")
	r, err := f.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// tiered ranks 100 results at most, so that a larger window is one of 100
	answer, err := r.Search(context.Background(), serve.SearchRequest{Text: "harbor", Profile: "tiered", Limit: 2, Window: 882})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Total.Value != 3 || len(answer.Results) != 2 || answer.Next == "" {
		t.Fatalf("%d of %d results, next %q", len(answer.Results), answer.Total.Value, answer.Next)
	}
	more, err := r.Page(context.Background(), answer.Next, serve.SearchRequest{Text: "harbor"})
	if err != nil || len(more.Results) != 1 {
		t.Fatalf("%v, %v", more, err)
	}
	for _, result := range append(answer.Results, more.Results...) {
		if result.Stale || !strings.Contains(result.Snippet, "harbor") || len(result.Matches) == 0 || !strings.HasSuffix(string(result.ID), ".md#0") {
			t.Errorf("%+v", result)
		}
	}
	explained, err := r.Explain(context.Background(), serve.SearchRequest{Text: "harbor", Profile: "tiered"})
	if err != nil || len(explained.Results) != 3 || explained.Results[0].Explanation == nil {
		t.Errorf("%v, %v", explained, err)
	}
	absence, err := r.WhyNot(context.Background(), serve.SearchRequest{Text: "harbor", Profile: "tiered"}, servetest.Tree+":c.md")
	if err != nil || !strings.Contains(strings.Join(absence.Reasons, "\n"), "neither the path nor the text of c.md holds") {
		t.Errorf("%v, %v", absence, err)
	}
}

// What a caller may not see is not scanned: neither results nor reasons tell of it,
// not even of what was public when it was indexed and is not any more.
func TestTieredKeepsWhatIsKept(t *testing.T) {
	const public = "---\naccess: public\n---\n"
	f := scanning(t, map[string]string{"open.md": public + "A harbor.\n", "closed.md": "A harbor.\n", "was-open.md": public + "A harbor.\n"})
	for name, text := range map[string]string{"was-open.md": "A harbor, closed.\n", "new.md": public + "A harbor that nobody has indexed.\n"} {
		if err := os.WriteFile(filepath.Join(f.Root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := f.For(access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	answer, err := r.Search(context.Background(), serve.SearchRequest{Text: "harbor", Profile: "tiered"})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Results) != 1 || answer.Results[0].Path != "open.md" {
		t.Errorf("%+v", answer.Results)
	}
	for _, name := range []string{"closed.md", "was-open.md", "new.md", "missing.md", "open.md#0#0", "missing.md#0"} {
		id := sheaf.ID(servetest.Tree + ":" + name)
		for _, text := range []string{"harbor", "nothing of that"} {
			absence, err := r.WhyNot(context.Background(), serve.SearchRequest{Text: text, Profile: "tiered"}, id)
			_, other := r.WhyNot(context.Background(), serve.SearchRequest{Text: text, Profile: "rrf"}, id)
			if !errors.Is(err, sheaf.ErrNotFound) || name != "was-open.md" && fmt.Sprint(err) != fmt.Sprint(other) {
				t.Errorf("why not %s, %q: %+v, %v; another profile says %v", id, text, absence, err, other)
			}
		}
	}
	if _, err := r.WhyNot(context.Background(), serve.SearchRequest{Text: "cranes", Profile: "tiered"}, servetest.Tree+":open.md"); err != nil {
		t.Errorf("why not what may be seen: %v", err)
	}
}

// Without a folder the profile is refused when it is loaded, and a collection
// whose own profile it is does not open.
func TestTieredWithoutAFolder(t *testing.T) {
	f := servetest.Open(t, map[string]string{"a.md": "word\n"}, nil)
	if _, err := f.Load("tiered"); !errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(err.Error(), "candidates: scan") {
		t.Errorf("loaded: %v", err)
	}
	o := f.Options
	o.Profile = "tiered"
	if _, err := serve.New(o); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("opened: %v", err)
	}
}
