package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sheaf"
	"sheaf/index/engine/segment"
	"sheaf/index/vfs/manifest"
)

// Chunk is the indexed data of one chunk. After Add returns, the index does not use the memory of a Chunk.
type Chunk struct {
	ID, Doc string
	Fields  []FieldText
	Columns []Column
	Vectors []Vectors
}

// FieldText is the text of one field.
type FieldText struct{ Name, Text string }

// Column has the values of one column of a chunk. Zero values (sheaf.Value{}) are ignored. Adding is faster when
// several chunks of a call share the memory of their values.
type Column struct {
	Name   string
	Values []sheaf.Value
}

// Vectors has the passages of one vector field.
type Vectors struct {
	Name     string
	Passages [][]float32
}

// Load is a set of changes. Commit makes them durable and visible together. Several goroutines can call Add in
// parallel; their chunks go into one segment. If the chunks do not fit into memory, the load writes them as runs.
// Commit joins the runs into one segment, or into a few if one would take too much memory; see [Load.join]. The caller
// must call Close, because much of a load's memory is outside the garbage collector.
type Load struct {
	index *Index
	free  chan struct{} // has a token for each idle worker
	all   []*worker
	seed  maphash.Seed
	began time.Time // time of the start, or of the end of the last commit

	flushing  chan struct{} // full while a goroutine makes room; see relieve
	gathering sync.RWMutex  // read-locked while a chunk is added to a worker, write-locked while all are flushed
	noted     atomic.Int64  // bytes of seen and removed

	mu      sync.Mutex
	idle    []*worker           // the worker that was used last is at the end
	seen    map[uint64]struct{} // hashes of added chunks and documents
	removed map[string]struct{} // documents to remove from the committed data
	flushed []*flushedSegment
	closed  bool
}

// flushedSegment is a segment or a run that was written to a file but is not published.
type flushedSegment struct {
	*handle
	deleted segment.Bitset
}

// Begin begins a load. It waits until no other load is open. The load holds the index's lock until Close. If another
// process has the lock, the error wraps ErrLocked and names the owner.
func (ix *Index) Begin(ctx context.Context) (*Load, error) {
	select {
	case <-ix.writer:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-ix.stop.Done():
		return nil, ErrClosed
	}
	if err := ix.take(); err != nil {
		ix.writer <- struct{}{}
		return nil, fmt.Errorf("write to index %s: %w", ix.options.Dir, err)
	}
	n := runtime.GOMAXPROCS(0)
	l := &Load{index: ix, free: make(chan struct{}, n), seed: maphash.MakeSeed(), flushing: make(chan struct{}, 1),
		seen: map[uint64]struct{}{}, removed: map[string]struct{}{}, began: time.Now()}
	for range n {
		w := &worker{builder: segment.NewBuilder(ix.options.Fields), analyzer: ix.options.Analyzer,
			columns: map[sharedColumn][]uint32{}}
		l.all = append(l.all, w)
		l.putBack(w)
	}
	return l, nil
}

// Add removes every chunk of the documents in the list replace, and adds chunks. An added chunk replaces a chunk with
// the same ID. After an error the caller must close the load, not commit it.
func (l *Load) Add(ctx context.Context, replace []string, chunks []Chunk) error {
	if err := l.index.validate(chunks); err != nil {
		return err
	}
	w, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer l.putBack(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return ErrClosed
	}
	w.begins = true
	again, err := l.forget(w, replace, chunks)
	if err != nil {
		return err
	}
	var last map[string]int
	if again {
		last = lastOfEqual(chunks)
	}
	for i := range chunks {
		if n, ok := last[chunks[i].ID]; ok && n != i {
			continue
		}
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := l.addChunk(ctx, w, &chunks[i]); err != nil {
			return err
		}
	}
	return nil
}

// lastOfEqual returns the last index of each identifier that occurs several times in chunks. Identifiers that occur
// once are not in the map.
func lastOfEqual(chunks []Chunk) map[string]int {
	seen := make(map[string]int, len(chunks))
	var last map[string]int
	for i := range chunks {
		if _, ok := seen[chunks[i].ID]; ok {
			if last == nil {
				last = map[string]int{}
			}
			last[chunks[i].ID] = i
		}
		seen[chunks[i].ID] = i
	}
	return last
}

