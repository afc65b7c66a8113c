package http

import (
	"runtime"
	heap "runtime/metrics"
	"sync"
	"time"
)

// pause is a moment in which no request begins to work, so that garbage is marked by all
// processors and nobody else has them.
//
// Go marks garbage while the program goes on. With a quarter of the processors it takes four
// times as long, and meanwhile what goes on is slower: on two processors answers came at
// half the rate for 30 ms, and 32 clients' requests of that time took up to twice as long.
// With all processors it is done in 8 ms, which is all that anybody waits. So when garbage
// is about to be collected and requests wait, it is collected in a pause.
//
// A pause is no longer than pauseMost. Where there is more to mark than that, Go goes on
// marking as it always does, and for a while there is no pause.
//
// Who holds the gate's lock may use it.
type pause struct {
	on        bool
	most      time.Duration // how long it is at most
	turns     int           // handed on since the heap was looked at
	swept     uint64        // so often had been collected when what was found was seen to be swept up
	stops     uint64        // and so often had the world been stopped for that
	notBefore time.Time     // that another one begins
	read      func() heapState
	ended     sync.WaitGroup // of garbage collected
}

const (
	pauseMost = 20 * time.Millisecond
	// pauseRare is for how long there is none after one that did not do.
	pauseRare = time.Minute
	// lookEvery is after how many turns the heap is looked at; it grows by a hundredth of
	// what it may meanwhile.
	lookEvery = 64
	// nearly is the share of the garbage that may be made at which it is collected. Go does at
	// 0.95, or before where much is made while it marks.
	nearly = 0.9
	// markedEvery is how often is looked whether all is marked.
	markedEvery = 200 * time.Microsecond
)

func newPause() pause { return pause{most: pauseMost, read: newHeapReader()} }

// due counts a turn that is handed on, and reports whether a pause is to begin.
func (p *pause) due() bool {
	if p.turns++; p.turns < lookEvery || p.on {
		return false
	}
	p.turns = 0
	return p.look() && !time.Now().Before(p.notBefore)
}

// look reports whether garbage is about to be collected, and is not being yet. What was found the
// last time fills the heap until it is swept up, which takes some tenths of a second.
func (p *pause) look() bool {
	now := p.read()
	full := nearlyFull(now.goal, now.live, now.size)
	if now.collected == p.swept {
		return full && now.stops == p.stops
	}
	if !full {
		p.swept, p.stops = now.collected, now.stops
	}
	return false
}

// heapState is how large the heap may become, what was left of it the last time and what it
// is, in bytes, how often garbage was marked since the process began, and how often the world was
// stopped for that, which it is when it begins and when it ends.
type heapState struct{ goal, live, size, collected, stops uint64 }

// newHeapReader reads it, in memory of its own.
func newHeapReader() func() heapState {
	samples := []heap.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: collectionsName}, {Name: "/sched/pauses/total/gc:seconds"}}
	return func() heapState {
		heap.Read(samples)
		now := heapState{samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64(),
			samples[3].Value.Uint64(), 0}
		for _, n := range samples[4].Value.Float64Histogram().Counts {
			now.stops += n
		}
		return now
	}
}

// nearlyFull reports whether garbage is about to be collected: there are now so many bytes,
// of which live were left the last time, and goal is where there are to be no more.
func nearlyFull(goal, live, now uint64) bool {
	return now > live && goal > live && float64(now-live) >= nearly*float64(goal-live)
}

// begin begins a pause of g, and ends it when all garbage is marked.
func (p *pause) begin(g *gate) {
	p.on = true
	before, began := collections(), time.Now()
	p.ended.Go(runtime.GC) // which returns when what it found is swept up, long after
	p.ended.Go(func() {
		done := false
		for ; !done && time.Since(began) < p.most; done = collections() > before {
			time.Sleep(markedEvery)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		p.on = false
		if next := time.Now().Add(pauseRare); !done && p.notBefore.Before(next) {
			p.notBefore = next
		}
		g.handOn()
	})
}

// close lets no pause begin any more, and waits until all garbage that was found is swept up.
func (g *gate) close() {
	g.mu.Lock()
	g.pause.notBefore = time.Unix(1<<40, 0)
	g.mu.Unlock()
	g.pause.ended.Wait()
}

const collectionsName = "/gc/cycles/total:gc-cycles"

// collections is how often garbage was marked since the process began.
func collections() uint64 {
	samples := []heap.Sample{{Name: collectionsName}}
	heap.Read(samples)
	return samples[0].Value.Uint64()
}
