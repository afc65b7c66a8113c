package benchmark

import (
	"context"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/rank"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// Own is our own engine: the embedded engine with the requests of profiles.
func Own(task Task, m Meta) Engine {
	switch task {
	case TaskWords, TaskVectors, TaskHybrid:
		return &own{task: task, dims: m.Dims}
	}
	return nil
}

type own struct {
	task   Task
	dims   int
	memory int64 // that the engine may use while it builds; 0 is its default
	store  *embedded.Store
}

// Version implements [Engine]. The engine has no version of its own, because it is this program.
func (e *own) Version() string { return "" }

// Open implements [Engine].
func (e *own) Open(dir string) error {
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

// Close implements [Engine].
func (e *own) Close() error { return e.store.Close() }

// batchChunks is how many chunks the engine gets at a time.
const batchChunks = 2000

// Build implements [Engine].
func (e *own) Build(ctx context.Context, dir string, docs []Document, vectors [][]float32) error {
	from := 0
	return e.build(ctx, dir, func() ([]Document, [][]float32, error) {
		to := min(from+batchChunks, len(docs))
		part, rows := docs[from:to], [][]float32(nil)
		if e.task != TaskWords {
			rows = vectors[from:to]
		}
		from = to
		return part, rows, nil
	})
}

// build indexes what next returns, as [feed] calls it.
func (e *own) build(ctx context.Context, dir string, next func() ([]Document, [][]float32, error)) error {
	if err := e.Open(dir); err != nil {
		return err
	}
	w, err := e.store.Bulk(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // a second Close after a successful load does nothing
	err = feed(ctx, next, func(ctx context.Context, docs []Document, vectors [][]float32) error {
		return w.Add(ctx, e.batch(docs, vectors))
	})
	if err != nil {
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

// feed passes the results of next to add, on all processors, until next returns nothing. Only one goroutine at a
// time calls next.
func feed(ctx context.Context, next func() ([]Document, [][]float32, error),
	add func(context.Context, []Document, [][]float32) error) error {
	var mu sync.Mutex
	adding, all := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		adding.Go(func() error {
			for {
				mu.Lock()
				docs, vectors, err := next()
				mu.Unlock()
				if err != nil || len(docs) == 0 {
					return err
				}
				if err := add(all, docs, vectors); err != nil {
					return err
				}
			}
		})
	}
	return adding.Wait()
}

// batch returns what the engine indexes of documents.
func (e *own) batch(docs []Document, vectors [][]float32) (batch store.Batch) {
	for i := range docs {
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

// Ask implements [Engine].
func (e *own) Ask(ctx context.Context, text string, vector []float32) ([]string, error) {
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
