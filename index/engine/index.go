// Package engine is an index on disk. It consists of immutable segments of posting lists, columns and vectors, and an
// atomic manifest publishes them. The main types are [Index], an open folder; [Load], a set of changes; and
// [Snapshot], the index at one moment. The changes of a load become durable and visible together.
//
// There is one writer at a time. While the writer loads or merges, a lock file excludes other writers. Other processes
// can still read. Readers hold snapshots, take no lock and never wait. A merge drops deleted chunks; until then, the
// manifest has a bitmap of them.
//
// Scores are those of package bm25 over the chunks that are not deleted. Top-k retrieval skips chunks that cannot be
// among the best. It returns exactly what scoring every match would return, ties included. doc/formats describes the
// file formats.
//
// The package knows which chunks belong to a document, and nothing else about documents. See store/embedded for the
// engine as a store.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sheaf/index/engine/segment"
	"sheaf/index/engine/vector"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/text/analysis"
)

// These are the categories of errors. Errors of the file system are returned unchanged.
var (
	// ErrCorrupt means that stored bytes have changed since they were written.
	ErrCorrupt = vfs.ErrCorrupt
	// ErrMismatch means that the index was made with another analyzer or other vectors. Data that does not fit the
	// index also gives this error.
	ErrMismatch = errors.New("the index was made with other settings")
	// ErrVersion means that another version of this program wrote the index.
	ErrVersion = vfs.ErrVersion
	// ErrLocked means that another process writes to the index.
	ErrLocked = vfs.ErrLocked
	// ErrClosed means that the index was closed.
	ErrClosed = errors.New("the index is closed")
)

const (
	manifestName  = manifest.Name
	lockName      = "LOCK"
	segmentSuffix = ".seg"
	// DefaultMemory is the default of Options.Memory, in bytes.
	DefaultMemory = 256 << 20
	// LeastMemory is the lowest limit that the engine can hold, in bytes. With a lower value of Options.Memory, building
	// may take more memory than allowed.
	LeastMemory = 4 * baseMemory
	// baseMemory is roughly how many bytes building takes besides the counted memory: for buffers, file data, garbage.
	baseMemory = 16 << 20
)

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(format, args...))
}

// Options say where an index is and how to make and open it.
type Options struct {
	// FS is the file system. nil means the file system of the host.
	FS vfs.FS
	// Dir is the folder of the index. The first write creates it.
	Dir string
	// Analyzer makes terms from text. An index can be opened only with the analyzer that made it.
	Analyzer *analysis.Analyzer
	// Fields are the indexed text fields, at most segment.MaxFields. Load.Add refuses a chunk with another field.
	Fields []string
	// Vectors are the vector fields and their models. An index can be opened only with the models that made it. Open
	// does not compare fields that are missing here.
	Vectors []VectorModel
	// Memory limits the memory for adding and writing chunks, in bytes. File pages and the caller's memory do not count. 0
	// means DefaultMemory; see also LeastMemory. Background merges of several segments take at most half of Memory. A load
	// writes a run when its chunks take GatherMemory bytes; 0 means all of Memory.
	Memory, GatherMemory int64
	// MergeRate limits the bytes that background merges write in a second. 0 means DefaultMergeRate. The value NoMerges
	// pauses background merges until ResumeMerges.
	MergeRate int64
	// Rest is the time without a load after which an idle index joins segments. The index chooses segments that slow
	// down searches and that are quick to join. After Open, a sixteenth of Rest is enough. 0 means that an idle index
	// joins no segments.
	Rest time.Duration
}

// VectorModel names the model of a vector field.
type VectorModel struct {
	Field string
	Model string
	Dims  int
}

// Index is an open index. All methods are safe for concurrent use. Close it when done.
type Index struct {
	options Options
	fs      vfs.FS

	current atomic.Pointer[Snapshot]
	writing atomic.Bool   // this process holds the lock, so no other publishes
	seen    atomic.Uint64 // the generation of current
	refresh sync.Mutex    // one refresh at a time

	writer chan struct{} // holds one token: the right to load

	publish sync.Mutex // guards the fields below, and publication
	lock    io.Closer  // nil while nothing is written
	users   int        // running loads and merges
	state   state      // of the manifest
	stale   bool       // publication failed: the manifest may be the old or the new one

	searching atomic.Int32 // searches that use a processor now

	loaded atomic.Int64 // time of loads since the last call of settle, in nanoseconds
	closed atomic.Bool
	stop   context.Context
	cancel context.CancelFunc
	merge  mergeState
}

// counted returns how many of the allowed bytes the engine may take for the data that it counts. The rest is for
// baseMemory.
func counted(allowed int64) int64 { return allowed - min(baseMemory, allowed/4) }