// addChunk adds a chunk to w. If another goroutine is writing the chunks of all workers, addChunk waits first. The
// caller holds w.mu.
func (l *Load) addChunk(ctx context.Context, w *worker, c *Chunk) error {
	for !l.gathering.TryRLock() {
		if err := l.turn(ctx); err != nil {
			return err
		}
		<-l.flushing
	}
	if w.begins {
		clear(w.columns) // of an earlier call: its memory may have changed
		w.begins = false
	}
	err := w.add(c, l.index.options.Fields)
	if errors.Is(err, segment.ErrTooLarge) {
		if err = l.flush(true, w); err == nil {
			err = w.add(c, l.index.options.Fields)
		}
	}
	if err == nil {
		w.used.Store(w.bytes())
	}
	l.gathering.RUnlock()
	if err == nil {
		err = l.relieve(ctx)
	}
	return err
}

// turn waits until no other goroutine writes chunks. Then only the caller may write chunks, until the caller receives
// from l.flushing. If ctx ends first, turn returns an error, and the caller may not write.
func (l *Load) turn(ctx context.Context) error {
	select {
	case l.flushing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	// removedBytes is the approximate memory, in bytes, of an entry in the field removed, without the document's name.
	removedBytes = 64
	// seenBytes is the number of bytes to count for an entry in the field seen. It is twice the size of the entry,
	// because the map is on the garbage-collected heap.
	seenBytes = 32
)

// room returns how many bytes of memory all workers together may take. It reserves no memory for joining runs, because
// a load joins runs only while its workers are empty.
func (l *Load) room() int64 { return l.memoryLeft(l.gather()) }

// memoryLeft returns how many of limit bytes remain for chunks. Running merges and the names of added chunks take the
// rest. At least a quarter of limit remains, because with less, the load would write many tiny runs.
func (l *Load) memoryLeft(limit int64) int64 {
	if l.index.merge.running.Load() {
		limit = min(limit, counted(l.index.options.Memory)-mergeMemory(l.index.options.Memory))
	}
	return limit - min(l.noted.Load(), limit/2)
}

// gather returns how many bytes of memory a load may fill if nothing else uses memory.
func (l *Load) gather() int64 {
	if some := l.index.options.GatherMemory; some > 0 {
		return min(some, counted(l.index.options.Memory))
	}
	return counted(l.index.options.Memory)
}

// memoryUsed returns how many bytes of memory all workers together take.
func (l *Load) memoryUsed() (all int64) {
	for _, w := range l.all {
		all += w.used.Load()
	}
	return all
}

// relieve writes the chunks of all workers as one run, if the workers use more bytes than [Load.room] returns. While
// relieve writes, other goroutines wait before their next chunk, because writing takes memory.
func (l *Load) relieve(ctx context.Context) error {
	if l.memoryUsed() <= l.room() {
		return nil
	}
	if err := l.turn(ctx); err != nil {
		return err
	}
	defer func() { <-l.flushing }()
	l.gathering.Lock()
	defer l.gathering.Unlock()
	if l.memoryUsed() <= l.room() {
		return nil
	}
	return l.flush(true, l.all...)
}

// take waits for an idle worker, and returns the one that was used last. So a small load fills a single segment and
// learns each word in one worker only.
func (l *Load) take(ctx context.Context) (*worker, error) {
	select {
	case <-l.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.idle) - 1
	w := l.idle[last]
	l.idle = l.idle[:last]
	return w, nil
}

// putBack makes a worker idle.
func (l *Load) putBack(w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, w)
	l.free <- struct{}{}
}

