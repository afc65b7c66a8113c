// Package embedded offers our search engine as a store that needs only a folder. Its main type is [Store].
//
// It implements store.Backend and every optional interface of that package. Its answers equal the answers of
// store/memory, if both round lengths and count chunks in the same way.
package embedded

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"
	"unsafe"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/vector"
	"sheaf/index/vfs"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Options say where the index is, and how to make and use it.
type Options struct {
	// FS is the file system; nil means the file system of the host.
	FS vfs.FS
	// Dir is the folder of the index. The first write creates a missing folder.
	Dir string
	// Analyzer makes terms from texts. An index can only be opened with the analyzer that made it.
	Analyzer *analysis.Analyzer
	// Vectors are the vector fields with their models. An index can only be opened with the models that made it. Open
	// does not check vector fields that are missing here.
	Vectors []store.VectorField
	// Lengths is the precision of field lengths in word scores. With AllChunks, idf also counts the chunks that lack
	// the field. The index does not record these two settings, so every Open may choose them.
	Lengths   bm25.Lengths
	AllChunks bool
	// MemoryBytes limits the memory for adding chunks; 0 means 256 MiB. The limit does not include the caller's memory and
	// file pages. Below LeastMemory, writes work but may exceed the limit. A load writes a part to disk when it has filled
	// GatherBytes of this memory. If GatherBytes is 0, it fills all of this memory first. The commit joins the parts.
	MemoryBytes, GatherBytes int64
	// MergeRate limits the bytes per second that background merges write; 0 means 64 MiB. With NoMerges, merges wait
	// for ResumeMerges, and an index with frequent writes becomes slow.
	MergeRate int64
	// Rest is the pause after a write before the store joins parts of the index. 0 means that the store joins no parts.
	// The store joins only parts that slow down searches and that it can join quickly. Right after opening, it waits a
	// sixteenth of Rest. Rest suits long-running programs: a short program would end in the middle of the work.
	Rest time.Duration
}

// NoMerges is the MergeRate that stops background merges.
const NoMerges = engine.NoMerges

// LeastMemory is the smallest value of MemoryBytes that the store can respect, in bytes. With a smaller value, writes
// may use more memory than allowed.
const LeastMemory = engine.LeastMemory

// Store is an open index of the engine.
type Store struct {
	index     *engine.Index
	lengths   bm25.Lengths
	allChunks bool
	// pinned is the snapshot that answers requests. If it is nil, the newest snapshot answers. released means that
	// Close has released pinned.
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

// Open opens the index in a folder. A folder without an index counts as an empty index. If another analyzer or other
// models made the index, Open fails with sheaf.ErrInvalid. If another version of the program made the index, Open fails
// with sheaf.ErrUnsupported. The message says what to do.
//
// A write locks the index until the write and the merges after it are done. While another process holds the lock,
// writes fail with sheaf.ErrUnavailable. Reads need no lock.
func Open(o Options) (*Store, error) {
	if o.Analyzer == nil {
		return nil, sheaf.Invalidf("open index %s: no analyzer", o.Dir)
	}
	models := make([]engine.VectorModel, len(o.Vectors))
	if err := store.ValidateVectorFields("index "+o.Dir, o.Vectors, vector.MaxDims); err != nil {
		return nil, err
	}
	for i, v := range o.Vectors {
		models[i] = engine.VectorModel{Field: v.Name, Model: v.Model, Dims: v.Dims}
	}
	index, err := engine.Open(engine.Options{FS: o.FS, Dir: o.Dir, Analyzer: o.Analyzer, Fields: sheaf.Fields[:],
		Vectors: models, Memory: o.MemoryBytes, GatherMemory: o.GatherBytes, MergeRate: o.MergeRate, Rest: o.Rest})
	if err != nil {
		return nil, category(err)
	}
	return &Store{index: index, lengths: o.Lengths, allChunks: o.AllChunks}, nil
}

// Empty removes the content of the index in a folder, even if another version of the program made the index. It fails
// with sheaf.ErrUnavailable while another process writes to the index.
func Empty(dir string) error { return category(engine.Empty(dir)) }

// category adds the fitting category of package sheaf, for example sheaf.ErrCorrupt, to an error of the engine.
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
	chunks := make([]engine.Chunk, len(batch.Chunks))
	var before []store.Column
	for i := range batch.Chunks {
		c, out := &batch.Chunks[i], &chunks[i]
		out.ID, out.Doc = string(c.ID), string(c.Doc)
		out.Fields, out.Vectors = make([]engine.FieldText, len(c.Fields)), make([]engine.Vectors, len(c.Vectors))
		for k, f := range c.Fields {
			out.Fields[k] = engine.FieldText(f)
		}
		for k, v := range c.Vectors {
			out.Vectors[k] = engine.Vectors(v)
		}
		// Chunks of one document often share the memory of their columns.
		if i > 0 && unsafe.SliceData(c.Columns) == unsafe.SliceData(before) && len(c.Columns) == len(before) {
			out.Columns = chunks[i-1].Columns
			continue
		}
		before = c.Columns
		out.Columns = make([]engine.Column, len(c.Columns))
		for k, column := range c.Columns {
			out.Columns[k] = engine.Column(column)
		}
	}
	return category(b.load.Add(ctx, replace, chunks))
}

