package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sheaf/store"
)

// TestTogether checks that Together runs all calls at the same time.
func TestTogether(t *testing.T) {
	for n := range 4 {
		var meet sync.WaitGroup // every goroutine waits for the others
		meet.Add(n)
		store.Together(n, func(int) { meet.Done(); meet.Wait() })
	}
}

// TestPanicTogether checks that a panic in another goroutine becomes a panic of the caller.
func TestPanicTogether(t *testing.T) {
	for what, ask := range map[string]func(do func(i int)){
		"together": func(do func(i int)) { store.Together(3, do) },
		"each": func(do func(i int)) {
			_ = store.Each(t.Context(), 3, func(_ context.Context, i int) error { do(i); return nil })
		},
	} {
		var ended atomic.Int32
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "a bad store\n") ||
					!strings.Contains(said, "batches_test.go") || ended.Load() != 2 {
					t.Errorf("%s: %d ended, and it says %.200s", what, ended.Load(), said)
				}
			}()
			ask(func(i int) {
				if i == 0 {
					panic("a bad store")
				}
				ended.Add(1)
			})
		}()
	}
}
