package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sheaf/index/engine/segment"
)

// These constants are the merge policy. A segment belongs to a tier by its number of chunks: below tierFloor to tier 0.
// Each tier is tierFactor times as large as the tier below. A tier with tierFactor segments is merged. A segment in
// which more than a third is deleted is rewritten. So a chunk is copied about log8(chunks) times, and at most half of
// the space is wasted. An index has at most a few dozen segments.
const (
	tierFactor = 8
	tierFloor  = 64
	// mergeChunks limits the chunks of a segment that an automatic merge makes. Memory limits such merges too: while
	// such a merge runs, Options.Memory divided by mergeShare stays for a load.
	mergeChunks = 4 << 20
	mergeShare  = 2
)

// mergeMemory returns how many bytes of the allowed memory a merge may take while a load runs.
func mergeMemory(allowed int64) int64 { return counted(allowed) - allowed/mergeShare }

type mergeState struct {
	mu      sync.Mutex
	done    chan struct{} // closed when the running background merges have ended; nil when none run
	running atomic.Bool   // done is not nil
	paused  bool
	resume  chan struct{}
	rest    *time.Timer // calls idleMerge after Options.Rest; nil if that is 0
}

// PauseMerges pauses background merges until ResumeMerges.
func (ix *Index) PauseMerges() {
	m := &ix.merge
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.paused {
		m.paused, m.resume = true, make(chan struct{})
	}
}

// ResumeMerges ends a pause of background merges.
func (ix *Index) ResumeMerges() {
	m := &ix.merge
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.paused {
		m.paused = false
		close(m.resume)
		ix.startIdleTimer()
	}
}

func (ix *Index) pausedMerges() bool {
	ix.merge.mu.Lock()
	defer ix.merge.mu.Unlock()
	return ix.merge.paused
}

// waitWhilePaused waits until merges are not paused. It returns an error if ctx ends first or the index is closed.
func (ix *Index) waitWhilePaused(ctx context.Context) error {
	ix.merge.mu.Lock()
	paused, resume := ix.merge.paused, ix.merge.resume
	ix.merge.mu.Unlock()
	if !paused {
		return nil
	}
	select {
	case <-resume:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-ix.stop.Done():
		return ErrClosed
	}
}

// errStale ends a merge when an earlier publication has failed. The next commit tries the merge again.
var errStale = errors.New("the last publication failed")

