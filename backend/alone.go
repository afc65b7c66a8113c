package backend

import (
	"context"
	"sync"
)

type aloneKey struct{}

// Alone is a context whose requests are answered by the goroutines that make them, one
// after another: where as many searches run as there are processors, whoever helps one
// of them takes the processor of another.
func Alone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// IsAlone reports whether ctx is one of Alone.
func IsAlone(ctx context.Context) bool { return ctx.Value(aloneKey{}) != nil }

// Together calls do for 0..n-1 and waits for all: side by side, the last of them here,
// or one after another where ctx is one of Alone.
func Together(ctx context.Context, n int, do func(i int)) {
	if IsAlone(ctx) {
		for i := range n {
			do(i)
		}
		return
	}
	var wg sync.WaitGroup
	for i := range n - 1 {
		wg.Go(func() { do(i) })
	}
	if n > 0 {
		do(n - 1)
	}
	wg.Wait()
}
