package collection_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/rank"
)

// TestHiddenDocumentIsNotRead checks that a request for a large hidden document costs as little as for a
// missing one, even the first time. Reading the document would take long and so reveal that it
// exists.
func TestHiddenDocumentIsNotRead(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\naccess: [group:board]\n---\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "# Heading %d\n\nText %d.\n\n", i, i)
	}
	f := collectiontest.Open(t, map[string]string{"large.md": b.String(), "small.md": "---\naccess: [public]\n---\n# " +
		"Small\n\nSee [[large]].\n"}, nil)
	all := reader(t, f, access.Unrestricted())
	if doc, err := all.Document(t.Context(), "notes:large.md"); err != nil || len(doc.Outline) < 30_000 {
		t.Fatalf("%v", err)
	}
	grant := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	for name, ask := range map[string]func(r *collection.Reader){
		"get": func(r *collection.Reader) { _, _ = r.Get(t.Context(), "notes:large.md", collection.GetOptions{}) },
		"get part": func(r *collection.Reader) {
			_, _ = r.Get(t.Context(), "notes:large.md#heading-7", collection.GetOptions{})
		},
		"document": func(r *collection.Reader) { _, _ = r.Document(t.Context(), "notes:large.md") },
		"find":     func(r *collection.Reader) { _, _ = r.Find("large.md#heading-7") },
		"similar": func(r *collection.Reader) {
			_, _ = r.Similar(t.Context(), "notes:large.md#heading-7", collection.SearchRequest{})
		},
		"link":  func(r *collection.Reader) { _, _ = r.Get(t.Context(), "notes:small.md", collection.GetOptions{}) },
		"count": func(r *collection.Reader) { _, _ = r.Summary(t.Context()) },
		"list":  func(r *collection.Reader) { _, _ = r.Documents(t.Context(), "", "", collection.MaxWindow) },
		"stage": func(r *collection.Reader) {
			for _, stage := range []string{"tree", "graph_boost", "folder_boost", "recency", "neighbours", "names"} {
				_, _ = r.Stage(collection.StageRun{Name: stage,
					Rankings: [][]collection.Scored{{{ID: "notes:large.md#heading-7", Score: 2}, {ID: "notes:large.md", Score: 1}}},
					Limit:    10})
			}
		},
		"facts": func(r *collection.Reader) {
			facts := collection.FactsOf(r)
			outliner := facts.(rank.Outliner)
			for _, id := range []sheaf.ID{"notes:large.md", "notes:large.md#heading-7"} {
				_, _ = facts.Chunk(id)
				_, _ = facts.Document(id)
				_ = outliner.Node(id)
				_ = outliner.Outline(id)
			}
		},
	} {
		beside := f.Beside(t) // a new process has read no document
		r := reader(t, beside, grant)
		_, _ = r.Get(t.Context(), "notes:none.md", collection.GetOptions{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask(r)
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 10; n > 1500 { // includes building the server's description
			t.Errorf("%s: %d kB were taken", name, n)
		}
	}
}
