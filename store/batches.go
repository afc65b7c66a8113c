package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"sheaf"
)

// Batcher is implemented by stores across a network that answer several requests in about the time
// of one.
type Batcher interface {
	// RetrieveAll answers each request as Retrieve does, in their order. It fails with the first
	// error.
	RetrieveAll(ctx context.Context, reqs []Request) ([]sheaf.Ranking, error)
	// CountAll counts each request as Count does, in their order. It fails with the first error.
	CountAll(ctx context.Context, reqs []Request) ([]int, error)
}

// Batches reports whether b answers several requests in one round trip. A store in front of another
// has a method Batches that says whether the other does.
func Batches(b Backend) bool {
	if front, ok := b.(interface{ Batches() bool }); ok {
		return front.Batches()
	}
	_, ok := b.(Batcher)
	return ok
}

// together is the number of requests that run at once.
const together = 4

// RetrieveAll answers requests by b: all at once when b is a Batcher, else several at a time.
// Rankings are in the order of reqs; the first error ends it.
func RetrieveAll(ctx context.Context, b Backend, reqs []Request) ([]sheaf.Ranking, error) {
	if all, ok := b.(Batcher); ok {
		return all.RetrieveAll(ctx, reqs)
	}
	out := make([]sheaf.Ranking, len(reqs))
	return out, Each(ctx, len(reqs), func(ctx context.Context, i int) (err error) {
		out[i], err = b.Retrieve(ctx, reqs[i])
		return err
	})
}

// CountAll counts the matches of requests: all at once when c is a Batcher, else several at a time.
// Counts are in the order of reqs; the first error ends it.
func CountAll(ctx context.Context, c Counter, reqs []Request) ([]int, error) {
	if all, ok := c.(Batcher); ok {
		return all.CountAll(ctx, reqs)
	}
	out := make([]int, len(reqs))
	return out, Each(ctx, len(reqs), func(ctx context.Context, i int) (err error) {
		out[i], err = c.Count(ctx, reqs[i])
		return err
	})
}

// Scorer is implemented by stores that score given chunks without ranking them.
type Scorer interface {
	// Scores returns how strongly each of the different IDs matches each of the word requests.
	// out[i][k] is the score of ids[k] when Retrieve answers reqs[i] with ids as its Within and a
	// limit for all of them; 0 when that answer lacks it. The caller may change the result. Scores
	// ignores Within and Limit of reqs, also for StatisticsCandidates. A store in front of one that
	// is not a Scorer fails with sheaf.ErrUnsupported: use Retrieve then.
	Scores(ctx context.Context, reqs []Request, ids []sheaf.ID) ([][]float64, error)
}

// Together calls do for 0..n-1 in parallel and waits for all of them. If one panics, Together
// panics after all have ended.
func Together(n int, do func(i int)) {
	if n == 0 {
		return
	}
	var others struct {
		sync.WaitGroup
		fault fault
	}
	defer func() {
		others.Wait()
		others.fault.tell()
	}()
	for i := range n - 1 {
		others.Go(func() {
			defer others.fault.catch()
			do(i)
		})
	}
	do(n - 1)
}

// Each calls f for 0..n-1, a few at a time, so that one caller does not take every connection. The
// first error ends it and cancels the contexts of the others. If f panics, Each panics after all
// have ended.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	var fault fault
	for i := range n {
		group.Go(func() error {
			defer fault.catch()
			return f(ctx, i)
		})
	}
	err := group.Wait()
	fault.tell()
	return err
}

// fault keeps the first panic of worker goroutines. A panic, perhaps in a foreign store, then ends
// one request and not the process.
type fault struct{ first atomic.Pointer[string] }

// catch records a panic; worker goroutines defer it.
func (f *fault) catch() {
	if p := recover(); p != nil {
		said := fmt.Sprintf("%v\n%s", p, debug.Stack())
		f.first.CompareAndSwap(nil, &said)
	}
}

// tell panics in the caller if a worker panicked.
func (f *fault) tell() {
	if said := f.first.Load(); said != nil {
		panic(*said)
	}
}
