package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/text/chunk"
)

// notes creates a catalog of Markdown files, and a shelf of their chunks.
func notes(t *testing.T, files map[string]string) (*shelf, *catalog.View) {
	t.Helper()
	c := must.Get(catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{}))
	t.Cleanup(func() { c.Close() })
	chunker := must.Get(chunk.New(chunk.Options{}))
	store := newShelf(nil)
	var update catalog.Update
	for path, text := range files {
		doc := chunker.Chunk("notes", path, []byte(text))
		update.Put = append(update.Put, catalog.Record{Document: doc, Date: chunk.DateOf(&doc, time.Unix(1_700_000_000, 0)),
			File: catalog.FileState{Size: int64(len(text)), Hash: catalog.HashOf([]byte(text))}})
		for i := range doc.Chunks {
			ch := &doc.Chunks[i]
			store.store(*ch, chunk.IndexedText(&doc, ch, text).Text)
		}
	}
	must.Do(t, c.Update(context.Background(), update))
	view := c.View()
	t.Cleanup(view.Close)
	return store, view
}

func TestSearchOnACatalog(t *testing.T) {
	files := map[string]string{
		"pets/cats.md": "---\ntitle: All about cats\naliases: [Felines]\ntags: [animal]\ndate: 2025-12-30\nboost: " +
			"3\n---\nA cat is a cat.\n\n# Food\n\nThe cat eats. See [[dogs]].\n\n# Sleep\n\nThe cat sleeps. #nap\n",
		"pets/dogs.md": "---\ntags: [animal]\ndate: 2019-01-01\n---\n# Dogs\n\nA dog sees a cat there.\n\n## " +
			"Walks\n\nThe dog walks to the tree.\n",
		"garden/tree.md": "# Trees\n\nA tree and a cat in it.\n",
	}
	store, view := notes(t, files)
	s := searcher(store)
	s.Facts = view
	for _, name := range builtins(t) {
		r := mustSearch(t, s, query("cat", 5), load(t, name), search.Options{Explain: true})
		must.That(t, len(r.Hits) != 0, "%s finds nothing", name)
		for _, h := range r.Hits {
			checkReason(t, name, h.Score, h.Explanation)
			text := files[h.Path]
			check.That(t, h.Span.End <= len(text) && h.Breadcrumb != "" && h.Doc == sheaf.DocumentID("notes", h.Path),
				"%s: %+v", name, h)
		}
	}
	first := mustSearch(t, s, query("felines", 5), load(t, "sheaf"), search.Options{}).Hits[0]
	check.That(t, first.Title == "All about cats" && first.Path == "pets/cats.md", "an alias finds %s first", first.ID)
	// These boosts read the catalog.
	boosted := parse(t, `name: boosted
branches: [{retrieve: text, fields: {title: 1, body: 1}}]
then:
  - folder_boost: {max: 0}
  - graph_boost: {max: 0}
  - recency
  - property_boost: boost
  - heading_boost
  - field_boost: {field: tag, values: [nap], factor: 3}
`)
	r := mustSearch(t, s, query("cat", 10), boosted, search.Options{Explain: true})
	labels := ""
	for _, h := range r.Hits {
		checkReason(t, "boosted", h.Score, h.Explanation)
		labels += labelsOf(h.Explanation)
	}
	for _, want := range []string{`folder "pets": 2 of 2 documents found`, "sharing tags with 1 others",
		"linked to by 1 others", "dated 2025-12-30 (frontmatter)",
		"dated 2019-01-01", "property boost is 3", "heading level 1", "tag is nap"} {
		check.That(t, strings.Contains(labels, want), "no explanation says %q:\n%s", want, labels)
	}
}

func TestWhyNotNamesMustMatch(t *testing.T) {
	store, view := notes(t, map[string]string{"cats.md": "# Cats\n\nA cat sleeps.\n",
		"meat.md": "# Meat\n\nA cat eats meat.\n"})
	s := searcher(store)
	s.Facts = view
	q := query("cat", 5)
	q.Words = sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "meat"}},
		Should: []sheaf.TextQuery{sheaf.Match{Text: "cat"}}}
	a := must.Get(s.WhyNot(context.Background(), q, load(t, "rrf"), search.Options{},
		sheaf.DocumentID("notes", "cats.md")))
	text := strings.Join(a.Reasons, "\n")
	check.That(t, strings.Contains(text, "branch vector: it scores 1 and does not match the required words"), "%v", text)
}

func labelsOf(e *sheaf.Explanation) string {
	text := e.Label + "\n"
	for i := range e.Parts {
		text += labelsOf(&e.Parts[i])
	}
	return text
}

// TestVotesMoveRanks checks that votes for a document change its rank.
func TestVotesMoveRanks(t *testing.T) {
	const text = "# Cats\n\nA cat sleeps.\n"
	for _, boosts := range [][2]int{{-5, 5}, {5, -5}} {
		files := map[string]string{}
		for i, name := range []string{"a.md", "b.md"} {
			files[name] = fmt.Sprintf("---\nboost: %d\n---\n%s", boosts[i], text)
		}
		store, view := notes(t, files)
		s := searcher(store)
		s.Facts = view
		want := "a.md"
		if boosts[1] > 0 {
			want = "b.md"
		}
		hits := mustSearch(t, s, query("cat sleeps", 2), load(t, "onyx-vespa"), search.Options{}).Hits
		check.That(t, len(hits) == 2 && hits[0].Path == want, "boosts %v: %+v", boosts, hits)
	}
}

// broken is a catalog view with a fault.
type broken struct{ *catalog.View }

func (broken) Err() error { return errors.New("segment 3: corrupt") }

func TestCatalogFaultIsWarning(t *testing.T) {
	store, view := notes(t, map[string]string{"a.md": "# A cat\n\ncat\n"})
	s := searcher(store)
	s.Facts = broken{view}
	r := mustSearch(t, s, query("cat", 5), load(t, "sheaf"), search.Options{})
	check.That(t, r.Degraded && strings.Contains(strings.Join(r.Warnings, "\n"), "segment 3: corrupt"),
		"degraded %v, warnings %v", r.Degraded, r.Warnings)
}

// whole records which documents a search looks up.
type whole struct {
	*catalog.View
	asked map[sheaf.ID]bool
}

func (w whole) Document(id sheaf.ID) (sheaf.Document, bool) {
	w.asked[id] = true
	return w.View.Document(id)
}

func (w whole) SharedDocument(id sheaf.ID) *sheaf.Document {
	w.asked[id] = true
	return w.View.SharedDocument(id)
}

func (w whole) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	c, ok := w.View.Chunk(id)
	w.asked[c.Doc] = true
	return c, ok
}

// TestOnlyFinalResultsAreLookedUp checks that a search looks up only the documents of final results.
func TestOnlyFinalResultsAreLookedUp(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("# Number %d\n\nA cat.%s\n", i, strings.Repeat(" And more.", i))
	}
	store, view := notes(t, files)
	for _, name := range []string{"sheaf", "rrf", "bench", "sonar", "onyx-elastic", "onyx-vespa"} {
		s, facts := searcher(store), whole{view, map[sheaf.ID]bool{}}
		s.Facts = facts
		r := mustSearch(t, s, query("cat", 3), load(t, name), search.Options{})
		must.That(t, len(r.Hits) == 3 && r.Total >= 12, "%s: %d hits of %d", name, len(r.Hits), r.Total)
		check.Equal(t, len(facts.asked), 3, "%s: documents that are looked up for 3 results", name)
		for _, h := range r.Hits {
			check.That(t, facts.asked[h.Doc], "%s: %s was not looked up", name, h.Doc)
		}
	}
}
