package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// countedStore counts what it is asked for, and fails from a request on, unless that is 0.
type countedStore struct {
	*memory.Backend
	requests, fails int
}

func (s *countedStore) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if s.requests++; s.fails > 0 && s.requests >= s.fails {
		return nil, errDown
	}
	return s.Backend.Retrieve(ctx, req)
}

// filled is a shelf of documents with so many sections each, in a store that filters.
func filled(t *testing.T, sections ...int) (*search.Searcher, *countedStore) {
	t.Helper()
	docs := map[string][]string{}
	for i, n := range sections {
		path := fmt.Sprintf("d%03d.md", i)
		docs[path] = nil
		for k := range n {
			docs[path] = append(docs[path], fmt.Sprintf("Section %d: a cat", k))
		}
	}
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shelf, st := newShelf(docs), &countedStore{Backend: memory.New(a)}
	if err := st.Write(t.Context(), store.Batch{Chunks: shelf.stored}); err != nil {
		t.Fatal(err)
	}
	s := searcher(shelf)
	s.Backend = st
	return s, st
}

// listing asks for everything, and for all but what holds a word.
func listing(limit int) []sheaf.Query {
	every := sheaf.Exists{Column: sheaf.ColumnDoc}
	return []sheaf.Query{
		{Text: "tag:x", Words: sheaf.Bool{}, Filter: every, Limit: limit},
		{Text: "-dog", Words: sheaf.Bool{MustNot: []sheaf.TextQuery{sheaf.Match{Text: "dog"}}}, Limit: limit},
	}
}

// TestListed: a query that looks for no words lists every document that its filter lets through,
// of which none has more than its share, in the order of IDs, whatever fills what is retrieved.
func TestListed(t *testing.T) {
	many := slices.Repeat([]int{1}, 31)
	many[0], many[5], many[6] = 3000, 2000, 900
	for _, name := range []string{"sheaf", "sonar", "bench"} {
		for _, limit := range []int{20, 200} {
			s, store := filled(t, many...)
			for _, q := range listing(limit) {
				before := store.requests
				r := mustSearch(t, s, q, load(t, name), search.Options{Trace: true})
				shown, docs := map[sheaf.ID]int{}, []sheaf.ID{}
				for _, h := range r.Hits {
					if shown[h.Doc]++; shown[h.Doc] == 1 {
						docs = append(docs, h.Doc)
					}
					if shown[h.Doc] > 3 || name != "sheaf" && shown[h.Doc] > 1 {
						t.Errorf("%s, %s: %s is there %d times", name, q.Text, h.Doc, shown[h.Doc])
					}
				}
				if limit == 200 && (len(docs) != len(many) || r.More) || limit == 20 && (len(r.Hits) != 20 || !r.More) {
					t.Errorf("%s, %s, %d: %d results of %d documents, more: %v", name, q.Text, limit, len(r.Hits), len(docs), r.More)
				}
				if n := store.requests - before; !slices.IsSorted(docs) || n > 6 || r.Degraded {
					t.Errorf("%s, %s, %d: %v with %d requests, %v", name, q.Text, limit, docs, n, r.Warnings)
				}
				last := docs[len(docs)-1]
				why, err := s.WhyNot(t.Context(), q, load(t, name), search.Options{}, last)
				if err != nil || why.Rank == 0 && !strings.Contains(fmt.Sprint(why.Reasons), "rank") {
					t.Errorf("%s, %s: why not %s: %+v, %v", name, q.Text, last, why, err)
				}
			}
		}
	}
}

// TestListedBounded: where each of hundreds of documents fills what is retrieved, few requests are
// made, and there is more.
func TestListedBounded(t *testing.T) {
	s, store := filled(t, slices.Repeat([]int{200}, 150)...)
	r := mustSearch(t, s, listing(100)[0], load(t, "sheaf"), search.Options{})
	if len(r.Hits) != 100 || !r.More || store.requests > 6 {
		t.Errorf("%d results with %d requests, more: %v", len(r.Hits), store.requests, r.More)
	}
}

// TestListedPlainly: nothing more is asked for where all or enough was retrieved, where a document
// may have any number of results, where others leave few of them, and where the query has words.
func TestListedPlainly(t *testing.T) {
	s, store := filled(t, 3000, 2, 2)
	small, few := filled(t, 3, 2, 2)
	cut := parse(t, strings.Replace(crowded, "then: [", "then: [elbow: {ratio: 0.9, max: 3}, ", 1))
	lifted := parse(t, strings.Replace(crowded, "then: [", "then: [tree: {threshold: 0.5, min_matches: 3}, ", 1))
	for name, n := range map[string]int{
		"small":      countOf(few, func() { mustSearch(t, small, listing(10)[0], load(t, "sheaf"), search.Options{}) }),
		"no share":   countOf(store, func() { mustSearch(t, s, listing(10)[0], load(t, "rrf"), search.Options{}) }),
		"cut before": countOf(store, func() { mustSearch(t, s, listing(10)[0], cut, search.Options{}) }),
		"lifted":     countOf(store, func() { mustSearch(t, s, listing(10)[0], lifted, search.Options{}) }),
		"limit":      countOf(store, func() { mustSearch(t, s, listing(3)[0], load(t, "sheaf"), search.Options{}) }),
	} {
		if n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// countOf is how many requests reach a store.
func countOf(s *countedStore, do func()) int {
	before := s.requests
	do()
	return s.requests - before
}

// TestListedInPart: what fails when a listing is gone on with leaves what is there, which says so;
// who gives up waiting has the error.
func TestListedInPart(t *testing.T) {
	s, store := filled(t, 3000, 2, 2)
	store.fails = 2
	r := mustSearch(t, s, listing(10)[0], load(t, "sheaf"), search.Options{})
	if len(r.Hits) != 3 || !r.Degraded || !r.More {
		t.Errorf("%v, degraded: %v, more: %v", found(r), r.Degraded, r.More)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, listing(10)[0], load(t, "sheaf"), search.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
