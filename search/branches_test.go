package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	words "sheaf/text/query"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// TestBranchStagesThatReplaceHits checks stages of branches that replace hits. The fusion gets
// each hit once, with its rank at the end of its branch.
func TestBranchStagesThatReplaceHits(t *testing.T) {
	s := collection(t, chunk.Options{})
	queries := []string{"the", "flour water salt", "release", "bread dough salt", "how we release", "undo changes"}
	const lifts = "aggregate: {to: document, method: max_p}"
	for _, stages := range [][2]string{
		{"reading_order: 1000000", "reading_order: 1000000"},
		{lifts, lifts},
		// Documents and chunks are numbered separately.
		{lifts, "adaptive: {floor: 0, ceiling: 1000, relative: 0, absolute: -1000}"},
		{"adaptive: {floor: 0, ceiling: 1000, relative: 0, absolute: -1000}", lifts},
		{lifts + "}, {top: 3", lifts + "}, {top: 2"},
		{lifts, "aggregate: {to: parent, method: max_p}"},
		{lifts, lifts + "}, {mmr: {n: 50, lambda: 0.3}"},
		{"mmr: {n: 50, lambda: 0.3}", "mmr: {n: 50, lambda: 0.3}"},
		{"neighbours: {before: 1, after: 1}", "neighbours: {before: 1, after: 1}"},
	} {
		for _, limit := range []string{"1", "50"} {
			p := twoBranches(t, stages, limit)
			for _, text := range queries {
				q := words.Parse(text, words.Options{Limit: 10, Now: s.Now()})
				ends := branchEnds(mustSearch(t, s, q, p, search.Options{Trace: true}))
				checkLegs(t, strings.Join(stages[:], " and ")+", limit "+limit+", "+text,
					mustSearch(t, s, q, p, search.Options{}).Hits, ends)
			}
		}
	}
}

// twoBranches returns a profile with stages in both branches, and a fusion.
func twoBranches(t *testing.T, stages [2]string, limit string) *profile.Profile {
	t.Helper()
	p := parse(t, `
name: two
about: two branches of words
branches:
  - name: words
    retrieve: text
    fields: {title: 2, body: 1}
    limit: `+limit+`
    then: [{`+stages[0]+`}]
  - name: titles
    retrieve: text
    fields: {title: 1}
    limit: `+limit+`
    then: [{`+stages[1]+`}]
fuse: {method: rrf, k: 60}
then:
  - top: limit
`)
	return p
}

// branchEnds returns the rankings at the end of both branches.
func branchEnds(r *search.Result) []sheaf.Ranking {
	ends := make([]sheaf.Ranking, 2)
	for _, step := range r.Trace {
		if b := slices.Index([]string{"words", "titles"}, step.Branch); b >= 0 {
			ends[b] = step.Ranking
		}
	}
	return ends
}

func checkLegs(t *testing.T, what string, fused []search.Hit, ends []sheaf.Ranking) {
	t.Helper()
	seen := map[sheaf.ID]bool{}
	for i := range fused {
		h := &fused[i]
		check.That(t, !seen[h.ID], "%s: %s appears twice", what, h.ID)
		seen[h.ID] = true
		for b, leg := range h.Legs {
			want := 1 + slices.IndexFunc(ends[b], func(e sheaf.Hit) bool { return e.ID == h.ID })
			check.That(t, leg.Rank == want, "%s: %s has rank %d of branch %d, want %d", what, h.ID, leg.Rank, b, want)
		}
	}
}

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
	r = mustSearch(t, s, query("cat", 10), other, search.Options{})
	check.That(t, !strings.Contains(fmt.Sprint(r.Notes), "per_document"), "notes: %q", r.Notes)
}

// distant is a store on another machine. It records its requests. It answers a branch only while it
// counts words.
type distant struct {
	store.Backend
	store.Counter
	counting chan struct{}
	once     sync.Once
	late     sync.Once
	fault    error
	counts   [][]store.Request
}

func (d *distant) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	select {
	case <-d.counting:
	case <-time.After(time.Minute):
		d.late.Do(func() { d.fault = errors.New("the words were not counted while the branches retrieved") })
	}
	return d.Backend.Retrieve(ctx, req)
}

func (d *distant) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	return store.RetrieveAll(ctx, struct{ store.Backend }{d.Backend}, reqs)
}

func (d *distant) CountAll(ctx context.Context, reqs []store.Request) ([]int, error) {
	d.once.Do(func() { close(d.counting) })
	d.counts = append(d.counts, reqs) // one at a time in this test
	return store.CountAll(ctx, struct{ store.Counter }{d.Counter}, reqs)
}

func (d *distant) Count(ctx context.Context, req store.Request) (int, error) {
	n, err := d.CountAll(ctx, []store.Request{req})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// uncounted is a store that fails to count words. It records the number of count requests.
type uncounted struct {
	store.Backend
	fault error
	asked int
}

func (u *uncounted) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	return store.RetrieveAll(ctx, struct{ store.Backend }{u.Backend}, reqs)
}

