package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sheaf/store"
)

// What is done together meets; what is done alone is done in order, by the goroutine
// that asked for it.
func TestTogether(t *testing.T) {
	for n := range 4 {
		var meet sync.WaitGroup // nobody goes on before all have come
		meet.Add(n)
		store.Together(t.Context(), n, func(int) { meet.Done(); meet.Wait() })
		var order []int // of one goroutine: the race detector tells
		store.Together(store.Alone(t.Context()), n, func(i int) { order = append(order, i) })
		if want := []int{0, 1, 2, 3}[:n]; !slices.Equal(order, want) {
			t.Errorf("alone: %v, want %v", order, want)
		}
	}
	var order []int
	last := errors.New("the last")
	err := store.Each(store.Alone(t.Context()), 5, func(_ context.Context, i int) error {
		if order = append(order, i); i == 2 {
			return last
		}
		return nil
	})
	if !errors.Is(err, last) || !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("each alone: %v, %v", order, err)
	}
}

// A panic beside the goroutine that asked is one of that goroutine: who answers requests lives on.
func TestPanicTogether(t *testing.T) {
	for what, ask := range map[string]func(do func(i int)){
		"together": func(do func(i int)) { store.Together(t.Context(), 3, do) },
		"each": func(do func(i int)) {
			_ = store.Each(t.Context(), 3, func(_ context.Context, i int) error { do(i); return nil })
		},
	} {
		var ended atomic.Int32
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "a bad store\n") || !strings.Contains(said, "alone_test.go") || ended.Load() != 2 {
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
