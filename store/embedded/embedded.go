// Package embedded is the engine of this module as a backend: the store that
// needs nothing but a folder. Its main type is [Store].
//
// It meets store.Backend and every optional interface of that package. What it
// answers equals what store/memory answers that counts alike.
package embedded

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/vector"
	"sheaf/index/vfs"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Options say where an index is and what it is made with.
type Options struct {
	// FS is the file system; nil is the host's.
	FS vfs.FS
	// Dir is the folder of the index, which the first write makes.
	Dir string
	// Analyzer makes terms of texts. An index can only be opened with the
	// analyzer it was made with.
	Analyzer *analysis.Analyzer
	// Vectors are the vector fields with the models that fill them. An index
	// can only be opened with the models it was made with; fields that are
	// not named here are not compared.
	Vectors []store.VectorField
	// Lengths says how exactly lengths of fields count when words are scored, and
	// AllChunks that idf counts the chunks without the field too. They belong to the
	// open store, not to the index: all ways answer from the same one.
	Lengths   bm25.Lengths
	AllChunks bool
	// MemoryBytes bounds the memory that is taken while chunks are added, without what the
	// caller holds and pages of files; 0 is 256 MiB. With less than LeastMemory building
	// works and may take more than is allowed. GatherBytes bounds what of it is gathered
	// before it is written to disk, to be joined when it is committed; 0 is all of it.
	MemoryBytes, GatherBytes int64
	// MergeRate bounds how many bytes merges in the background write in a second;
	// 0 is 64 MiB. With NoMerges they wait for ResumeMerges, and indexes that are
	// written to often grow slow.
	MergeRate int64
	// Rest is after how long without a write parts of the index are joined that make searches
	// slow and are quickly joined, beside searches and hardly in their way, and a sixteenth of it
	// after the index was opened; 0 is never. It is for programs that go on: those that answer
	// and end would leave it half done.
	Rest time.Duration
	// ReadOnly forbids writing; then the folder need not be writable, but it
	// must exist.
	ReadOnly bool
}

// NoMerges is a merge rate: none.
const NoMerges = engine.NoMerges

// LeastMemory is the least MemoryBytes that bound what building takes.
const LeastMemory = engine.LeastMemory

// Store is an open index.
type Store struct {
	index     *engine.Index
	lengths   bm25.Lengths
	allChunks bool
	// pinned is the state that requests are answered of, nil for the newest;
	// released, that it was given back.
	pinned   *engine.Snapshot
	released atomic.Bool
}

var _ interface {
	store.Backend
	store.Bulk
	store.Explainer
	store.Counter
	store.Matcher
	store.Pinner
	store.Reporter
	store.Checker
	store.RecallMeter
} = (*Store)(nil)

