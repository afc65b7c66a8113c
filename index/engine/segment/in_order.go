package segment

import (
	"sync"
	"sync/atomic"
)

// inOrder writes the posting lists of n ranges of terms, in the order of the ranges. Several goroutines encode ranges.
// While an encoded range waits for earlier ranges, its goroutine encodes another range. Each goroutine calls begin once
// to get a function, which encodes the lists of range i into out. If afterRange is not nil, inOrder calls it after each
// written range. After an error of afterRange, inOrder writes nothing more, and finish returns the error.
func (w *fileWriter) inOrder(n, goroutines int, begin func() func(out *termLists, i int), afterRange func() error) {
	goroutines = max(1, min(goroutines, n))
	results := make([]chan *termLists, n)
	for i := range results {
		results[i] = make(chan *termLists, 1)
	}
	free := make(chan *termLists, 2*goroutines)
	for range cap(free) {
		free <- &termLists{run: w.kind == runKind}
	}
	var next atomic.Int64
	var failed atomic.Bool
	var encoding sync.WaitGroup
	for range goroutines {
		encoding.Go(func() {
			encode := begin()
			// A goroutine takes memory before a range, so that the next range to write always has some.
			for lists := range free {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if lists.reset(); !failed.Load() {
					encode(lists, i)
				}
				results[i] <- lists
			}
		})
	}
	for _, result := range results {
		lists := <-result
		if !failed.Load() {
			if w.lists(lists); w.err == nil && afterRange != nil {
				w.fail(afterRange())
			}
			failed.Store(w.err != nil)
		}
		free <- lists
	}
	encoding.Wait()
}
