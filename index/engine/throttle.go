package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// DefaultMergeRate is how many bytes background merges write in a second, at most.
const DefaultMergeRate = 64 << 20

// NoMerges is a rate of merges: none.
const NoMerges = -1

// besideSearches is how many times as long as it works a merge rests that gives way to
// searches, while there are any.
const besideSearches = 8

// throttle slows a merge down to a rate, so that searches and loads keep their
// share of the disk, and of the processors where it gives way to them.
type throttle struct {
	rate int64 // bytes a second
	// beside are the searches that the merge gives way to; nil where it goes before them.
	beside *atomic.Int32
	pause  func(context.Context) error

	began   time.Time
	resumed time.Time     // when it was last waited
	owed    time.Duration // rest that searches are owed
}

// wait is called by a merge that has written so many bytes.
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
	if t.beside != nil && t.beside.Load() > 0 {
		t.owed += besideSearches * now.Sub(t.resumed)
		ahead, least = max(ahead, t.owed), time.Millisecond
	}
	t.resumed = now
	if ahead < least {
		return ctx.Err()
	}
	t.owed = 0
	defer func() { t.resumed = time.Now() }()
	timer := time.NewTimer(min(ahead, time.Second))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