// mergeInBackground runs all merges that the merge policy asks for. If rests is true, it also joins the segments that
// idleSegments chooses. A failed merge changes nothing, and the next commit tries again.
func (ix *Index) mergeInBackground(rests bool) {
	m := &ix.merge
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil && rests {
		ix.startIdleTimer()
	}
	if m.done != nil || ix.closed.Load() {
		return
	}
	m.done = make(chan struct{})
	m.running.Store(true)
	go func() {
		for ix.stop.Err() == nil {
			choose, slow := ix.tiers, &throttle{rate: ix.options.MergeRate}
			if !ix.mergeDue(choose) {
				choose = func(views []*view) []*view { return ix.idleSegments(views, restBytes) }
				if slow.searches = &ix.searching; !rests || !ix.mergeDue(choose) {
					break
				}
			}
			again, err := ix.mergeOnce(ix.stop, slow, 1, choose)
			if rests && errors.Is(err, ErrLocked) {
				ix.startIdleTimer()
			}
			if err != nil || !again {
				break
			}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		close(m.done)
		m.done = nil
		m.running.Store(false)
	}()
}

// mergeDue reports whether choose finds segments to merge. It takes no lock.
func (ix *Index) mergeDue(choose func([]*view) []*view) bool {
	snapshot := ix.hold()
	if snapshot == nil {
		return false
	}
	due := len(choose(snapshot.views)) > 0
	return snapshot.Release() == nil && due
}

// waitForMerges waits until the running background merges end. It returns false if ctx ends first.
func (ix *Index) waitForMerges(ctx context.Context) bool {
	ix.merge.mu.Lock()
	done := ix.merge.done
	ix.merge.mu.Unlock()
	if done == nil {
		return true
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// Merge makes one segment of the whole index, without the deleted chunks. It waits for background merges, and while
// merges are paused. Merge takes the index's lock, as a load does. If another process has the lock, the error wraps
// ErrLocked and names the owner. After Close, Merge fails with ErrClosed.
func (ix *Index) Merge(ctx context.Context) error {
	if !ix.waitForMerges(ctx) {
		return ctx.Err()
	}
	_, err := ix.mergeOnce(ctx, &throttle{rate: math.MaxInt64}, runtime.GOMAXPROCS(0), func(views []*view) []*view {
		if len(views) > 1 || len(views) == 1 && views[0].deleted != nil {
			return views
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("merge index %s: %w", ix.options.Dir, err)
	}
	return nil
}

// tiers chooses the segments of the next merge by the merge policy. It returns nil if no merge is due.
func (ix *Index) tiers(views []*view) []*view {
	byTier := map[int][]*view{}
	for _, v := range views {
		if v.live*3 < v.reader.Chunks()*2 {
			return []*view{v}
		}
		tier := 0
		for n := v.live / tierFloor; n > 0; n /= tierFactor {
			tier++
		}
		list := append(byTier[tier], v)
		byTier[tier] = list
		total, memory := 0, int64(0)
		for _, one := range list {
			total += one.live
			memory += one.reader.MergeBytes()
		}
		if len(list) >= tierFactor && total <= mergeChunks && memory <= mergeMemory(ix.options.Memory) {
			return list
		}
	}
	return nil
}

// goroutines returns the largest number of goroutines of a merge, from 1 to limit. memory is the number of bytes that
// the merge may take. taken is the number of bytes that the merge takes besides its goroutines.
func goroutines(limit int, memory, taken int64) int {
	return int(max(1, min(int64(limit), (memory-taken)/segment.GoroutineBytes)))
}

// mergeOnce merges the segments that choose returns. again is false if choose returns none. slow limits the rate of
// writing. mergeOnce uses at most limit goroutines, fewer if memory is short.
func (ix *Index) mergeOnce(ctx context.Context, slow *throttle, limit int, choose func([]*view) []*view) (again bool,
	err error) {
	if err := ix.waitWhilePaused(ctx); err != nil {
		return false, err // a small merge would end before it waits
	}
	if err := ix.take(); err != nil {
		return false, err // the next load, in any process, tries again
	}
	defer func() { err = errors.Join(err, ix.give()) }()
	snapshot := ix.hold()
	if snapshot == nil {
		return false, ErrClosed
	}
	defer func() { err = errors.Join(err, snapshot.Release()) }()
	chosen := choose(snapshot.views)
	if len(chosen) == 0 {
		return false, nil
	}
	sources, taken := make([]segment.Source, len(chosen)), int64(0)
	for i, v := range chosen {
		sources[i] = segment.Source{Reader: v.reader, Deleted: v.deleted}
		taken += v.reader.MergeBytes()
	}
	name := ix.newName()
	path := filepath.Join(ix.options.Dir, name)
	slow.pause = ix.waitWhilePaused
	if err := segment.Merge(ctx, ix.fs, path, goroutines(limit, counted(ix.options.Memory), taken), sources,
		slow.wait); err != nil {
		return false, err
	}
	reader, err := segment.Open(ix.fs, path)
	if err != nil {
		return false, err
	}
	h := newHandle(name, reader)
	if err := ix.replace(chosen, &flushedSegment{handle: h, deleted: segment.NewBitset(reader.Chunks())}); err != nil {
		return false, errors.Join(err, h.release(), ix.drop(name))
	}
	return true, nil
}

// replace publishes a generation in which merged replaces the views in old. Chunks that were deleted from these views
// during the merge are deleted from merged too.
func (ix *Index) replace(old []*view, merged *flushedSegment) error {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	switch {
	case ix.current.Load() == nil:
		return ErrClosed // another process may be the writer now
	case ix.stale:
		return errStale
	}
	next := ix.state
	next.segments = nil
	base := uint32(0)
	for _, e := range ix.state.segments {
		if !slices.ContainsFunc(old, func(v *view) bool { return v.name == e.name }) {
			next.segments = append(next.segments, e)
		}
	}
	for _, v := range old {
		now := segment.NewBitset(v.reader.Chunks())
		if at := slices.IndexFunc(ix.state.segments, func(e entry) bool { return e.name == v.name }); at < 0 {
			now.Fill(v.reader.Chunks())
		} else if !now.ReadRuns(ix.state.segments[at].deleted, v.reader.Chunks()) {
			return corruptf("deleted chunks of %s", v.name)
		}
		for i := range v.reader.Chunks() {
			if v.deleted != nil && v.deleted.Has(uint32(i)) {
				continue
			}
			if now.Has(uint32(i)) {
				merged.deleted.Set(base)
			}
			base++
		}
	}
	if merged.deleted.Count() < merged.reader.Chunks() {
		next.segments = append(next.segments, entry{name: merged.name, deleted: merged.deleted.AppendRuns(nil)})
	}
	return ix.publishState(next, []*flushedSegment{merged})
}
