package storekit

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// maxAhead is the largest number of results that wait for their use. If so many wait, InOrder pauses producing.
const maxAhead = 64

// InOrder calls produce for the elements of list, several at a time. Meanwhile it calls the function use with the
// results, one at a time and in the order of list. It stops at the first error.
func InOrder[T, M any](ctx context.Context, list []T, produce func(one T) (M, error),
	use func(ctx context.Context, one T, made M) error) error {
	waiting := make(chan chan M, maxAhead)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(waiting)
		workers := make(chan struct{}, runtime.GOMAXPROCS(0))
		for _, one := range list {
			made := make(chan M, 1)
			select {
			case waiting <- made:
			case <-ctx.Done():
				return nil // another goroutine's error explains it
			}
			workers <- struct{}{}
			group.Go(func() error {
				defer func() { <-workers }()
				m, err := produce(one)
				if err == nil {
					made <- m
				}
				return err
			})
		}
		return nil
	})
	group.Go(func() error {
		for _, one := range list {
			select {
			case made := <-waiting:
				select {
				case m := <-made:
					if err := use(ctx, one, m); err != nil {
						return err
					}
				case <-ctx.Done():
					return OutOfTime(ctx, ctx.Err())
				}
			case <-ctx.Done():
				return OutOfTime(ctx, ctx.Err())
			}
		}
		return nil
	})
	return group.Wait()
}
