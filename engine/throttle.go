package engine

import (
	"context"
	"time"
)

// DefaultMergeRate is how many bytes background merges write in a second, at most.
const DefaultMergeRate = 64 << 20

// NoMerges is a rate of merges: none.
const NoMerges = -1

// throttle slows a merge down to a rate, so that searches and loads keep their
// share of the disk.
type throttle struct {
	rate  int64 // bytes a second
	began time.Time
	pause func(context.Context) error
}

// wait is called by a merge that has written so many bytes.
func (t *throttle) wait(ctx context.Context, written int64) error {
	if err := t.pause(ctx); err != nil {
		return err
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	ahead := time.Duration(float64(written)/float64(t.rate)*float64(time.Second)) - time.Since(t.began)
	if ahead < 10*time.Millisecond {
		return ctx.Err()
	}
	timer := time.NewTimer(min(ahead, time.Second))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
