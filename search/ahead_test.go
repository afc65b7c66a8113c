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

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/chunk"
	"sheaf/profile"
	words "sheaf/query"
	"sheaf/rank"
	"sheaf/search"
)

// distant is a store on another machine: it notes what it is asked, and answers a branch
// only when the words are being counted.
type distant struct {
	backend.Backend
	backend.Counter
	counting chan struct{}
	once     sync.Once
	late     sync.Once
	fault    error
	counts   [][]backend.Request
}

func (d *distant) Retrieve(ctx context.Context, req backend.Request) (sheaf.Ranking, error) {
	select {
	case <-d.counting:
	case <-time.After(time.Minute):
		d.late.Do(func() { d.fault = errors.New("the words were not counted while the branches retrieved") })
	}
	return d.Backend.Retrieve(ctx, req)
}

func (d *distant) RetrieveAll(ctx context.Context, reqs []backend.Request) ([]sheaf.Ranking, error) {
	return backend.RetrieveAll(ctx, struct{ backend.Backend }{d.Backend}, reqs)
}

func (d *distant) CountAll(ctx context.Context, reqs []backend.Request) ([]int, error) {
	d.once.Do(func() { close(d.counting) })
	d.counts = append(d.counts, reqs) // one after another, as the test sees
	return backend.CountAll(ctx, struct{ backend.Counter }{d.Counter}, reqs)
}

func (d *distant) Count(ctx context.Context, req backend.Request) (int, error) {
	n, err := d.CountAll(ctx, []backend.Request{req})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// uncounted is a store that fails to count words, and notes how often it is asked.
type uncounted struct {
	backend.Backend
	fault error
	asked int
}

func (u *uncounted) RetrieveAll(ctx context.Context, reqs []backend.Request) ([]sheaf.Ranking, error) {
	return backend.RetrieveAll(ctx, struct{ backend.Backend }{u.Backend}, reqs)
}

func (u *uncounted) CountAll(context.Context, []backend.Request) ([]int, error) {
	u.asked++ // one after another, as the test sees
	return nil, u.fault
}

func (u *uncounted) Count(context.Context, backend.Request) (int, error) {
	u.asked++
	return 0, u.fault
}

// sized are facts as a caller may see them, who sees so many chunks.
type sized struct{ rank.Facts }

func (sized) Chunks(context.Context) int { return 20 }

// TestCountedAhead: the words of a query are counted in one request, while the branches
// retrieve, and what the facts know of the size of the collection is not asked for.
func TestCountedAhead(t *testing.T) {
	s := collection(t, chunk.Options{})
	for name, facts := range map[string]rank.Facts{"the catalog": s.Facts, "what a caller sees": sized{s.Facts}} {
		far := &distant{Backend: s.Backend, Counter: s.Backend.(backend.Counter), counting: make(chan struct{})}
		there := *s
		there.Backend, there.Facts = far, facts
		got := mustSearch(t, &there, words.Parse("flour water salt", words.Options{Limit: 10, Now: s.Now()}), load(t, "sheaf"), search.Options{})
		if far.fault != nil {
			t.Errorf("%s: %v", name, far.fault)
		}
		if len(far.counts) != 1 || len(far.counts[0]) != 3 {
			t.Errorf("%s: counted %v: one request for three words is enough", name, far.counts)
		}
		if len(got.Hits) == 0 {
			t.Errorf("%s: nothing found", name)
		}
	}
}

// TestCountedOnce: a store that cannot count, or fails to, is asked for the query's words
// once, though they were counted ahead and every score is measured by them.
func TestCountedOnce(t *testing.T) {
	s := collection(t, chunk.Options{})
	p, err := profile.Parse("measured.yaml", []byte(`
name: measured
about: scores measured by what the query is worth
branches:
  - name: words
    retrieve: text
    fields: {body: 1}
    limit: 50
fuse: {method: scores, norm: share, mean: sum, complete: true}
then:
  - whole: {strength: 0.4, place: 0.75, saturation: 2, coverage: 0.4, documents: 50}
`), profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("the store is down")
	for _, fault := range []error{down, sheaf.ErrUnsupported} {
		for name, facts := range map[string]rank.Facts{"of a known size": sized{s.Facts}, "of an unknown size": struct{ rank.Facts }{s.Facts}} {
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
			if far.asked != 1 {
				t.Errorf("%s, %v: asked %d times, want once", name, fault, far.asked)
			}
		}
	}
}

// TestGuardOfAStoreThatCannotCount: rare words are kept in sight where they can be
// counted, and the answer says where they cannot; a fault of the store is an error.
func TestGuardOfAStoreThatCannotCount(t *testing.T) {
	s := collection(t, chunk.Options{})
	p, err := profile.Parse("guarded.yaml", []byte(`
name: guarded
about: rare words in sight
branches:
  - name: words
    retrieve: text
    fields: {body: 1}
    limit: 50
fuse: {method: rrf}
then:
  - guard: {rank: 1}
`), profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	text := "flour water salt"
	ask := func(store backend.Backend) (*search.Result, error) {
		there := *s
		there.Backend, there.Store, there.Analyzer = store, "the far store", a
		return there.Search(context.Background(), words.Parse(text, words.Options{Limit: 10, Now: s.Now()}), p, search.Options{})
	}
	const note = "the far store cannot count the words of this query: what holds its rare words is not kept in sight (stage guard)"
	for name, store := range map[string]backend.Backend{
		"not at all":       struct{ backend.Backend }{s.Backend},
		"not this request": &uncounted{Backend: s.Backend, fault: fmt.Errorf("count: %w", sheaf.ErrUnsupported)},
	} {
		r, err := ask(store)
		if err != nil || len(r.Hits) == 0 || r.Degraded || !slices.Contains(r.Notes, note) {
			t.Errorf("%s: %+v, %v, want hits and the note %q", name, r, err, note)
		}
	}
	if r, err := ask(s.Backend); err != nil || slices.Contains(r.Notes, note) {
		t.Errorf("a store that counts: %v, notes %v", err, r.Notes)
	}
	down := errors.New("the store is down")
	if _, err := ask(&uncounted{Backend: s.Backend, fault: down}); !errors.Is(err, down) {
		t.Errorf("a store that is down: %v", err)
	}
	const unfound = "the far store cannot find the rare words of this query: what holds its rare words is not kept in sight (stage guard)"
	if r, err := ask(&notAll{s.Backend}); err != nil || !slices.Contains(r.Notes, unfound) {
		t.Errorf("a store that counts and does not find all: %+v, %v, want the note %q", r, err, unfound)
	}
	text = strings.Repeat("flour water salt ", 11)
	if r, err := ask(struct{ backend.Backend }{s.Backend}); err != nil || slices.Contains(r.Notes, note) {
		t.Errorf("more words than are guarded: %v, notes %q", err, r.Notes)
	}
}

// notAll counts one chunk for every word and finds none of several that must match.
type notAll struct{ backend.Backend }

func (n *notAll) Count(context.Context, backend.Request) (int, error) { return 1, nil }

func (n *notAll) Retrieve(ctx context.Context, req backend.Request) (sheaf.Ranking, error) {
	if b, ok := req.Text.Query.(sheaf.Bool); ok && req.Limit == 200 && len(b.Must) > 0 {
		return nil, fmt.Errorf("all of them: %w", sheaf.ErrUnsupported)
	}
	return n.Backend.Retrieve(ctx, req)
}
