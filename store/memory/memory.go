// Package memory is a brute-force store in memory, as plain as possible. It specifies the answers of every store. Tests
// use it as the oracle: they compare the answers of other stores with its answers. It is not for large collections.
//
// Words are scored like Lucene's BM25Similarity since version 8, without the factor k1+1. The score is idf ln(1 + (N -
// df + 0.5)/(df + 0.5)) times saturation tf/(tf + k1(1 - b + b len/avg)). N and avg count the chunks that have terms in
// the field. Lengths count terms, not forms (unstemmed words). Lengths are exact, while Lucene rounds them to a byte. A
// term that occurs twice in a query counts twice. With BM25F, N counts all chunks, and df counts chunks with the term
// in any searched field. Chunk length and term frequency are weighted sums over the fields.
//
// Scores are float64. A score is a sum over the nodes in each field, then a sum over the fields. Both sums have the
// order of the plan (package storekit).
package memory

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"sheaf"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Backend is a store in memory. [New] makes it.
type Backend struct {
	analyzer *analysis.Analyzer
	wanted   *wantedTerms // nil keeps every term
	kept     func(length int) int
	whole    bool // idf counts all chunks

	writing sync.Mutex // held by a write
	// vocabularies keep the terms of raw words from one write to the next, one vocabulary for each processor. Only
	// stores from NewFor have them. The mutex writing protects them.
	vocabularies []*vocabulary

	mu         sync.RWMutex
	chunks     map[sheaf.ID]*chunk
	dims       map[string]int // by vector field; changed under writing and mu
	generation uint64
	closed     bool
}

var (
	_ store.Explainer = (*Backend)(nil)
	_ store.Counter   = (*Backend)(nil)
	_ store.Reporter  = (*Backend)(nil)
)

// New returns an empty store that analyzes words with a.
func New(a *analysis.Analyzer) *Backend {
	return &Backend{analyzer: a, kept: func(length int) int { return length }, chunks: map[sheaf.ID]*chunk{},
		dims: map[string]int{}}
}

// KeepLengths makes the store score like a server that pads fields and rounds their lengths. A field of n terms then
// has the length kept(n), and counts as max(n, kept(n)) in averages. Call KeepLengths before any other method.
func (b *Backend) KeepLengths(kept func(length int) int) { b.kept = kept }

// CountAllChunks makes idf count all chunks, even those without the field. Call it before any other method.
func (b *Backend) CountAllChunks() { b.whole = true }

type chunk struct {
	id, doc sheaf.ID
	fields  []namedField
	blank   bool // no field has a term that the store keeps
	columns []store.Column
	vectors []store.Vectors
}

type namedField struct {
	name string
	*field
}

// field returns the field called name, or nil if the chunk has no text in it.
func (c *chunk) field(name string) *field {
	for i := range c.fields {
		if c.fields[i].name == name {
			return c.fields[i].field
		}
	}
	return nil
}

// field is one analyzed field of a chunk.
type field struct {
	terms  map[string][]int // from a term to its positions
	forms  map[string]int   // number of occurrences
	length int
}

func (c *chunk) Values(column string) []sheaf.Value {
	return (&store.Chunk{Columns: c.columns}).Values(column)
}

func (b *Backend) analyze(v *vocabulary, in *store.Chunk) *chunk {
	c := &chunk{id: in.ID, doc: in.Doc, fields: make([]namedField, 0, len(in.Fields)), blank: true}
	for _, f := range in.Fields {
		if out := v.analyze(f); out != nil {
			c.fields = append(c.fields, namedField{f.Name, out})
			c.blank = c.blank && len(out.terms)+len(out.forms) == 0
		}
	}
	if b.wanted != nil {
		c.columns, c.vectors = in.Columns, in.Vectors
		return c
	}
	c.columns = make([]store.Column, len(in.Columns))
	for i, col := range in.Columns {
		c.columns[i] = store.Column{Name: col.Name, Values: slices.Clone(col.Values)}
	}
	for _, v := range in.Vectors {
		passages := make([][]float32, len(v.Passages))
		for i, p := range v.Passages {
			passages[i] = slices.Clone(p)
		}
		c.vectors = append(c.vectors, store.Vectors{Name: v.Name, Passages: passages})
	}
	return c
}

// Write implements store.Backend.
func (b *Backend) Write(ctx context.Context, batch store.Batch) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	if err := batch.Validate(); err != nil {
		return err
	}
	dims := maps.Clone(b.dims)
	if err := batch.ValidateDims(dims, math.MaxInt); err != nil {
		return err
	}
	chunks := b.analyzeAll(batch.Chunks)
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	b.remove(batch.Replace)
	for _, c := range chunks {
		b.chunks[c.id] = c
	}
	b.dims = dims
	b.generation++
	return nil
}

func (b *Backend) remove(docs []sheaf.ID) {
	if len(docs) == 0 {
		return
	}
	gone := map[sheaf.ID]bool{}
	for _, doc := range docs {
		gone[doc] = true
	}
	for id, c := range b.chunks {
		if gone[c.doc] {
			delete(b.chunks, id)
		}
	}
}

var errClosed = fmt.Errorf("the store is closed: %w", sheaf.ErrUnavailable)

// Close implements store.Backend.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	b.closed = true
	return nil
}

// Stats implements store.Reporter.
func (b *Backend) Stats(context.Context) (store.Stats, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	s := store.Stats{Chunks: len(b.chunks), Generation: b.generation}
	for _, c := range b.chunks {
		for _, v := range c.vectors {
			s.Vectors += len(v.Passages)
		}
	}
	return s, nil
}
