package store

import (
	"context"

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

// Scorer is met by backends that tell how strongly given chunks match words without
// making rankings of them.
type Scorer interface {
	// Scores tells how strongly each of ids, which are all different, matches each of
	// reqs, which are about words: out[i][k] is the score of ids[k] in what Retrieve
	// answers to reqs[i] with ids as its Within and room for all of them, and 0 when it is
	// not in it. It is the caller's to change. What reqs say of Within and limits does not count. Nothing
	// of reqs and ids is kept. A backend in front of one that is no Scorer is
	// sheaf.ErrUnsupported: Retrieve tells it then.
	Scores(ctx context.Context, reqs []Request, ids []sheaf.ID) ([][]float64, error)
}

// Each calls f for 0..n-1, a few at a time, so that one caller does not take every
// connection, and one after another where ctx is one of Alone. The first error ends it, and the context of the others. A
// panic of f is the caller's, once all have ended.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	if IsAlone(ctx) {
		for i := range n {
			if err := f(ctx, i); err != nil {
				return err
			}
		}
		return nil
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
