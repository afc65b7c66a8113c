package engine

import (
	"cmp"
	"slices"
)

// Tiers keep what is copied low while an index grows, and leave up to seven segments in each
// for good. A search looks into each of them: two of the same size cost it a tenth more than
// one. So an index that rests joins more, as long as a chunk is copied few times.

const (
	// restFactor is how many times as large as all smaller ones together a segment may be
	// that is joined with them: what is copied grows by a third each time at least.
	restFactor = 3
	// restBytes is the most that are joined at rest: of more, what one search saves is less
	// than it takes anyway, and the lock is held for longer.
	restBytes = 256 << 20
	// restOpened is the part of Options.Rest after which an index rests that was opened.
	restOpened = 16
)

// rest joins what is worth it, if no load is on its way. After a publication that failed it
// publishes once more instead: until then the lock is kept, and no other process can write.
func (ix *Index) rest() {
	ix.publish.Lock()
	loads, stale := ix.users > 0, ix.stale
	ix.publish.Unlock()
	switch {
	case loads || stale && ix.take() != nil:
		ix.restLater()
	case stale:
		_ = ix.give() // as after a merge, there is no caller to return it to
	case !ix.pausedMerges(): // ResumeMerges says when they go on
		ix.mergeInBackground(true)
	}
}

// restLater is called when the index has changed, or may, and when it could not be published.
func (ix *Index) restLater() {
	if timer := ix.merge.rest; timer != nil && !ix.closed.Load() {
		timer.Reset(ix.options.Rest)
	}
}

// restNoMore ends what restLater began.
func (ix *Index) restNoMore() {
	if timer := ix.merge.rest; timer != nil {
		timer.Stop()
	}
}

// rested chooses the segments to join at rest, none when all is well.
func (ix *Index) rested(views []*view) []*view {
	views = slices.SortedStableFunc(slices.Values(views), func(a, b *view) int {
		return cmp.Compare(a.reader.Size(), b.reader.Size())
	})
	join, bytes, memory, chunks := 0, int64(0), int64(0), 0
	for i, v := range views {
		worth := i > 0 && v.reader.Size() <= restFactor*bytes
		bytes += v.reader.Size()
		memory += v.reader.MergeBytes()
		chunks += v.live
		if bytes > restBytes || chunks > mergeChunks || memory > beside(ix.options.Memory) {
			break
		}
		if worth {
			join = i + 1
		}
	}
	return views[:join]
}
