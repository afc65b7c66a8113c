package engine

import (
	"context"
	"runtime"
	"time"
)

// A load leaves several segments, and background merges join them only when there are many. A program that indexes and
// then ends would leave them unjoined. So Close spends a small part of the loads' time on joining the small segments.

const (
	// settleShare limits the time that Close spends on merges. The limit is the time of the loads divided by settleShare.
	settleShare = 30
	// settleMost is the longest time that Close spends on merges, because callers may wait for Close.
	settleMost = 2 * time.Second
	// mergeRate is a rate that merges surely reach, in bytes of segments per second. settle does not begin a merge that
	// would take too long at this rate.
	mergeRate = 64 << 20
)

// settle joins the segments that an idle index would join. It stops at the time limit that settleShare and settleMost
// set. A later Close can join the remaining segments.
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
			func(views []*view) []*view { return ix.idleSegments(views, int64(time.Until(end).Seconds()*mergeRate)) })
		if err != nil || !again {
			return // the segments are unchanged; nothing is lost
		}
	}
}
