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

// Batcher is met by backends on the other end of a network that answer several
// requests in about the time of one.
type Batcher interface {
	// RetrieveAll answers each of reqs as Retrieve does, in their order. The first
	// error is that of all.
	RetrieveAll(ctx context.Context, reqs []Request) ([]sheaf.Ranking, error)
	// CountAll counts each of reqs as Count does, in their order. The first error
	// is that of all.
	CountAll(ctx context.Context, reqs []Request) ([]int, error)
}

// Batches reports whether b answers several requests in one round trip: it is a
// Batcher, and when it stands in front of another backend, as one that has a method
// Batches says, that one is too.
func Batches(b Backend) bool {
	if front, ok := b.(interface{ Batches() bool }); ok {
		return front.Batches()
	}
	_, ok := b.(Batcher)
	return ok
}

// together is how many requests are asked for at once.
const together = 4

// RetrieveAll answers requests by b, all at once when it is a Batcher, else some at a
// time. Rankings are in the order of reqs; the first error ends all.
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

// CountAll counts what requests match, all at once when c is a Batcher, else some at
// a time. Counts are in the order of reqs; the first error ends all.
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

// Scorer is met by backends that score given chunks without making rankings of them.
type Scorer interface {
	// Scores returns how strongly each of ids, which are all different, matches each of reqs, which are about
	// words. out[i][k] is the score of ids[k] in what Retrieve answers to reqs[i] with ids as its Within and a
	// limit for all of them; 0 when it is not in the answer. The caller may change it. Within and Limit of reqs do
	// not count. A backend in front of one that is no Scorer is sheaf.ErrUnsupported: ask Retrieve then.
	Scores(ctx context.Context, reqs []Request, ids []sheaf.ID) ([][]float64, error)
}

// Together calls do for 0..n-1 side by side and waits for all. A panic of one of them becomes a panic of the
// caller, once all have ended.
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

// Each calls f for 0..n-1, a few at a time, so that one caller does not take every connection. The first error
// ends it, and the context of the others. A panic of f becomes a panic of the caller, once all have ended.
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

// fault is the first panic of goroutines that work for another one. It ends one request instead of the process:
// what panics may be a store that others wrote.
type fault struct{ first atomic.Pointer[string] }

// catch is deferred by those goroutines.
func (f *fault) catch() {
	if p := recover(); p != nil {
		said := fmt.Sprintf("%v\n%s", p, debug.Stack())
		f.first.CompareAndSwap(nil, &said)
	}
}

// tell panics as they did.
func (f *fault) tell() {
	if said := f.first.Load(); said != nil {
		panic(*said)
	}
}
