package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// DefaultMergeRate is the default limit for the bytes that background merges write in a second.
const DefaultMergeRate = 64 << 20

// NoMerges is the merge rate that pauses merges.
const NoMerges = -1

// besideSearches says how much a merge yields to running searches. The pauses of the merge are besideSearches times as
// long as its work.
const besideSearches = 8

// throttle limits the rate at which a merge writes, so that searches and loads get disk time. If the merge yields to
// searches, the throttle also leaves them processor time.
type throttle struct {
	rate int64 // bytes in a second
	// searches counts the running searches to which the merge yields. It is nil if the merge does not yield.
	searches *atomic.Int32
	pause    func(context.Context) error

	began    time.Time
	resumed  time.Time     // end of the last wait
	restOwed time.Duration // rest that the merge still owes searches
}

// wait pauses a merge as long as the rate requires, but at most a second. written is how many bytes the merge has
// written so far.
func (t *throttle) wait(ctx context.Context, written int64) error {
	if err := t.pause(ctx); err != nil {
		return err
	}
	now := time.Now()
	if t.began.IsZero() {
		t.began, t.resumed = now, now
	}
	ahead := time.Duration(float64(written)/float64(t.rate)*float64(time.Second)) - now.Sub(t.began)
	least := 10 * time.Millisecond
	if t.searches != nil && t.searches.Load() > 0 {
		t.restOwed += besideSearches * now.Sub(t.resumed)
		ahead, least = max(ahead, t.restOwed), time.Millisecond
	}
	t.resumed = now
	if ahead < least {
		return ctx.Err()
	}
	t.restOwed = 0
	defer func() { t.resumed = time.Now() }()
	timer := time.NewTimer(min(ahead, time.Second))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
