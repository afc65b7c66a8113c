package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

type aloneKey struct{}

// Alone is a context whose requests are answered by the goroutines that make them, one
// after another: where as many searches run as there are processors, whoever helps one
// of them takes the processor of another.
func Alone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// IsAlone reports whether ctx is one of Alone.
func IsAlone(ctx context.Context) bool { return ctx.Value(aloneKey{}) != nil }

// Together calls do for 0..n-1 and waits for all: side by side, the last of them here,
// or one after another where ctx is one of Alone. A panic of one of them is the caller's, once
// all have ended.
func Together(ctx context.Context, n int, do func(i int)) {
	if IsAlone(ctx) {
		for i := range n {
			do(i)
		}
		return
	}
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

// fault is the first panic of goroutines that work for another one, where it ends one request
// instead of the process: what panics may be a store that others wrote.
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