// Open opens the index in a folder. A missing index counts as empty. Open reads little, even from a large index.
func Open(o Options) (*Index, error) {
	if o.FS == nil {
		o.FS = vfs.Disk{}
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	paused := o.MergeRate < 0
	if o.MergeRate <= 0 {
		o.MergeRate = DefaultMergeRate
	}
	if len(o.Fields) == 0 || len(o.Fields) > segment.MaxFields {
		return nil, fmt.Errorf("open index %s: %d text fields: must be 1 to %d", o.Dir, len(o.Fields), segment.MaxFields)
	}
	if err := vector.Supported(); err != nil {
		return nil, fmt.Errorf("open index %s: %w", o.Dir, err)
	}
	ix := &Index{options: o, fs: o.FS, writer: make(chan struct{}, 1)}
	ix.writer <- struct{}{}
	ix.stop, ix.cancel = context.WithCancel(context.Background())
	if paused {
		ix.PauseMerges()
	}
	if o.Rest > 0 {
		ix.merge.rest = time.AfterFunc(o.Rest, ix.idleMerge)
	}
	if err := ix.load(); err != nil {
		ix.cancel()
		ix.stopIdleTimer()
		return nil, fmt.Errorf("open index %s: %w", o.Dir, err)
	}
	if ix.merge.rest != nil {
		ix.merge.rest.Reset(o.Rest / restOpened)
	}
	return ix, nil
}

// load reads the newest published manifest, and makes its state the current snapshot.
func (ix *Index) load() error {
	var s state
	snapshot, m, err := manifest.Open(ix.fs, ix.options.Dir, func(m manifest.Manifest) (*Snapshot, error) {
		var err error
		if s, err = decodeState(m); err != nil {
			return nil, err
		}
		if err := ix.matches(&s); err != nil {
			return nil, err
		}
		return ix.open(&s, m.Generation)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Numbers begin with the time. So a reader of an earlier index in this folder cannot mistake new files for
		// old ones.
		first := uint64(time.Now().UnixMilli())
		s = state{generation: first, analyzer: ix.options.Analyzer.Name(), vectors: ix.options.Vectors, next: first}
		snapshot, err = ix.open(&s, first)
	case errors.Is(err, ErrVersion):
		err = fmt.Errorf("%w: rebuild the index", err)
	}
	if err != nil {
		return err
	}
	ix.state = s
	ix.seen.Store(m.Generation) // 0 when nothing is published: another process may publish an early time
	ix.swap(snapshot)
	return nil
}

// open returns a snapshot of the state s, with this generation number. It opens only the segments that the current
// snapshot does not have.
func (ix *Index) open(s *state, generation uint64) (*Snapshot, error) {
	snapshot := newSnapshot(ix, generation)
	old := ix.hold()
	defer func() {
		if old != nil {
			_ = old.Release() // an error does not matter here: others still use the snapshot
		}
	}()
	for _, entry := range s.segments {
		h := shared(old, entry.name)
		if h == nil {
			reader, err := segment.Open(ix.fs, filepath.Join(ix.options.Dir, entry.name))
			if err != nil {
				return nil, errors.Join(err, snapshot.Release())
			}
			h = newHandle(entry.name, reader)
		}
		v, err := newView(h, entry.deleted)
		if err != nil {
			return nil, errors.Join(err, h.release(), snapshot.Release())
		}
		snapshot.views = append(snapshot.views, v)
	}
	snapshot.order()
	return snapshot, nil
}

// shared returns the handle of a segment in a snapshot and adds a reference. It returns nil if the snapshot lacks the
// segment.
func shared(s *Snapshot, name string) *handle {
	if s == nil {
		return nil
	}
	for _, v := range s.views {
		if v.name == name {
			v.refs.Add(1)
			return v.handle
		}
	}
	return nil
}

// hold returns the current snapshot and adds a reference to it. It returns nil if there is no snapshot.
func (ix *Index) hold() *Snapshot {
	for {
		s := ix.current.Load()
		if s == nil || s.Acquire() {
			return s
		}
	}
}

// swap makes s the current snapshot, and releases the previous one.
func (ix *Index) swap(s *Snapshot) {
	if old := ix.current.Swap(s); old != nil {
		_ = old.Release() // a failure to unmap does not concern readers of s
	}
	ix.startIdleTimer()
}

// Acquire returns the newest snapshot. The caller must release it. After Close, Acquire fails with ErrClosed.
func (ix *Index) Acquire() (*Snapshot, error) {
	if ix.closed.Load() {
		return nil, ErrClosed
	}
	if err := ix.follow(); err != nil {
		return nil, err
	}
	s := ix.hold()
	if s == nil {
		return nil, ErrClosed
	}
	return s, nil
}

// follow loads the newest generation, if another process has published one.
func (ix *Index) follow() error {
	if ix.writing.Load() {
		return nil
	}
	g, err := manifest.Generation(ix.fs, ix.options.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // nothing is written yet, or the folder is gone; keep what is open
	case err != nil:
		return fmt.Errorf("open index %s: %w", ix.options.Dir, err)
	case g == ix.seen.Load():
		return nil
	}
	ix.refresh.Lock()
	defer ix.refresh.Unlock()
	if g == ix.seen.Load() {
		return nil // another reader loaded it meanwhile
	}
	ix.publish.Lock()
	defer ix.publish.Unlock()
	if ix.lock != nil || ix.closed.Load() {
		return nil
	}
	return ix.load()
}

// matches returns an error that wraps ErrMismatch if a state does not fit the options of the index. It adds to the
// state the vector fields that only the options have.
func (ix *Index) matches(s *state) error {
	if want := ix.options.Analyzer.Name(); s.analyzer != want {
		return fmt.Errorf("%w: its analyzer is %q, not %q: use that one, or rebuild the index", ErrMismatch, s.analyzer, want)
	}
	for _, want := range ix.options.Vectors {
		known := false
		for _, v := range s.vectors {
			if v.Field == want.Field {
				known = true
				if v != want {
					return fmt.Errorf("%w: vector field %q was made by model %q with %d dimensions, not by %q with %d: use that "+
						"model, or rebuild the index",
						ErrMismatch, v.Field, v.Model, v.Dims, want.Model, want.Dims)
				}
			}
		}
		if !known {
			s.vectors = append(s.vectors, want)
		}
	}
	return nil
}

// take makes this process the writer, until give was called as often as take. Loads and merges call both. So other
// processes can write while no load or merge runs here.
func (ix *Index) take() error {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	err := error(nil)
	switch {
	case ix.stop.Err() != nil:
		err = ErrClosed
	case ix.lock == nil:
		err = ix.takeLock()
	case ix.stale:
		err = ix.publishAgain()
	}
	if err == nil {
		ix.users++
	}
	return err
}

// give ends the right to write that one call of take gave. The last give releases the lock, except after a failed
// publication: another process must not make the failed change visible.
func (ix *Index) give() error {
	ix.publish.Lock()
	defer ix.publish.Unlock()
	if ix.users--; ix.users > 0 || ix.stale {
		return nil
	}
	return ix.giveLock()
}

// giveLock releases the lock of the index, so that other processes can write. The caller holds ix.publish.
func (ix *Index) giveLock() error {
	if ix.lock == nil {
		return nil // the index was closed meanwhile
	}
	err := ix.lock.Close()
	ix.lock = nil
	ix.writing.Store(false)
	return err
}

// takeLock takes the lock and loads the generation that other processes have published. The caller holds ix.publish.
func (ix *Index) takeLock() error {
	if err := ix.fs.MkdirAll(ix.options.Dir); err != nil {
		return err
	}
	lock, err := ix.fs.Lock(filepath.Join(ix.options.Dir, lockName))
	if err != nil {
		return err
	}
	if g, unknown := manifest.Generation(ix.fs, ix.options.Dir); unknown != nil || g != ix.seen.Load() {
		err = ix.load()
	}
	if err == nil {
		err = manifest.Sweep(ix.fs, ix.options.Dir, manifest.Manifest{Files: ix.state.files()}, ix.isSegment)
	}
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	ix.lock = lock
	ix.writing.Store(true)
	return nil
}

// publishAgain publishes the current state again after a failed publication. Otherwise the failed change could become
// visible later. The caller holds ix.publish.
func (ix *Index) publishAgain() error {
	next := ix.state
	next.generation += 2 // the failed one may exist
	m := manifest.Manifest{Generation: next.generation, Files: next.files(), Payload: next.encode()}
	if err := manifest.Publish(ix.fs, ix.options.Dir, m); err != nil {
		return err
	}
	ix.state, ix.stale = next, false // no sweep: a merge may be writing a segment
	ix.seen.Store(next.generation)
	return nil
}

// Empty removes the index in a folder. An open Index keeps its chunks until the next load, which starts with an empty
// index. If another process writes there, Empty fails with ErrLocked and removes nothing.
func Empty(dir string) error {
	lock, err := vfs.Disk{}.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the folder does not exist
	}
	if err != nil {
		return fmt.Errorf("empty index %s: %w", dir, err)
	}
	// The manifest goes first; otherwise readers would miss the files that it names.
	gone := os.RemoveAll(filepath.Join(dir, manifestName))
	entries, err := os.ReadDir(dir)
	errs := []error{gone, err}
	for _, e := range entries {
		if e.Name() != lockName { // another process may be taking it
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(append(errs, lock.Close())...)
}

func (ix *Index) isSegment(name string) bool { return strings.HasSuffix(name, segmentSuffix) }

// Close stops merges and waits for them. If loads have left many small segments, Close first joins some of them. This
// takes at most a small part of the time that the loads took. Held snapshots stay valid until their release.
func (ix *Index) Close() error {
	if ix.closed.Swap(true) {
		return nil
	}
	ix.stopIdleTimer()
	ix.settle()
	ix.cancel()
	<-ix.writer                            // waits for the open load
	ix.waitForMerges(context.Background()) // no other begins
	ix.publish.Lock()
	defer ix.publish.Unlock()
	var err error
	if s := ix.current.Swap(nil); s != nil {
		err = s.Release()
	}
	return errors.Join(err, ix.giveLock())
}
