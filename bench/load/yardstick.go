package main

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// yardstickTime is the usual duration of the yardstick.
	yardstickTime = 5 * time.Second
	// yardstickTries is how many loops are timed in order to make one of a given duration.
	yardstickTries = 200
)

// yardstick measures how much of the spread of answers comes from the machine. It times answers that are each a
// loop over numbers, of constant length about as long as work, without reading, allocating or waiting. Every
// processor makes such answers for the given time, and a client waits for its share of those of all clients.
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

// loops runs a loop at least so many times and for at least this time, and returns the duration of each.
func loops(rounds, least int, length time.Duration) (took durations) {
	for began := time.Now(); len(took) < least || time.Since(began) < length; {
		at, n := time.Now(), uint64(len(took))
		for range rounds {
			n = n*6364136223846793005 + 1442695040888963407 // Knuth's random numbers: each needs the previous one
		}
		looped.Add(n)
		took = append(took, time.Since(at))
	}
	return took
}

// looped keeps the compiler from removing loops.
var looped atomic.Uint64
