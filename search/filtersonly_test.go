package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// countedStore counts requests.
type countedStore struct {
	*memory.Backend
	requests int
}

func (s *countedStore) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	s.requests++
	return s.Backend.Retrieve(ctx, req)
}

// filled returns a searcher of documents with these numbers of sections, in a store that can filter.
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
	a := must.Get(analysis.New(analysis.Options{}))
	shelf, st := newShelf(docs), &countedStore{Backend: memory.New(a)}
	must.Do(t, st.Write(t.Context(), store.Batch{Chunks: shelf.stored}))
	s := searcher(shelf)
	s.Backend = st
	return s, st
}

// listing returns a query for everything, and a query for all chunks without the word "dog".
func listing(limit int) []sheaf.Query {
	every := sheaf.Exists{Column: sheaf.ColumnDoc}
	return []sheaf.Query{
		{Text: "tag:x", Words: sheaf.Bool{}, Filter: every, Limit: limit},
		{Text: "-dog", Words: sheaf.Bool{MustNot: []sheaf.TextQuery{sheaf.Match{Text: "dog"}}}, Limit: limit},
	}
}

// TestFilterQueryListsDocuments checks that a query without words lists the documents that match its filter, in the
// order of their IDs. A branch retrieves 1,000 chunks with one request, so that a document of
// hundreds of sections does not fill the list.
func TestFilterQueryListsDocuments(t *testing.T) {
	many := slices.Repeat([]int{1}, 31)
	many[0], many[5] = 300, 400
	for name, most := range map[string]int{"sheaf": 3, "sonar": 1, "bench": 1} {
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
					if shown[h.Doc] > most {
						t.Errorf("%s, %s: %s is there %d times", name, q.Text, h.Doc, shown[h.Doc])
					}
				}
				if limit == 200 && (len(docs) != len(many) || r.More) || limit == 20 && (len(r.Hits) != 20 || !r.More) {
					t.Errorf("%s, %s, %d: %d results of %d documents, more: %v", name, q.Text, limit, len(r.Hits), len(docs), r.More)
				}
				if n := store.requests - before; !slices.IsSorted(docs) || n > 1 || r.Degraded {
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

// TestNoteWhenOneDocumentFillsList checks that a note is added when one document fills all 1,000 retrieved chunks.
func TestNoteWhenOneDocumentFillsList(t *testing.T) {
	s, _ := filled(t, 3000, 2, 2)
	r := mustSearch(t, s, listing(10)[0], load(t, "sheaf"), search.Options{})
	if len(r.Hits) != 3 || r.Degraded || !r.More ||
		!strings.Contains(fmt.Sprint(r.Notes), "per_document leaves 3 of 1000") {
		t.Errorf("%v, degraded: %v, more: %v, notes: %q", found(r), r.Degraded, r.More, r.Notes)
	}
}
