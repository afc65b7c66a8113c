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
	in, err := g.begin(caller)
	if err != nil {
		return nil, err
	}
	if !in && !g.turn(ctx) {
		g.mu.Lock()
		defer g.mu.Unlock()
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

// begin counts a request of a caller in. in says that it has a place already;
// else it waits for its turn.
func (g *gate) begin(caller string) (in bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of[caller] >= g.limits.OfOne {
		return false, problem("too-many-requests", "%d requests of this caller are running: must be at most that many at once", g.limits.OfOne)
	}
	select {
	case g.running <- struct{}{}: // never past those who wait: a place that they leave goes to one of them
		in = true
	default:
		if g.waiting >= g.limits.Waiting {
			return false, problem("unavailable", "%d requests are waiting already", g.limits.Waiting)
		}
		g.waiting++
	}
	g.of[caller]++
	return in, nil
}

// turn waits for a place, with bounded patience.
func (g *gate) turn(ctx context.Context) bool {
	defer func() {
		g.mu.Lock()
		g.waiting--
		g.mu.Unlock()
	}()
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
