package main

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// yardstickTime is how long the yardstick is usually held against the machine.
	yardstickTime = 5 * time.Second
	// yardstickTries is how many loops are timed to make one of a wanted length.
	yardstickTries = 200
)

// yardstick is how long answers would take that are each a loop of numbers, of the same
// length every time and about as long as work, with nothing to read, to allocate or to
// wait for: what of the spread of answers is the machine's. Every processor gives one
// answer after another for that length, and a client waits for its share of those of all
// clients.
func yardstick(clients int, work, length time.Duration) durations {
	cores := runtime.NumCPU()
	share := max(1, clients/cores)
	all := make([]durations, cores)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			runtime.LockOSThread()
			const tried = 100_000
			usual := loops(tried, yardstickTries, 0)
			slices.Sort(usual)
			rounds := max(1, int(tried*float64(work)/float64(usual.at(50))))
			took := loops(rounds, share, length)
			for k := share; k <= len(took); k++ {
				var waited time.Duration
				for _, t := range took[k-share : k] {
					waited += t
				}
				all[i] = append(all[i], waited)
			}
		})
	}
	wg.Wait()
	out := slices.Concat(all...)
	slices.Sort(out)
	return out
}

// loops runs a loop at least so often and so long, and tells how long each took.
func loops(rounds, least int, length time.Duration) (took durations) {
	for began := time.Now(); len(took) < least || time.Since(began) < length; {
		at, n := time.Now(), uint64(len(took))
		for range rounds {
			n = n*6364136223846793005 + 1442695040888963407 // Knuth's random numbers: each needs the one before
		}
		looped.Add(n)
		took = append(took, time.Since(at))
	}
	return took
}

// looped makes loops count.
var looped atomic.Uint64
