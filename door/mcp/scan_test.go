package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/model/hashed"
	"sheaf/search/scan"
)

// TestResultsOfAScanAreRead: a profile without an index numbers the sections that it cuts, and
// no tool takes these numbers, or takes them for headings. Its results are called by a place.
func TestResultsOfAScanAreRead(t *testing.T) {
	files := map[string]string{
		"a.md": "# Alpha\n\nNothing.\n\n## Cranes\n\nThe harbor and its cranes.\n\n## Boats\n\nBoats.\n",
		"years.md": "# Years\n\nOf the harbor.\n\n## 0\n\nThe harbor in the first year.\n\n## 1\n\nNothing.\n\n## " +
			"2\n\nNothing else.\n",
	}
	s := connectScanning(t, files)
	for _, arguments := range []map[string]any{{"details": true}, {"bodies": true}, {"budget": 2000, "links": true}} {
		arguments["query"], arguments["profile"] = "harbor", "tiered"
		var found answer
		text := call(t, s, "search", arguments, &found)
		if len(found.Results) < 2 {
			t.Fatalf("%v: %+v", arguments, found)
		}
		for _, r := range found.Results {
			if r.Text == "" && arguments["details"] == nil {
				t.Errorf("%v: %s has no text", arguments, r.ID)
			}
			if !strings.Contains(text, "id "+r.ID+",") {
				t.Errorf("%v: %s is not in the text:\n%s", arguments, r.ID, text)
			}
			for _, id := range []string{r.ID, r.URI} {
				if got := call(t, s, "get", map[string]any{"id": id}, nil); !strings.Contains(got, "harbor") {
					t.Errorf("get %s:\n%s", id, got)
				}
				call(t, s, "similar", map[string]any{"id": id}, nil)
				var why struct{ Absence struct{ ID string } }
				if got := call(t, s, "explain", map[string]any{"query": "harbor", "profile": "tiered", "id": id},
					&why); !strings.Contains(got, " has rank ") {
					t.Errorf("explain %s: %s", id, got)
				}
				call(t, s, "get", map[string]any{"id": why.Absence.ID}, nil)
			}
			read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil || !strings.Contains(read.Contents[0].Text, "harbor") {
				t.Errorf("resource %s: %v, %v", r.URI, read, err)
			}
		}
	}
	var explained struct{ Results []struct{ ID string } }
	call(t, s, "explain", map[string]any{"query": "harbor", "profile": "tiered"}, &explained)
	for _, r := range explained.Results {
		if got := call(t, s, "get", map[string]any{"id": r.ID}, nil); !strings.Contains(got, "harbor") {
			t.Errorf("get %s:\n%s", r.ID, got)
		}
	}
}

// connectScanning is connect to a collection of files that offers profiles without an index.
func connectScanning(t *testing.T, files map[string]string) *sdk.ClientSession {
	t.Helper()
	return connectOver(t, collectiontest.Open(t, files, func(o *collection.Options) {
		scanner, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer,
			Embedder: hashed.New(64)})
		if err != nil {
			t.Fatal(err)
		}
		o.Scanner = scanner
	}), access.Unrestricted())
}