// forget removes from this load the documents in the list replace, and every chunk with an identifier in chunks. A
// commit also removes them from the committed data. again is true if an identifier in chunks occurred before, in an
// earlier call or earlier in chunks.
//
// Most documents occur once in a load, and then a look-up in the set seen is enough. The caller holds w.mu. forget may
// release w.mu for a while; if the load is closed meanwhile, forget returns ErrClosed.
func (l *Load) forget(w *worker, replace []string, chunks []Chunk) (again bool, err error) {
	known, again := l.note(replace, chunks)
	if !known && !again {
		return false, nil
	}
	// Another call may be about to remove the chunks that this call adds. So this call takes the locks of all
	// workers, in one order. Until it has them, other calls may add chunks, so it looks for all names.
	w.mu.Unlock()
	for _, other := range l.all {
		other.mu.Lock()
	}
	defer func() {
		for _, other := range l.all {
			if other != w {
				other.mu.Unlock()
			}
		}
	}()
	if w.ended {
		return false, ErrClosed
	}
	ids := make([]string, len(chunks))
	for i := range chunks {
		ids[i] = chunks[i].ID
	}
	for _, other := range l.all {
		for _, doc := range replace {
			other.builder.RemoveDocument(doc)
		}
		for _, id := range ids {
			other.builder.RemoveChunk(id)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flushed {
		if err := f.remove(replace, ids); err != nil {
			return false, err
		}
	}
	return again, nil
}

// note records that the documents in replace are removed and that chunks are added. known is true if an earlier call
// added a chunk of a document in replace. again is true if an identifier in chunks was added before, by an earlier call
// or earlier in chunks.
func (l *Load) note(replace []string, chunks []Chunk) (known, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.seen)
	for _, doc := range replace {
		if _, ok := l.removed[doc]; !ok {
			l.removed[doc] = struct{}{}
			l.noted.Add(removedBytes + int64(len(doc)))
		}
		_, seen := l.seen[l.hash("d", doc)]
		known = known || seen
	}
	for i := range chunks {
		chunk := l.hash("c", chunks[i].ID)
		_, seen := l.seen[chunk]
		again = again || seen
		l.seen[chunk] = struct{}{}
		if i == 0 || chunks[i].Doc != chunks[i-1].Doc {
			l.seen[l.hash("d", chunks[i].Doc)] = struct{}{}
		}
	}
	l.noted.Add(int64(len(l.seen)-before) * seenBytes)
	return known, again
}

func (l *Load) hash(kind, s string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	_, _ = h.WriteString(kind)
	_, _ = h.WriteString(s)
	return h.Sum64()
}

func (f *flushedSegment) remove(docs, ids []string) error {
	for _, doc := range docs {
		if _, err := f.reader.Document(f.deleted, doc); err != nil {
			return err
		}
	}
	for _, id := range ids {
		ordinal, ok, err := f.reader.Find(id)
		if err != nil {
			return err
		}
		if ok {
			f.deleted.Set(ordinal)
		}
	}
	return nil
}

// After a flush, a worker keeps a part of its word cache for the next segment. This part takes at most the worker's
// memory divided by wordShare, and at most wordBytes. So the number of cached terms stays far below the limit of a
// builder.
const (
	wordShare = 8
	wordBytes = 1 << 30
)

// keptWords returns how many bytes of words a worker may keep after a flush.
func (l *Load) keptWords() int64 {
	return min(l.gather()/int64(len(l.all))/wordShare, wordBytes)
}

// spare returns how many more bytes the workers may take, or 0 if the option GatherMemory is set. While spare runs, no
// goroutine may add chunks.
func (l *Load) spare() int64 {
	if l.index.options.GatherMemory > 0 {
		return 0
	}
	return max(0, l.room()-l.memoryUsed())
}

// flush writes the chunks of workers as one run, or as one segment if run is false. No goroutine may add chunks to
// these workers meanwhile.
func (l *Load) flush(run bool, workers ...*worker) error {
	var builders []*segment.Builder
	for _, w := range workers {
		if w.builder.Len() > 0 {
			builders = append(builders, w.builder)
		}
	}
	if len(builders) > 0 {
		err := l.write(run, builders)
		if errors.Is(err, segment.ErrTooLarge) && len(builders) > 1 {
			for _, w := range workers {
				if err := l.flush(run, w); err != nil {
					return err
				}
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	for _, w := range workers {
		w.reset(l.keptWords())
		w.used.Store(w.bytes())
	}
	return nil
}

// write makes a run from builders, or a segment if run is false. The next commit publishes the segment. Making a
// segment may use the memory that the workers leave, because no goroutine adds chunks during a commit.
func (l *Load) write(run bool, builders []*segment.Builder) error {
	flush, open, spare := segment.FlushRun, segment.OpenRun, int64(0)
	if !run {
		flush, open, spare = segment.Flush, segment.Open, l.spare()
	}
	name := l.index.newName()
	path := filepath.Join(l.index.options.Dir, name)
	if err := flush(l.index.fs, path, spare, builders...); err != nil {
		return err
	}
	reader, err := open(l.index.fs, path)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.flushed = append(l.flushed, newFlushed(name, reader))
	l.mu.Unlock()
	return nil
}

func newFlushed(name string, reader *segment.Reader) *flushedSegment {
	h := newHandle(name, reader)
	return &flushedSegment{handle: h, deleted: segment.NewBitset(reader.Chunks())}
}

func (ix *Index) newName() string {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	ix.state.next++
	return fmt.Sprintf("%08d%s", ix.state.next, segmentSuffix)
}

// Commit makes all changes since the last commit durable and visible. No Add may run at the same time. After Close,
// Commit fails with ErrClosed.
func (l *Load) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var workers []*worker
	for _, w := range l.all {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.builder.Empty() {
			workers = append(workers, w)
		}
	}
	runs := l.hasRuns()
	err := l.flush(runs, workers...)
	if err == nil && runs {
		err = l.join(ctx)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if len(l.flushed) == 0 && len(l.removed) == 0 {
		return nil
	}
	slices.SortFunc(l.flushed, func(a, b *flushedSegment) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	if err := l.index.commit(l.removed, l.flushed); err != nil {
		return err
	}
	l.flushed, l.seen, l.removed = nil, map[uint64]struct{}{}, map[string]struct{}{}
	l.noted.Store(0)
	l.index.mergeInBackground(false)
	l.index.loaded.Add(int64(time.Since(l.began)))
	l.began = time.Now()
	return nil
}

// Close drops all changes that were not committed, and ends the load.
func (l *Load) Close() error {
	// An Add may be writing or reading the chunks of all workers. Locking all workers waits for it.
	for _, w := range l.all {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	for _, w := range l.all {
		w.forget()
		w.ended = true
	}
	var errs []error
	for _, f := range l.flushed {
		errs = append(errs, f.release(), l.index.drop(f.name))
	}
	l.flushed = nil // their files are gone
	errs = append(errs, l.index.give())
	l.index.writer <- struct{}{}
	return errors.Join(errs...)
}

// drop removes a segment file that is not published. After a failed publication, it keeps the file, because the file
// may be published after all. A later sweep removes a file that the manifest does not name.
func (ix *Index) drop(name string) error {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	if ix.stale {
		return nil
	}
	return ix.fs.Remove(filepath.Join(ix.options.Dir, name))
}

// commit publishes a generation with the segments in added. The other segments lose the documents in removed, and the
// chunks that the segments in added replace.
func (ix *Index) commit(removed map[string]struct{}, added []*flushedSegment) error {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	old := ix.hold()
	defer func() { _ = old.Release() }()
	next := ix.state
	next.segments = nil
	for _, v := range old.views {
		e, err := v.remainingEntry(removed, added)
		if err != nil {
			return err
		}
		if e.name != "" {
			next.segments = append(next.segments, e)
		}
	}
	for _, f := range added {
		if n := f.deleted.Count(); n < f.reader.Chunks() {
			next.segments = append(next.segments, entry{name: f.name, deleted: f.deleted.AppendRuns(nil)})
		}
	}
	return ix.publishState(next, added)
}

// remainingEntry returns the manifest entry of a view after a commit. It marks as deleted the documents in removed, and
// the chunks that the segments in added replace. If no chunk is left, the name of the entry is "".
func (v *view) remainingEntry(removed map[string]struct{}, added []*flushedSegment) (entry, error) {
	deleted := segment.NewBitset(v.reader.Chunks())
	for doc := range removed {
		if _, err := v.reader.Document(deleted, doc); err != nil {
			return entry{}, err
		}
	}
	for _, f := range added {
		err := segment.EachShared(f.reader, v.reader, func(added, old uint32) {
			if !f.deleted.Has(added) {
				deleted.Set(old)
			}
		})
		if err != nil {
			return entry{}, err
		}
	}
	if v.deleted != nil {
		deleted.Or(v.deleted)
	}
	if deleted.Count() == v.reader.Chunks() {
		return entry{}, nil
	}
	return entry{name: v.name, deleted: deleted.AppendRuns(nil)}, nil
}

// unsure records that a publication failed but may still become visible. The next writer, or the idle index, then
// publishes again. The caller holds ix.publish.
func (ix *Index) unsure() {
	ix.stale = true
	ix.startIdleTimer()
}

// publishState makes the state next the current one: it publishes the manifest and swaps the snapshot. The new snapshot
// owns the handles of the segments in added. The caller holds ix.publish.
func (ix *Index) publishState(next state, added []*flushedSegment) error {
	next.generation = ix.state.generation + 1
	next.next = ix.state.next
	m := manifest.Manifest{Generation: next.generation, Files: next.files(), Payload: next.encode()}
	if err := manifest.Publish(ix.fs, ix.options.Dir, m); err != nil {
		ix.unsure()
		return err
	}
	snapshot := newSnapshot(ix, next.generation)
	for _, e := range next.segments {
		h := shared(ix.current.Load(), e.name)
		for _, f := range added {
			if f.name == e.name {
				h = f.handle
				h.refs.Add(1)
			}
		}
		v, err := newView(h, e.deleted)
		if err != nil {
			ix.unsure()
			return errors.Join(err, h.release(), snapshot.Release())
		}
		snapshot.views = append(snapshot.views, v)
	}
	snapshot.order()
	before := ix.state.files()
	ix.state = next
	ix.seen.Store(next.generation)
	ix.swap(snapshot)
	var errs []error
	for _, f := range added {
		errs = append(errs, f.release())
		before = append(before, f.name)
	}
	ix.discard(before)
	return errors.Join(errs...)
}

// discard removes segment files that the current generation does not name. If it cannot remove a file now, a sweep
// removes it when the index is next opened for writing.
func (ix *Index) discard(names []string) {
	for _, name := range names {
		if !slices.Contains(ix.state.files(), name) {
			_ = ix.fs.Remove(filepath.Join(ix.options.Dir, name))
		}
	}
}

// validate returns an error that wraps ErrMismatch if a chunk does not fit the fields and vectors of the index.
func (ix *Index) validate(chunks []Chunk) error {
	ix.publish.Lock()
	models := ix.state.vectors // never changed in place
	ix.publish.Unlock()
	for i := range chunks {
		c := &chunks[i]
		for _, f := range c.Fields {
			if !slices.Contains(ix.options.Fields, f.Name) {
				return fmt.Errorf("%w: chunk %q has text in field %q: the index has %q", ErrMismatch, c.ID, f.Name,
					ix.options.Fields)
			}
		}
		for _, v := range c.Vectors {
			if err := validateVectors(models, c.ID, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func validateVectors(models []VectorModel, id string, v Vectors) error {
	at := slices.IndexFunc(models, func(m VectorModel) bool { return m.Field == v.Name })
	if at < 0 {
		return fmt.Errorf("%w: chunk %q has vectors in field %q, which the index was not opened with", ErrMismatch, id,
			v.Name)
	}
	for _, p := range v.Passages {
		if len(p) != models[at].Dims {
			return fmt.Errorf("%w: chunk %q: a vector of field %q has %d dimensions, the index has %d", ErrMismatch, id, v.Name,
				len(p), models[at].Dims)
		}
	}
	return nil
}
