package search_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
)

// picky is a store without BM25 over several fields and without scores of given chunks.
type picky struct{ *shelf }

func (picky) Supports(req store.Request) error {
	if req.Text != nil && req.Text.Combine == store.CombineBM25F || req.Within != nil {
		return sheaf.ErrUnsupported
	}
	return nil
}

// TestCombineTextFallsBack checks a store without BM25 over several fields. There, combine: text takes the
// best field and adds a note. The default profile runs on this store.
func TestCombineTextFallsBack(t *testing.T) {
	store := newShelf(map[string][]string{"a.md": {"one: cat"}, "b.md": {"two: dog"}})
	s := searcher(store)
	s.Backend, s.Store = noBM25F{store}, "the picky store"
	r := mustSearch(t, s, query("cat", 2), load(t, "sheaf"), search.Options{})
	check.That(t, len(r.Hits) != 0 && r.Hits[0].Path == "a.md", "hits %+v", r.Hits)
	const note = "the picky store has no BM25 over several fields as one text; the best field counts, and 0.2 " +
		"times the others"
	check.That(t, slices.Contains(r.Notes, note), "notes %q lack %q", r.Notes, note)
	r = mustSearch(t, searcher(store), query("cat", 2), load(t, "sheaf"), search.Options{})
	check.That(t, !slices.Contains(r.Notes, note), "notes %q on a store with BM25F", r.Notes)
}

// noBM25F is a store without BM25 over several fields.
type noBM25F struct{ *shelf }

func (noBM25F) Supports(req store.Request) error {
	if req.Text != nil && req.Text.Combine == store.CombineBM25F {
		return sheaf.ErrUnsupported
	}
	return nil
}

// TestUnsupportedAtLoad checks that a search refuses a profile that the store cannot run, before it
// sends a request. The error names the profile, the branch and the store.
func TestUnsupportedAtLoad(t *testing.T) {
	const words = "{name: words, retrieve: text, fields: {title: 1}"
	const meaning = "{name: meaning, retrieve: vector, field: body}"
	fuse := "\nfuse: {method: rrf}\n"
	for name, test := range map[string]struct {
		text, want string
		embed      bool
	}{
		"fields combined": {"branches: [" + words + ", combine: bm25f}]" + fuse, "branch words on the picky store", true},
		"fields as one":   {"branches: [" + words + ", combine: text}]" + fuse, "", true},
		"counts nothing":  {"branches: [" + words + ", combine: bm25f, weight: 0}, " + words + "}]" + fuse, "", true},
		"two phases": {"candidates:\n  branches: [" + words + "}]\n  limit: 10\nbranches: [" + words + "}]" + fuse,
			"branch words on the picky store", true},
		"in the first": {"candidates:\n  branches: [" + words + ", combine: bm25f}]\n  limit: 10\nbranches: [" + words +
			"}]" + fuse, "branch first phase: words on the picky store", true},
		"what it can": {"branches: [" + words + "}]" + fuse, "", true},
		"no model": {"branches: [" + meaning + "]" + fuse, "branch meaning searches by meaning and no embedding " +
			"model is in use", false},
		"a model for some": {"branches: [" + meaning + ", " + words + "}]" + fuse, "", false},
		"no folder": {"candidates: {scan: 10}\nbranches: [" + words + "}]" + fuse, "the collection has no " +
			"folder", true},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "counts nothing" {
				test.text = strings.Replace(test.text, "name: words", "name: other", 1)
			}
			p := parse(t, "name: test\nabout: A test.\n"+test.text)
			store := newShelf(map[string][]string{"a.md": {"one: cat"}})
			s := &search.Searcher{Backend: picky{store}, Store: "the picky store", Facts: store}
			if test.embed {
				s.Embed = animalVectors
			}
			plan, err := p.Plan(5, nil)
			must.Do(t, err)
			err = s.Check(plan)
			if test.want == "" {
				check.NoError(t, err, "refused")
				return
			}
			check.That(t, errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), test.want) &&
				strings.Contains(err.Error(), "profile test"), "got %v, want %q", err, test.want)
			q := sheaf.Query{Text: "cat", Words: sheaf.Match{Text: "cat"}, Limit: 5}
			check.Is(t, must.Err(s.Search(context.Background(), q, p, search.Options{})), sheaf.ErrUnsupported, "the search")
			check.Equal(t, store.requests.Load(), 0, "requests were sent")
		})
	}
}