// Open opens the index in a folder. A folder without one is an empty index, or
// sheaf.ErrNotFound for ReadOnly. An index that was made with another analyzer or
// other models is sheaf.ErrInvalid, one that another version of the program made
// sheaf.ErrUnsupported; the message says what to do.
//
// A write takes the index's lock until it and the merges that follow it are done; while
// another process holds it, writes are sheaf.ErrUnavailable and reads go on.
func Open(o Options) (*Store, error) {
	if o.Analyzer == nil {
		return nil, sheaf.Invalidf("open index %s: no analyzer", o.Dir)
	}
	models := make([]engine.VectorModel, len(o.Vectors))
	for i, v := range o.Vectors {
		if v.Name == "" || v.Dims < 1 || v.Dims > 1<<16 {
			return nil, sheaf.Invalidf("open index %s: vector field %q has %d dimensions: must be 1..65536", o.Dir, v.Name,
				v.Dims)
		}
		models[i] = engine.VectorModel{Field: v.Name, Model: v.Model, Dims: v.Dims}
	}
	index, err := engine.Open(engine.Options{FS: o.FS, Dir: o.Dir, Analyzer: o.Analyzer, Fields: sheaf.Fields[:],
		Vectors: models, Memory: o.MemoryBytes, GatherMemory: o.GatherBytes, MergeRate: o.MergeRate, Rest: o.Rest,
		ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, category(err)
	}
	return &Store{index: index, lengths: o.Lengths, allChunks: o.AllChunks}, nil
}

// Empty removes what the index in a folder holds, whatever made it. It is
// sheaf.ErrUnavailable while another process writes there.
func Empty(dir string) error { return category(engine.Empty(dir)) }

// category puts the engine's errors into those of the root package.
func category(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range []struct{ from, to error }{
		{engine.ErrCorrupt, sheaf.ErrCorrupt},
		{engine.ErrMismatch, store.ErrMadeOtherwise},
		{engine.ErrVersion, sheaf.ErrUnsupported},
		{vector.ErrUnsupported, sheaf.ErrUnsupported},
		{engine.ErrLocked, sheaf.ErrUnavailable},
		{engine.ErrReadOnly, sheaf.ErrUnsupported},
		{engine.ErrClosed, sheaf.ErrUnavailable},
		{fs.ErrNotExist, sheaf.ErrNotFound},
	} {
		if errors.Is(err, c.from) {
			return sheaf.WithCategory(c.to, err)
		}
	}
	return err
}

// Write implements [store.Backend].
func (s *Store) Write(ctx context.Context, batch store.Batch) error {
	load, err := s.Bulk(ctx)
	if err != nil {
		return err
	}
	err = load.Add(ctx, batch)
	if err == nil {
		err = load.Commit(ctx)
	}
	return errors.Join(err, load.Close())
}

// Delete implements [store.Backend].
func (s *Store) Delete(ctx context.Context, docs []sheaf.ID) error {
	return s.Write(ctx, store.Batch{Replace: docs})
}

// Bulk implements [store.Bulk].
func (s *Store) Bulk(ctx context.Context) (store.BulkWriter, error) {
	load, err := s.index.Begin(ctx)
	if err != nil {
		return nil, category(err)
	}
	return bulk{load}, nil
}

type bulk struct{ load *engine.Load }

func (b bulk) Add(ctx context.Context, batch store.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	replace := make([]string, len(batch.Replace))
	for i, id := range batch.Replace {
		replace[i] = string(id)
	}
	t := translations.Get().(*translation)
	defer t.release()
	return category(b.load.Add(ctx, replace, t.chunks(batch.Chunks)))
}

func (b bulk) Commit(ctx context.Context) error { return category(b.load.Commit(ctx)) }

func (b bulk) Close() error { return category(b.load.Close()) }

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	var ranking sheaf.Ranking
	err := s.answer(req, func(snapshot *engine.Snapshot, r engine.Request) (err error) {
		ranking, err = snapshot.Search(ctx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ranking, nil
}

// Pin implements [store.Pinner]. What is written to it, or merged, goes to the
// index and is not seen.
func (s *Store) Pin() (store.Backend, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return &Store{index: s.index, lengths: s.lengths, allChunks: s.allChunks, pinned: snapshot}, nil
}

// acquire is the pinned snapshot, or the newest; release it.
func (s *Store) acquire() (*engine.Snapshot, error) {
	if s.pinned == nil {
		snapshot, err := s.index.Acquire()
		return snapshot, category(err)
	}
	if s.released.Load() || !s.pinned.Acquire() {
		return nil, category(engine.ErrClosed)
	}
	return s.pinned, nil
}

// Scores implements [store.Scorer].
func (s *Store) Scores(ctx context.Context, reqs []store.Request, ids []sheaf.ID) ([][]float64, error) {
	translated, out := make([]engine.Request, len(reqs)), make([][]float64, len(reqs))
	for i, req := range reqs {
		if req.Text == nil {
			return nil, sheaf.Invalidf("scores: request %d is not about words", i+1)
		}
		req.Within, req.Limit = nil, 1
		var err error
		if translated[i], err = s.translate(req); err != nil {
			return nil, err
		}
		out[i] = make([]float64, len(ids))
	}
	err := s.read(func(snapshot *engine.Snapshot) error {
		return snapshot.Scores(ctx, out, translated, ids, len(reqs)-1)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// answer translates a request and runs it.
func (s *Store) answer(req store.Request, run func(*engine.Snapshot, engine.Request) error) error {
	translated, err := s.translate(req)
	if err != nil {
		return err
	}
	return s.read(func(snapshot *engine.Snapshot) error { return run(snapshot, translated) })
}

// translate checks a request and makes one of the engine of it.
func (s *Store) translate(req store.Request) (engine.Request, error) {
	if err := req.Validate(); err != nil {
		return engine.Request{}, err
	}
	out := engine.Request{Limit: req.Limit, Filter: req.Filter, Within: req.Within}
	t := req.Text
	if v := req.Vector; v != nil {
		out.Vector, t = &engine.Vector{Field: v.Field, Vector: v.Vector, Candidates: v.Candidates}, v.Matching
	}
	if t == nil {
		return out, nil
	}
	out.Words = &engine.Words{Query: t.Query, Combine: engine.Combine(t.Combine), TieBreaker: t.TieBreaker, K1: t.K1,
		B: t.B, Lengths: s.lengths, AllChunks: s.allChunks, Candidates: t.Statistics == store.StatisticsCandidates,
		Among: t.Among, Fields: make([]engine.FieldWeight, len(t.Fields))}
	for i, f := range t.Fields {
		out.Words.Fields[i] = engine.FieldWeight(f)
	}
	return out, nil
}

// Explain implements [store.Explainer].
func (s *Store) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	var out []*sheaf.Explanation
	err := s.answer(req, func(snapshot *engine.Snapshot, r engine.Request) (err error) {
		out, err = snapshot.Explain(ctx, r, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// read runs something on the newest snapshot, or the pinned one.
func (s *Store) read(run func(*engine.Snapshot) error) error {
	snapshot, err := s.acquire()
	if err != nil {
		return err
	}
	err = run(snapshot)
	return category(errors.Join(err, snapshot.Release()))
}

// Matches implements [store.Matcher].
func (s *Store) Matches() bool { return true }

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	n := 0
	err := s.answer(req, func(snapshot *engine.Snapshot, r engine.Request) (err error) {
		n, err = snapshot.Count(ctx, r)
		return err
	})
	return n, err
}

// Stats implements [store.Reporter].
func (s *Store) Stats(context.Context) (store.Stats, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return store.Stats{}, err
	}
	st := snapshot.Stats()
	return store.Stats{Chunks: st.Chunks, Bytes: st.Bytes, Parts: st.Parts, Vectors: st.Vectors,
		Generation: st.Generation}, category(snapshot.Release())
}

// Version implements [store.Versioned]. It grows.
func (s *Store) Version() (uint64, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return 0, err
	}
	return snapshot.Generation(), category(snapshot.Release())
}

// Recall implements [store.RecallMeter].
func (s *Store) Recall(ctx context.Context, o store.RecallOptions) ([]store.Recall, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return nil, err
	}
	options := engine.RecallOptions{Queries: o.Queries, Progress: o.Progress}
	if o.Originals != nil {
		options.Originals = func(ctx context.Context, yield func(field, chunk string, passages [][]float32)) error {
			return o.Originals(ctx, func(chunks []store.Chunk) {
				for i := range chunks {
					for _, v := range chunks[i].Vectors {
						yield(v.Name, string(chunks[i].ID), v.Passages)
					}
				}
			})
		}
	}
	measured, err := snapshot.Recall(ctx, options)
	out := make([]store.Recall, len(measured))
	for i, r := range measured {
		out[i] = store.Recall{Field: r.Field, Dims: r.Dims, Passages: r.Passages, Queries: r.Queries, At10: r.At10,
			At100:     r.At100,
			Originals: r.Originals, Float10: r.Float10, Float100: r.Float100,
			Exhaustive: r.Exhaustive, SearchMillis: r.Search.Seconds() * 1e3, BruteForceMillis: r.BruteForce.Seconds() * 1e3}
	}
	return out, category(errors.Join(err, snapshot.Release()))
}

// Check implements [store.Checker].
func (s *Store) Check(ctx context.Context, progress func(done, total int64)) []error {
	snapshot, err := s.acquire()
	if err != nil {
		return []error{err}
	}
	faults := snapshot.Check(ctx, progress)
	for i, err := range faults {
		faults[i] = category(err)
	}
	if err := snapshot.Release(); err != nil {
		faults = append(faults, err)
	}
	return faults
}

// Merge makes one segment of the whole index, without deleted chunks: searches
// are fastest then. It takes as long as writing the index once.
func (s *Store) Merge(ctx context.Context) error { return category(s.index.Merge(ctx)) }

// Close implements [store.Backend].
func (s *Store) Close() error {
	if s.pinned == nil {
		return category(s.index.Close())
	}
	if s.released.Swap(true) {
		return nil
	}
	return category(s.pinned.Release())
}
