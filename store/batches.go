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

// Batcher is implemented by stores on a network that answer several requests in about the time of one request.
type Batcher interface {
	// RetrieveAll answers each request as Retrieve does, in the order of reqs. If a request fails, it returns the first
	// error.
	RetrieveAll(ctx context.Context, reqs []Request) ([]sheaf.Ranking, error)
	// CountAll counts each request as Count does, in the order of reqs. If a request fails, it returns the first error.
	CountAll(ctx context.Context, reqs []Request) ([]int, error)
}

// Batches reports whether b answers several requests in one round trip. A store that wraps another store has a method
// Batches, which answers for the wrapped store.
func Batches(b Backend) bool {
	if front, ok := b.(interface{ Batches() bool }); ok {
		return front.Batches()
	}
	_, ok := b.(Batcher)
	return ok
}

// parallelCalls is the number of calls that Each runs at once.
const parallelCalls = 4

// RetrieveAll sends the requests to b: in one call if b is a Batcher, else in parallel. The rankings are in the order
// of reqs. If a request fails, RetrieveAll returns the first error.
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

// CountAll lets c count the matches of the requests: in one call if c is a Batcher, else in parallel. The counts are in
// the order of reqs. If a request fails, CountAll returns the first error.
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
	// Scores returns how well each ID matches each word request; the IDs must be different. Element [i][k] is the score
	// that Retrieve gives ids[k] for reqs[i] with a large Limit. If Retrieve does not find ids[k], the element is 0. ids
	// replaces the Within of every request, also for StatisticsCandidates. The caller may change the result. A store that
	// wraps a store without Scores fails with sheaf.ErrUnsupported; the caller must then use Retrieve.
	Scores(ctx context.Context, reqs []Request, ids []sheaf.ID) ([][]float64, error)
}

// Together calls do(i) for each i with 0 <= i < n, in parallel, and waits for all calls. If a call panics, Together
// panics after the wait.
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

// Each calls f for each i with 0 <= i < n. It makes a few calls at a time, so that one caller does not take every
// connection. The first error cancels the contexts of the other calls, and Each returns it. If f panics, Each panics
// when all calls have ended.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelCalls)
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

// fault keeps the first panic of worker goroutines; the method tell repeats it in the calling goroutine. So a panic,
// for example in a third-party store, ends one request and not the process.
type fault struct{ first atomic.Pointer[string] }

// catch records a panic of a goroutine. Each worker goroutine must defer catch.
func (f *fault) catch() {
	if p := recover(); p != nil {
		said := fmt.Sprintf("%v\n%s", p, debug.Stack())
		f.first.CompareAndSwap(nil, &said)
	}
}

// tell panics in the calling goroutine if a worker goroutine panicked.
func (f *fault) tell() {
	if said := f.first.Load(); said != nil {
		panic(*said)
	}
}
