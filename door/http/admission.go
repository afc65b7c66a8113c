package http

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// admission limits how many requests run at once, how many wait, and how many a single caller may have. A request needs
// a slot to run. Requests get slots in the order in which they arrive.
type admission struct {
	limits  Limits
	slots   chan struct{} // holds a value for each request that works
	waiting atomic.Int64

	mu       sync.Mutex
	byCaller map[string]int // requests that entered, by caller
}

func newAdmission(l Limits) *admission {
	return &admission{limits: l, slots: make(chan struct{}, l.Running), byCaller: map[string]int{}}
}

// slot takes a slot. If all slots are in use, it waits at most Limits.Patience. Call leave to give the slot back. The
// error is a *Problem, or the error of ctx.
func (a *admission) slot(ctx context.Context) (leave func(), err error) {
	select {
	case a.slots <- struct{}{}:
	default:
		if err := a.wait(ctx); err != nil {
			return nil, err
		}
	}
	// Requests that have arrived are read first. Otherwise the searches keep all processors, and these requests join
	// the queue late.
	runtime.Gosched()
	return func() { <-a.slots }, nil
}

// wait waits for a slot and takes it. It fails at once if Limits.Waiting requests already wait.
func (a *admission) wait(ctx context.Context) error {
	defer a.waiting.Add(-1)
	if a.waiting.Add(1) > int64(a.limits.Waiting) {
		return problem("unavailable", "%d requests are waiting already: repeat this later", a.limits.Waiting)
	}
	select {
	case a.slots <- struct{}{}:
		return nil
	case <-time.After(a.limits.Patience):
		return problem("unavailable", "the server is busy: repeat this later")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter adds one request of a caller, or returns a *Problem if too many run. Call release when the request ends.
func (a *admission) enter(caller string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byCaller[caller] >= a.limits.OfOne {
		return problem("too-many-requests", "%d requests of this caller are running, which is the limit: wait for one "+
			"of them",
			a.limits.OfOne)
	}
	a.byCaller[caller]++
	return nil
}

// release ends one request of a caller, which enter has added.
func (a *admission) release(caller string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byCaller[caller]--; a.byCaller[caller] == 0 {
		delete(a.byCaller, caller)
	}
}
