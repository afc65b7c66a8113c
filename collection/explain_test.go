package collection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestBriefExplanation checks that a brief explanation only omits data: its steps and ranks equal the full explanation.
func TestBriefExplanation(t *testing.T) {
	notes := map[string]string{}
	for i := range 40 {
		notes[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("# Note %d\n\nUndo a commit%s.\n", i,
			map[bool]string{true: ", and undo it again", false: ""}[i%3 == 0])
	}
	f := collectiontest.Open(t, notes, nil)
	r := reader(t, f, access.Unrestricted())
	ask := func(brief bool) *collection.Explanation {
		e := must.Get(r.Explain(context.Background(),
			collection.SearchRequest{Text: "undo commit", Profile: "sheaf", Limit: 4, Brief: brief}))
		return e
	}
	whole, brief := ask(false), ask(true)
	var results []sheaf.ID
	for i, b := range brief.Results {
		if w := whole.Results[i]; b.Explanation != nil || b.Snippet != "" || w.Explanation == nil || w.Snippet == "" {
			t.Errorf("result %d: brief has %v and %q, whole %v and %q", i+1, b.Explanation, b.Snippet, w.Explanation, w.Snippet)
		}
		results = append(results, b.ID)
	}
	must.That(t, len(results) == 4 && len(brief.Steps) == len(whole.Steps),
		"%d results and %d steps, %d steps in the whole one", len(results), len(brief.Steps), len(whole.Steps))
	left := 0
	for k, w := range whole.Steps {
		b := brief.Steps[k]
		check.That(t, b.Step == w.Step && b.Branch == w.Branch && b.Found == w.Found && len(b.Ranks) == len(b.Hits) &&
			w.Ranks == nil, "step %d is %+v, %+v in the whole one", k, b, w)
		for i, rank := range b.Ranks {
			check.Equal(t, b.Hits[i], w.Hits[rank-1], "step %s: hit at rank %d, and in the whole ranking", b.Step, rank)
		}
		for i, h := range w.Hits {
			check.That(t, i >= 5 && !slices.Contains(results, h.ID) || slices.Contains(b.Ranks, i+1),
				"step %s: rank %d is missing", b.Step, i+1)
		}
		left += len(w.Hits) - len(b.Hits)
	}
	check.That(t, left != 0, "nothing is left out")
}

// TestExplainedWindow checks that a search with explanations returns fewer results, and that its total says that more
// exist.
func TestExplainedWindow(t *testing.T) {
	docs := map[string]string{}
	for i := range collection.MaxExplained + 60 {
		docs[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("# Pear %d\n\nOne pear.\n", i)
	}
	f := collectiontest.Open(t, docs, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	for _, explain := range []bool{false, true} {
		a := find(t, r, collection.SearchRequest{Text: "pear", Window: collection.MaxWindow, Explain: explain,
			Parameters: map[string]string{"meaning": "0"}})
		want, relation := len(docs), "eq"
		if explain {
			want, relation = collection.MaxExplained, "gte"
		}
		check.That(t, a.Total.Value == want && a.Total.Relation == relation && (a.Results[0].Explanation != nil) == explain,
			"explained %v: %+v, want %s %d", explain, a.Total, relation, want)
	}
}

// TestExactTotal checks that a total marked as exact does not grow with a larger window.
func TestExactTotal(t *testing.T) {
	docs := map[string]string{}
	var many strings.Builder
	for i := range 300 { // results show only a few of them
		fmt.Fprintf(&many, "# Pear tree %d\n\nPear tree.\n\n", i)
		if i%15 == 0 {
			docs[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("# Garden %d\n\nBeside a long wall stands the tree of which we eat "+
				"no pear in the year %d.\n", i, 1900+i)
		}
	}
	docs["many.md"] = many.String()
	docs["rare.md"] = "# Quince\n\nOne quince tree.\n"
	for i := range 10 { // after the window is cut, three sections represent the document
		docs[fmt.Sprintf("p%d.md", i)] = fmt.Sprintf("# Orchard %d\n\nFruit.\n\n## North\n\nOne plum.\n\n## South\n\nTwo "+
			"plum.\n\n## West\n\nThree plum.\n", i)
	}
	f := collectiontest.Open(t, docs, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	told := map[string]bool{}
	for _, q := range []collection.SearchRequest{{Text: "pear tree"}, {Text: "pear tree", Profile: "rrf"},
		{Text: "quince", Parameters: map[string]string{"meaning": "0"}}, {Text: "garden"},
		{Text: "plum", Parameters: map[string]string{"meaning": "0"}}} {
		q.Window = collection.MaxWindow
		all := find(t, r, q).Total.Value
		for _, q.Window = range []int{5, 20, 60, 200} {
			a := find(t, r, q)
			told[a.Total.Relation] = true
			check.That(t, a.Total.Relation != "eq" || a.Total.Value == all,
				"%q in a window of %d: no others than %d, and there are %d", q.Text, q.Window, a.Total.Value, all)
		}
	}
	check.Equal(t, len(told), 2, "relations: %v", told)
}

// TestAnswerAfterFailure checks that after a partial failure the total is a lower bound and the answer is not cached.
func TestAnswerAfterFailure(t *testing.T) {
	f, _ := gatedOf(t, map[string]string{"a.md": "# Pear\n\nOne pear.\n", "b.md": "# Quince\n\nA fruit.\n"},
		func(_ context.Context, call int64) error {
			if call == 1 {
				return errors.New("the model is away")
			}
			return nil
		})
	r := reader(t, f, access.Unrestricted())
	q := collection.SearchRequest{Text: "pear", Window: 100}
	without, with := find(t, r, q), find(t, r, q)
	check.That(t, without.Degraded && without.Total == (collection.Total{Value: 1, Relation: "gte"}),
		"without the model: %+v", without.Total)
	check.That(t, !with.Degraded && with.Total.Value >= 2 && with.Total.Relation == "eq",
		"with the model: %+v", with.Total)
	find(t, r, q)
	n := f.Cache()
	check.That(t, n.Found == 1 && n.Missed == 2, "counts: %+v", n)
}

// TestExplainEqualsSearch checks that Explain returns facets, counts and order like Search.
func TestExplainEqualsSearch(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	r := reader(t, f, access.Unrestricted())
	for _, q := range []collection.SearchRequest{
		{Text: "undo commit", Facets: []string{"tag", "ext"}},
		{Text: "undo commit", Count: true},
		{Text: "undo commit", Sort: "-path"},
		{Sort: "path", Count: true, Facets: []string{"ext"}},
	} {
		for _, brief := range []bool{false, true} {
			want := find(t, r, q)
			asked := q
			asked.Brief = brief
			e := must.Get(r.Explain(t.Context(), asked))
			ids := func(a *collection.Answer) (out []string) {
				for _, h := range a.Results {
					out = append(out, fmt.Sprint(h.ID, h.Score))
				}
				return out
			}
			check.That(t, slices.Equal(ids(e.Answer), ids(want)) && len(want.Results) != 0,
				"%+v: explained %v, searched %v", asked, ids(e.Answer), ids(want))
			check.That(t, reflect.DeepEqual(e.Facets, want.Facets) && reflect.DeepEqual(e.Matches, want.Matches) &&
				e.Total == want.Total, "%+v: explained %v, %v and %v, searched %v, %v and %v", asked, e.Facets, e.Matches, e.Total,
				want.Facets, want.Matches, want.Total)
		}
	}
}

// TestFusedContent checks that a result without text, such as a heading above headings, has its title as content.
func TestFusedContent(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"codes.md": "# Codes of vectors\n\n## How codes lie\n\nEight lie " +
		"together.\n"}, func(*collection.Options) {})
	found := must.Get(reader(t, f, access.Unrestricted()).Fused(t.Context(), "codes", "rrf", 60, 5))
	content := map[string]string{}
	for _, r := range found.Results {
		content[string(r.ID)] = r.Content
	}
	for id, want := range map[string]string{"notes:codes.md": "Codes of vectors",
		"notes:codes.md#codes-of-vectors": "Codes of vectors", "notes:codes.md#how-codes-lie": "\nEight lie together.\n"} {
		check.Equal(t, content[id], want, "content of %s", id)
	}
}

// TestFusedLimit checks that Fused has the same limit as the pages of a search.
func TestFusedLimit(t *testing.T) {
	r := reader(t, collectiontest.Open(t, map[string]string{"a.md": "# A\n\nwords\n"}, nil), access.Unrestricted())
	for limit, ok := range map[int]bool{0: false, 1: true, collection.MaxWindow: true, collection.MaxWindow + 1: false} {
		_, err := r.Fused(t.Context(), "words", "rrf", 60, limit)
		check.That(t, (err == nil) == ok && (ok || errors.Is(err, sheaf.ErrInvalid)), "limit %d: %v", limit, err)
	}
}

// TestFusedStale checks that results with changed or missing files only lack content. Both searches
// still count as complete.
func TestFusedStale(t *testing.T) {
	files := map[string]string{"a.md": "A harbor.\n", "b.md": "A harbor.\n", "c.md": "A harbor.\n"}
	f := collectiontest.Open(t, files, nil)
	writeFile(t, filepath.Join(f.Root, "a.md"), "Another harbor, and more.\n")
	must.Do(t, os.Remove(filepath.Join(f.Root, "b.md")))
	found := must.Get(reader(t, f, access.Unrestricted()).Fused(t.Context(), "harbor", "rrf", 60, 5))
	want := []string{"2 of the results changed since they were indexed, or cannot be read: they have no content"}
	check.That(t, len(found.Results) == 3 && !found.Degraded && slices.Equal(found.Warnings, want),
		"%d results, degraded %v, warnings %q", len(found.Results), found.Degraded, found.Warnings)
}

func TestWhatIf(t *testing.T) {
	r := reader(t, collectiontest.Open(t, notes, nil), access.Unrestricted())
	q, change := collection.SearchRequest{Text: "undo commit", Profile: "sheaf"}, map[string]string{"meaning": "1"}
	moves := must.Get(r.WhatIf(t.Context(), q, change))
	ranks := map[sheaf.ID][2]int{}
	for i := range 2 {
		for _, h := range find(t, r, q).Results {
			pair := ranks[h.ID]
			pair[i] = h.Rank
			ranks[h.ID] = pair
		}
		q.Parameters = change
	}
	must.Equal(t, len(moves), len(ranks), "moves of answers")
	moved := false
	for _, m := range moves {
		moved = moved || m.ScoreBefore != m.ScoreAfter
		check.Equal(t, ranks[m.ID], [2]int{m.Before, m.After}, "ranks of %+v", m)
	}
	check.That(t, moved, "no score changed")
}
