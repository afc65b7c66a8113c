package api

import (
	"context"
	"sync"
	"time"

	"sheaf/serve"
)

// gate bounds how many requests work at once, how many wait for that, and how many
// of one caller there are. Those that wait have their turns in the order in which
// they came: with no more at work than there are processors each is quick, and the
// last to come waits no longer than if all had shared them.
type gate struct {
	limits  Limits
	running chan struct{}

	mu      sync.Mutex
	waiting int
	of      map[string]int // requests that are inside, by caller
}

func newGate(l Limits) *gate {
	return &gate{limits: l, running: make(chan struct{}, l.Running), of: map[string]int{}}
}

// place is a request inside the gate. It is used by one goroutine at a time.
type place struct {
	gate   *gate
	caller string
	works  bool
}

// enter counts a request of a caller in. The error is a problem: too many of one
// caller. The place is to be left.
func (g *gate) enter(caller string) (*place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of[caller] >= g.limits.OfOne {
		return nil, problem("too-many-requests", "%d requests of this caller are running: must be at most that many at once", g.limits.OfOne)
	}
	g.of[caller]++
	return &place{gate: g, caller: caller}, nil
}

var _ serve.Turn = (*place)(nil)

// Take waits until the request may work, with bounded patience; at once when it
// may already. The error is a problem: too many wait, or it waited too long.
func (p *place) Take(ctx context.Context) error {
	if p.works {
		return nil
	}
	g := p.gate
	in, err := g.begin()
	if err == nil && !in && !g.wait(ctx) {
		err = problem("unavailable", "the server is busy")
	}
	p.works = err == nil
	return err
}

// begin lets a request work, or counts it among those that wait.
func (g *gate) begin() (in bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case g.running <- struct{}{}: // never past those who wait: a place that they leave goes to one of them
		return true, nil
	default:
	}
	if g.waiting >= g.limits.Waiting {
		return false, problem("unavailable", "%d requests are waiting already", g.limits.Waiting)
	}
	g.waiting++
	return false, nil
}

// wait waits until the request may work.
func (g *gate) wait(ctx context.Context) bool {
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

// Rest lets another request work; this one stays inside.
func (p *place) Rest() {
	if p.works {
		<-p.gate.running
	}
	p.works = false
}

// leave counts the request out.
func (p *place) leave() {
	g := p.gate
	p.Rest()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of[p.caller]--; g.of[p.caller] == 0 {
		delete(g.of, p.caller)
	}
}

// load is how many requests run and wait.
func (g *gate) load() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running), g.waiting
}
