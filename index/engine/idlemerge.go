package engine

import (
	"cmp"
	"slices"
)

// A tier is a group of segments of similar size; see merge.go. Tiers keep copying low while an index grows, but leave
// up to seven segments in each. A search reads each segment: two segments of the same size cost a tenth more than one
// segment. So an index without loads joins more segments, as long as a chunk is copied few times.

const (
	// An idle index joins its smallest segments. The largest of these is at most restFactor times as large as the
	// others together. So the others add at least a third of its size.
	restFactor = 3
	// restBytes limits the bytes that one merge of an idle index joins. A larger merge would save little search time
	// and hold the lock for longer.
	restBytes = 256 << 20
	// After Open, the index waits only for Options.Rest divided by restOpened.
	restOpened = 16
)

// idleMerge joins the segments that idleSegments chooses, unless a load is running. After a failed publication, it
// publishes again instead. No other process can write until a publication succeeds.
func (ix *Index) idleMerge() {
	ix.publish.Lock()
	loads, stale := ix.users > 0, ix.stale
	ix.publish.Unlock()
	switch {
	case loads || stale && ix.take() != nil:
		ix.startIdleTimer()
	case stale:
		_ = ix.give() // as after a merge, no caller can receive the error
	case !ix.pausedMerges(): // otherwise ResumeMerges continues
		ix.mergeInBackground(true)
	}
}

// startIdleTimer restarts the timer of idleMerge. Call it after a change of the index or a failed publication.
func (ix *Index) startIdleTimer() {
	if timer := ix.merge.rest; timer != nil && !ix.closed.Load() {
		timer.Reset(ix.options.Rest)
	}
}

func (ix *Index) stopIdleTimer() {
	if timer := ix.merge.rest; timer != nil {
		timer.Stop()
	}
}

// idleSegments returns the segments that an idle index joins, smallest first. Their sizes add up to at most limit
// bytes. The list is empty if joining saves too little.
func (ix *Index) idleSegments(views []*view, limit int64) []*view {
	views = slices.SortedStableFunc(slices.Values(views), func(a, b *view) int {
		return cmp.Compare(a.reader.Size(), b.reader.Size())
	})
	join, bytes, memory, chunks := 0, int64(0), int64(0), 0
	for i, v := range views {
		worth := i > 0 && v.reader.Size() <= restFactor*bytes
		bytes += v.reader.Size()
		memory += v.reader.MergeBytes()
		chunks += v.live
		if bytes > limit || chunks > mergeChunks || memory > mergeMemory(ix.options.Memory) {
			break
		}
		if worth {
			join = i + 1
		}
	}
	return views[:join]
}
