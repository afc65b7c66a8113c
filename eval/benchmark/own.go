package benchmark

import (
	"cmp"
	"context"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/rank"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// Own returns Sheaf's embedded engine for a task, or nil for an unknown task. The engine gets the same requests as in a
// search with a profile.
func Own(task Task, m Meta) Engine {
	switch task {
	case TaskWords, TaskVectors, TaskHybrid:
		return &ownTask{task: task, dims: m.Dims}
	}
	return nil
}

type ownTask struct {
	task   Task
	dims   int
	memory int64 // memory limit of a build; 0 is the engine's default
	store  *embedded.Store
}

// Version implements [Engine]. It returns "", because the engine has the version of this program.
func (e *ownTask) Version() string { return "" }

func (e *ownTask) Open(dir string) error {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		return err
	}
	o := embedded.Options{Dir: dir, Analyzer: a, MemoryBytes: e.memory}
	if e.task != TaskWords {
		o.Vectors = []store.VectorField{{Name: store.VectorBody, Model: "bench", Dims: e.dims}}
	}
	e.store, err = embedded.Open(o)
	return err
}

func (e *ownTask) Close() error { return e.store.Close() }

// batchChunks is the largest number of chunks in one batch for Sheaf's engine.
const batchChunks = 2000

// Build implements [Engine]. It adds batches on all processors at the same time.
func (e *ownTask) Build(ctx context.Context, dir string, docs []Document, vectors [][]float32) error {
	if err := e.Open(dir); err != nil {
		return err
	}
	w, err := e.store.Bulk(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // a second Close after a successful load does nothing
	adding, all := errgroup.WithContext(ctx)
	adding.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(docs) && all.Err() == nil; from += batchChunks {
		adding.Go(func() error { return w.Add(all, e.batch(docs, vectors, from)) })
	}
	if err := cmp.Or(adding.Wait(), ctx.Err()); err != nil {
		return err
	}
	if err := w.Commit(ctx); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return e.Close()
}

// batch returns at most batchChunks documents as chunks for Sheaf's engine. The first is docs[from].
func (e *ownTask) batch(docs []Document, vectors [][]float32, from int) (batch store.Batch) {
	for i := from; i < min(from+batchChunks, len(docs)); i++ {
		c := store.Chunk{ID: sheaf.ID(docs[i].ID), Doc: sheaf.ID(docs[i].ID)}
		if e.task != TaskVectors {
			c.Fields = []store.Field{{Name: sheaf.FieldTitle, Text: docs[i].Title}, {Name: sheaf.FieldBody, Text: docs[i].Text}}
		}
		if e.task != TaskWords {
			c.Vectors = []store.Vectors{{Name: store.VectorBody, Passages: vectors[i : i+1]}}
		}
		batch.Chunks = append(batch.Chunks, c)
	}
	return batch
}

func (e *ownTask) Ask(ctx context.Context, text string, vector []float32) ([]string, error) {
	words := store.Request{Limit: Top, Text: &store.TextRequest{
		Query: sheaf.Match{Text: text}, K1: store.DefaultK1, B: store.DefaultB,
		Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 1}, {Name: sheaf.FieldBody, Weight: 1}},
	}}
	nearest := store.Request{Limit: Top, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: vector}}
	var found sheaf.Ranking
	var err error
	switch e.task {
	case TaskWords:
		found, err = e.store.Retrieve(ctx, words)
	case TaskVectors:
		found, err = e.store.Retrieve(ctx, nearest)
	default:
		words.Limit, nearest.Limit = Pool, Pool
		var legs [2]rank.Leg
		for k, req := range []store.Request{words, nearest} {
			hits, err := e.store.Retrieve(ctx, req)
			if err != nil {
				return nil, err
			}
			legs[k] = rank.Leg{Name: "leg" + strconv.Itoa(k), Hits: hits, Weight: 1}
		}
		found, err = rank.RRF{K: 60}.Fuse(legs[:])
	}
	ids := make([]string, 0, Top)
	for _, h := range found[:min(Top, len(found))] {
		ids = append(ids, string(h.ID))
	}
	return ids, err
}
