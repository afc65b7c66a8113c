package engine

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// What a load leaves behind is several segments, and background merges join them
// only once there are many. A program that indexes and ends would leave them for
// good, so Close spends a little of what the loads took on joining the small ones.

const (
	// settleShare is the part of the time of the loads that Close may spend.
	settleShare = 30
	// settleMost bounds it: Close is also called when someone waits for the end.
	settleMost = 2 * time.Second
	// settled is the number of segments with which that is enough.
	settled = 4
	// mergeRate is how many bytes of segments a merge reads in a second, at
	// least: a merge that would take longer than there is time for is not begun.
	mergeRate = 64 << 20
)

// settle joins the smallest segments while there is time. What is not done is left
// to later loads.
func (ix *Index) settle() {
	budget := min(time.Duration(ix.loaded.Swap(0))/settleShare, settleMost)
	if budget < time.Millisecond || ix.stop.Err() != nil || ix.pausedMerges() {
		return
	}
	end := time.Now().Add(budget)
	ctx, cancel := context.WithDeadline(ix.stop, end)
	defer cancel()
	if !ix.waitForMerges(ctx) {
		return
	}
	for {
		again, err := ix.mergeOnce(ctx, &throttle{rate: ix.options.MergeRate}, runtime.GOMAXPROCS(0),
			func(views []*view) []*view { return smallest(views, time.Until(end)) })
		if err != nil || !again {
			return // the segments are as they were; nothing is lost
		}
	}
}

// smallest chooses the segments to join so that few are left, as many of them as
// there is time for; none when all is well or nothing can be done.
func smallest(views []*view, left time.Duration) []*view {
	if len(views) <= settled {
		return nil
	}
	views = slices.Clone(views)
	slices.SortStableFunc(views, func(a, b *view) int { return a.live - b.live })
	could := int64(left.Seconds() * mergeRate)
	n, total := 0, 0
	for _, v := range views[:len(views)-settled+1] {
		if could -= v.reader.Size(); could < 0 {
			break
		}
		if total += v.live; total > mergeChunks {
			break
		}
		n++
	}
	if n < 2 {
		return nil
	}
	return views[:n]
}
