package search_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/rank"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/chunk"
	words "sheaf/text/query"
)

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
			if far.asked != 1 {
				t.Errorf("%s, %v: asked %d times, want once", name, fault, far.asked)
			}
		}
	}
}
