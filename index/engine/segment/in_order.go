package segment

import (
	"sync"
	"sync/atomic"
)

// inOrder writes the lists of n ranges of terms, one after the other. Several goroutines encode
// them in parallel, each with its own function from begin, which gets the number of a range. Each
// encodes one range while another waits to be written. rest, which may be nil, is called after each
// range; its error ends the file.
func (w *fileWriter) inOrder(n, goroutines int, begin func() func(out *termLists, i int), rest func() error) {
	run := w.kind == runKind
	wrote := func(lists *termLists) {
		if w.lists(lists); w.err == nil && rest != nil {
			w.fail(rest())
		}
	}
	if goroutines = min(goroutines, n); goroutines <= 1 {
		encode := begin()
		lists := termLists{run: run}
		for i := 0; i < n && w.err == nil; i++ {
			lists.reset()
			encode(&lists, i)
			wrote(&lists)
		}
		return
	}
	results := make([]chan *termLists, n)
	for i := range results {
		results[i] = make(chan *termLists, 1)
	}
	free := make(chan *termLists, 2*goroutines)
	for range cap(free) {
		free <- &termLists{run: run}
	}
	var next atomic.Int64
	var failed atomic.Bool
	var encoding sync.WaitGroup
	for range goroutines {
		encoding.Go(func() {
			encode := begin()
			// A goroutine takes memory before a range, so that the next range to write always has
			// some.
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
			wrote(lists)
			failed.Store(w.err != nil)
		}
		free <- lists
	}
	encoding.Wait()
}
