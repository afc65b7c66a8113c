package api

import (
	"context"
	"sync"
	"time"
)

// gate bounds how many requests work and wait.
type gate struct {
	limits  Limits
	running chan struct{}

	mu      sync.Mutex
	waiting int
	of      map[string]int // running and waiting, by caller
}

func newGate(l Limits) *gate {
	return &gate{limits: l, running: make(chan struct{}, l.Running), of: map[string]int{}}
}

// enter waits for the turn of a caller's request. The error is a problem: too
// many of one caller, or too many of all.
func (g *gate) enter(ctx context.Context, caller string) (leave func(), err error) {
	g.mu.Lock()
	switch {
	case g.of[caller] >= g.limits.OfOne:
		g.mu.Unlock()
		return nil, problem("too-many-requests", "%d requests of this caller are running: must be at most that many at once", g.limits.OfOne)
	case g.waiting >= g.limits.Waiting:
		g.mu.Unlock()
		return nil, problem("unavailable", "%d requests are waiting already", g.limits.Waiting)
	}
	g.of[caller]++
	g.waiting++
	g.mu.Unlock()

	in := g.turn(ctx)

	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	if !in {
		g.forget(caller)
		return nil, problem("unavailable", "the server is busy")
	}
	return func() {
		<-g.running
		g.mu.Lock()
		g.forget(caller)
		g.mu.Unlock()
	}, nil
}

// turn waits for a free place, with bounded patience.
func (g *gate) turn(ctx context.Context) bool {
	select {
	case g.running <- struct{}{}:
		return true
	default:
	}
	patience := time.NewTimer(g.limits.Patience)
	defer patience.Stop()
	select {
	case g.running <- struct{}{}:
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return false
}

// forget counts a request of a caller off; g.mu must be held.
func (g *gate) forget(caller string) {
	if g.of[caller]--; g.of[caller] == 0 {
		delete(g.of, caller)
	}
}

// load is how many requests run and wait.
func (g *gate) load() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running), g.waiting
}
