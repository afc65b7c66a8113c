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

// The merge policy. Segments belong to tiers by the number of their chunks, each
// tier tierFactor times the one below; as soon as a tier has that many, they
// become one. A segment with more than a third deleted is rewritten. So a
// chunk is copied about log8(chunks) times, space is wasted by at most half, and
// an index has a few dozen segments at most.
const (
	tierFactor = 8
	tierFloor  = 64
	// mergeChunks bounds the result of a merge of several that is not forced, as memory
	// does: a load may take a mergeShare of it meanwhile.
	mergeChunks = 4 << 20
	mergeShare  = 2
)

// beside is what of the memory that is allowed a merge may take beside a load.
func beside(allowed int64) int64 { return counted(allowed) - allowed/mergeShare }

type mergeState struct {
	mu      sync.Mutex
	done    chan struct{} // closed when the background merges that run have ended; nil when none do
	running atomic.Bool   // done is not nil
	paused  bool
	resume  chan struct{}
	rest    *time.Timer // until the index has rested; nil where it never does
}

// PauseMerges stops background merges where they are until ResumeMerges.
func (ix *Index) PauseMerges() {
	m := &ix.merge
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.paused {
		m.paused, m.resume = true, make(chan struct{})
	}
}

// ResumeMerges lets background merges go on.
func (ix *Index) ResumeMerges() {
	m := &ix.merge
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.paused {
		m.paused = false
		close(m.resume)
		ix.restLater()
	}
}

// pausedMerges reports whether merges are paused.
func (ix *Index) pausedMerges() bool {
	ix.merge.mu.Lock()
	defer ix.merge.mu.Unlock()
	return ix.merge.paused
}

// pause waits while merges are paused.
func (ix *Index) pause(ctx context.Context) error {
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

// errStale ends a merge after a publication that failed; the next commit tries
// again.
var errStale = errors.New("the last publication failed")

// mergeInBackground merges what the policy says until nothing is left to merge, and what
// is joined at rest when it rests. A merge that fails leaves everything as it was; the next
// commit tries again.
func (ix *Index) mergeInBackground(rests bool) {
	m := &ix.merge
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil && rests {
		ix.restLater()
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
				if choose, slow.beside = ix.rested, &ix.searching; !rests || !ix.mergeDue(choose) {
					break
				}
			}
			again, err := ix.mergeOnce(ix.stop, slow, 1, choose)
			if rests && errors.Is(err, ErrLocked) {
				ix.restLater()
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

// mergeDue reports whether there is anything to merge, so that the lock need not be taken to
// see that there is not.
func (ix *Index) mergeDue(choose func([]*view) []*view) bool {
	snapshot := ix.hold()
	if snapshot == nil {
		return false
	}
	due := len(choose(snapshot.views)) > 0
	return snapshot.Release() == nil && due
}

// waitForMerges waits until the background merges that run have ended; false when ctx
// ends first.
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

// Merge makes one segment of the whole index, without deleted chunks. Background
// merges are waited for; while merges are paused, so is this one. Like a load it takes
// the index's lock: an error that wraps ErrLocked says who holds it. The error is
// ErrClosed once the index is closed.
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

// tiers chooses the segments to merge next, none when all is well.
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
		if len(list) >= tierFactor && total <= mergeChunks && memory <= beside(ix.options.Memory) {
			return list
		}
	}
	return nil
}

// goroutines is with how many goroutines, most at most, segments are merged whose merge
// takes so much of the memory that there is for it. One there is always.
func goroutines(most int, memory, taken int64) int {
	return int(max(1, min(int64(most), (memory-taken)/segment.GoroutineBytes)))
}

// mergeOnce merges the segments that choose picks, as slowly as slow says, with most
// goroutines or as many as memory allows; again says that it did.
func (ix *Index) mergeOnce(ctx context.Context, slow *throttle, most int, choose func([]*view) []*view) (again bool,
	err error) {
	if err := ix.pause(ctx); err != nil {
		return false, err // a small merge would end before it waits
	}
	if err := ix.take(); err != nil {
		return false, err // the next load here or there tries again
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
	slow.pause = ix.pause
	if err := segment.Merge(ctx, ix.fs, path, goroutines(most, counted(ix.options.Memory), taken), sources,
		slow.wait); err != nil {
		return false, err
	}
	reader, err := segment.Open(ix.fs, path)
	if err != nil {
		return false, err
	}
	h := newHandle(name, reader)
	if err := ix.replace(chosen, &flushed{handle: h, deleted: segment.NewBitset(reader.Chunks())}); err != nil {
		return false, errors.Join(err, h.release(), ix.drop(name))
	}
	return true, nil
}

// replace publishes a generation in which merged stands for the views it was made
// of. What was deleted from them since is deleted from it.
func (ix *Index) replace(old []*view, merged *flushed) error {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	switch {
	case ix.current.Load() == nil:
		return ErrClosed // someone else may be the writer now
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
	return ix.publishState(next, []*flushed{merged})
}