func (b bulk) Commit(ctx context.Context) error { return category(b.load.Commit(ctx)) }

func (b bulk) Close() error { return category(b.load.Close()) }

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	snapshot, r, err := s.begin(req)
	if err != nil {
		return nil, err
	}
	hits, err := snapshot.Search(ctx, r)
	return hits, release(snapshot, err)
}

// Pin implements [store.Pinner]. A write or a merge through the snapshot changes the index, but not the snapshot.
func (s *Store) Pin() (store.Backend, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return &Store{index: s.index, lengths: s.lengths, allChunks: s.allChunks, pinned: snapshot}, nil
}

// acquire returns the pinned snapshot, or the newest one if none is pinned. The caller must release the snapshot.
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
	snapshot, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return out, release(snapshot, snapshot.Scores(ctx, out, translated, ids, len(reqs)-1))
}

// begin converts a request, and returns it with the snapshot that answers it. The caller must release the snapshot.
func (s *Store) begin(req store.Request) (*engine.Snapshot, engine.Request, error) {
	translated, err := s.translate(req)
	if err != nil {
		return nil, translated, err
	}
	snapshot, err := s.acquire()
	return snapshot, translated, err
}

// release releases a snapshot. It returns err, the error of reading the snapshot, in a category of package sheaf.
func release(snapshot *engine.Snapshot, err error) error {
	return category(errors.Join(err, snapshot.Release()))
}

// translate checks a request and converts it to the engine's form.
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
	snapshot, r, err := s.begin(req)
	if err != nil {
		return nil, err
	}
	explanations, err := snapshot.Explain(ctx, r, ids)
	return explanations, release(snapshot, err)
}

// Matches implements [store.Matcher].
func (s *Store) Matches() bool { return true }

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	snapshot, r, err := s.begin(req)
	if err != nil {
		return 0, err
	}
	n, err := snapshot.Count(ctx, r)
	return n, release(snapshot, err)
}

// Stats implements [store.Reporter].
func (s *Store) Stats(context.Context) (store.Stats, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return store.Stats{}, err
	}
	st := snapshot.Stats()
	return store.Stats{Chunks: st.Chunks, Bytes: st.Bytes, Parts: st.Parts, Vectors: st.Vectors,
		Generation: st.Generation}, release(snapshot, nil)
}

// Version implements [store.Versioned]. Versions only grow.
func (s *Store) Version() (uint64, error) {
	snapshot, err := s.acquire()
	if err != nil {
		return 0, err
	}
	return snapshot.Generation(), release(snapshot, nil)
}

// Recall implements [store.RecallMeter].
func (s *Store) Recall(ctx context.Context, o store.RecallOptions) ([]store.Recall, error) {
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
	snapshot, err := s.acquire()
	if err != nil {
		return nil, err
	}
	measured, err := snapshot.Recall(ctx, options)
	out := make([]store.Recall, len(measured))
	for i, r := range measured {
		out[i] = store.Recall{Field: r.Field, Dims: r.Dims, Passages: r.Passages, Queries: r.Queries, At10: r.At10,
			At100: r.At100, Originals: r.Originals, Float10: r.Float10, Float100: r.Float100, Exhaustive: r.Exhaustive,
			SearchMillis: r.Search.Seconds() * 1e3, BruteForceMillis: r.BruteForce.Seconds() * 1e3}
	}
	return out, release(snapshot, err)
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

// Merge joins the index into one segment without deleted chunks, for the fastest searches. It rewrites the index.
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