func (u *uncounted) CountAll(context.Context, []store.Request) ([]int, error) {
	u.asked++ // one at a time in this test
	return nil, u.fault
}

func (u *uncounted) Count(context.Context, store.Request) (int, error) {
	u.asked++
	return 0, u.fault
}

// sized are facts that know how many chunks the caller may see.
type sized struct{ rank.Facts }

func (sized) Chunks(context.Context) int { return 20 }

// TestWordsAreCountedDuringRetrieval checks that one request counts the words of a query while branches retrieve. The
// search does not ask the store for the size of the collection when the facts know it.
func TestWordsAreCountedDuringRetrieval(t *testing.T) {
	s := collection(t, chunk.Options{})
	for name, facts := range map[string]rank.Facts{"the catalog": s.Facts, "what a caller sees": sized{s.Facts}} {
		far := &distant{Backend: s.Backend, Counter: s.Backend.(store.Counter), counting: make(chan struct{})}
		there := *s
		there.Backend, there.Facts = far, facts
		got := mustSearch(t, &there, words.Parse("flour water salt", words.Options{Limit: 10, Now: s.Now()}),
			load(t, "sheaf"), search.Options{})
		check.That(t, far.fault == nil, "%s: %v", name, far.fault)
		check.That(t, len(far.counts) == 1 && len(far.counts[0]) == 3,
			"%s: counted %v: one request for three words is enough", name, far.counts)
		check.That(t, len(got.Hits) != 0, "%s: nothing found", name)
	}
}

// TestWordCountsAreRequestedOnce checks that a search asks only once for word counts when a store cannot count or
// fails.
func TestWordCountsAreRequestedOnce(t *testing.T) {
	s := collection(t, chunk.Options{})
	p := parse(t, `
name: measured
about: scores measured by what the query is worth
branches:
  - name: words
    retrieve: text
    fields: {body: 1}
    limit: 50
fuse: {method: scores, norm: share, mean: sum, complete: true}
then:
  - word_pairs: {strength: 0.4}
  - names: {document: 0.4, heading: 0.4}
`)
	down := errors.New("the store is down")
	for _, fault := range []error{down, sheaf.ErrUnsupported} {
		for name, facts := range map[string]rank.Facts{"of a known size": sized{s.Facts}, "of an unknown size": struct {
			rank.Facts
		}{s.Facts}} {
			far := &uncounted{Backend: s.Backend, fault: fault}
			there := *s
			there.Backend, there.Facts = far, facts
			q := words.Parse("flour water salt", words.Options{Limit: 10, Now: s.Now()})
			r, err := there.Search(context.Background(), q, p, search.Options{})
			switch {
			case fault == down && !errors.Is(err, down):
				t.Errorf("%s: error %v, want %v", name, err, down)
			case fault != down && (err != nil || len(r.Hits) == 0):
				t.Errorf("%s, %v: error %v", name, fault, err)
			}
			check.Equal(t, far.asked, 1, "%s, %v: requests", name, fault)
		}
	}
}

// TestOrderAndFacets checks that columns order and count all matches. A store that cannot do it returns an error.
func TestOrderAndFacets(t *testing.T) {
	s, p := searcher(animals()), load(t, "rrf")
	by := search.Options{Order: &store.Order{Column: "n", Descending: true}}
	for _, opt := range []search.Options{by, {Facets: []string{"n"}}} {
		check.Is(t, must.Err(s.Search(context.Background(), query("cat", 3), p, opt)), sheaf.ErrUnsupported,
			"%+v of a store without columns", opt)
	}
	a := must.Get(analysis.New(analysis.Options{}))
	st := memory.New(a)
	var batch store.Batch
	for i, id := range []sheaf.ID{"t:cats.md#Food", "t:cats.md#Sleep", "t:cats.md#Play", "t:gone.md#Cat",
		"t:garden.md#Trees"} {
		text := "a cat"
		if i == 4 {
			text = "a tree"
		}
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: id, Doc: sheaf.DocumentID("t", id.Path()),
			Fields:  []store.Field{{Name: sheaf.FieldBody, Text: text}},
			Columns: []store.Column{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(i % 2))}}}})
	}
	must.Do(t, st.Write(context.Background(), batch))
	s.Backend = st
	by.Facets = []string{"n"}
	r := mustSearch(t, s, query("cat", 9), p, by)
	if got := found(r); !slices.Equal(got, []string{"cats.md#Sleep", "cats.md#Food", "cats.md#Play"}) || r.Total != 4 {
		t.Errorf("found %v of %d", got, r.Total)
	}
	want := store.FacetValue{Value: sheaf.NumberValue(0), Chunks: 2}
	check.That(t, len(r.Facets) == 1 && r.Facets[0].Distinct == 2 && r.Facets[0].Values[0] == want,
		"facets are %+v", r.Facets)
	r = mustSearch(t, s, sheaf.Query{Limit: 2}, p, by)
	got := found(r)
	check.That(t, len(got) == 1 && r.Total == 5, "without words: %v of %d; the second is unknown", got, r.Total)
}
