package search_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
)

// crowd returns a shelf with one document of 300 sections that contain "cat", and twelve documents
// with one section each.
func crowd() *shelf {
	docs := map[string][]string{}
	for i := range 300 {
		docs["crowd.md"] = append(docs["crowd.md"], fmt.Sprintf("Section %d: cat and cat", i))
	}
	docs["crowd.md"][50] = "Section 50: a cat of its own" // nearer by meaning only
	for i := range 12 {
		docs[fmt.Sprintf("n%d.md", i)] = []string{"A: once upon a time there lived a cat beside a cat"}
	}
	return newShelf(docs)
}

func parse(t *testing.T, text string) *profile.Profile {
	t.Helper()
	return must.Get(profile.Parse("test.yaml", []byte(text), profile.Builtin))
}

const crowded = `name: crowded
branches:
  - {name: words, retrieve: text, fields: {body: 1}, limit: 2 x limit}
  - {name: meaning, retrieve: vector, limit: 2 x limit, weight: 1000}
fuse: {method: scores, norm: none, mean: sum}
then: [per_document: 3, top: limit]
`

// TestOneDocumentFillsList checks that the answer is shorter and has a note when one document fills the retrieved
// list. A larger limit finds the others. The note does not count results that other stages drop.
func TestOneDocumentFillsList(t *testing.T) {
	s := searcher(crowd())
	r := mustSearch(t, s, query("cat", 10), parse(t, crowded), search.Options{})
	if note := fmt.Sprint(r.Notes); len(r.Hits) != 3 || !r.More || !strings.Contains(note, "per_document leaves 3 of") {
		t.Errorf("found %v, more: %v, notes: %s", found(r), r.More, note)
	}
	if r := mustSearch(t, s, query("cat", 200), parse(t, crowded), search.Options{}); len(r.Hits) != 27 || r.More {
		t.Errorf("found %v, more: %v", found(r), r.More)
	}
	other := parse(t, strings.Replace(crowded, "per_document: 3,", "elbow: {ratio: 0.1, max: 4},", 1))
	if r := mustSearch(t, s, query("cat", 10), other, search.Options{}); strings.Contains(fmt.Sprint(r.Notes),
		"per_document") {
		t.Errorf("notes: %q", r.Notes)
	}
}
