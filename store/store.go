// Package store answers the question "where are chunks indexed and
// retrieved?". Its main type, [Backend], is met by every store: the embedded
// engine, the brute-force oracle, and the servers, one folder each.
//
// A backend only finds chunks: it returns IDs and raw scores. Titles, text,
// parents and links come from the catalog, so every ranking profile runs on
// every store, and a backend can be rebuilt at any time.
package store

import (
	"context"

	"sheaf"
)

// Backend is a store of chunks. All methods are safe for concurrent use; one
// Write or Delete runs at a time, and readers never wait for it.
type Backend interface {
	// Write removes every chunk of the documents named in batch.Replace and
	// adds batch.Chunks, each instead of a chunk with the same ID if there
	// is one. Everything in a batch becomes durable and visible at once,
	// before Write returns; after an error nothing of it is visible, unless
	// the error is a [PartialError], which names what was left out.
	Write(ctx context.Context, batch Batch) error
	// Delete removes every chunk of the named documents. Documents that do
	// not exist are no error. Durable and visible when it returns.
	Delete(ctx context.Context, docs []sheaf.ID) error
	// Retrieve answers one branch of a query: at most req.Limit hits, best
	// first, equal scores by ID, scores higher better and exactly as the
	// store computes them. A request that the store cannot honor is
	// sheaf.ErrUnsupported, never quietly something similar.
	Retrieve(ctx context.Context, req Request) (sheaf.Ranking, error)
	// Close releases the store. Calls that are running end first.
	Close() error
}

// Batch is a set of changes that happen together.
type Batch struct {
	// Replace names documents of which every chunk is removed before Chunks
	// are added.
	Replace []sheaf.ID
	Chunks  []Chunk
}

// Chunk is what a backend indexes of one chunk. The backend keeps none of the
// slices after Write returns.
type Chunk struct {
	ID  sheaf.ID
	Doc sheaf.ID
	// Fields are the texts to find it by, at most one of a name; a field
	// that is not there is empty. The names are sheaf.Fields.
	Fields []Field
	// Columns are what filters see, sorted by name.
	Columns []Column
	// Vectors are the passages of the chunk in every vector field, at most
	// one entry of a name.
	Vectors []Vectors
}

// Field is the text of one field of a chunk; see [JoinValues] for one with several values.
type Field struct {
	Name string
	Text string
}

// Column is the values of one column of a chunk, without duplicates.
type Column struct {
	Name   string
	Values []sheaf.Value
}

// Vectors are the passages of a chunk in one vector field: the similarity of
// the chunk is that of its best passage.
type Vectors struct {
	// Name is the vector field, usually VectorBody or VectorTitle.
	Name string
	// Passages are [n][dims]float32, unit length, n at least 1; dims as the
	// index was made with.
	Passages [][]float32
}

// Names of the usual vector fields.
const (
	VectorBody  = "body"  // passages of the text, each under its title and heading path
	VectorTitle = "title" // the title alone
)

// Values implements sheaf.Columns.
func (c *Chunk) Values(column string) []sheaf.Value {
	for i := range c.Columns {
		if c.Columns[i].Name == column {
			return c.Columns[i].Values
		}
	}
	return nil
}

// Request is one branch of a query: words or a vector.
type Request struct {
	// Text or Vector is set, not both.
	Text   *TextRequest
	Vector *VectorRequest
	// Filter bounds what may be found, before scoring and before Limit; nil
	// is no bound.
	Filter sheaf.Filter
	// Within bounds what may be found to these chunks; nil is no bound, an
	// empty list finds nothing. IDs that do not exist are ignored.
	Within []sheaf.ID
	// Limit is the most hits wanted, 1..MaxLimit.
	Limit int
}

// MaxLimit is the largest Request.Limit.
const MaxLimit = 100_000

// TextRequest finds chunks by words, scored by BM25.
type TextRequest struct {
	Query sheaf.TextQuery
	// Fields are searched, each with its weight; at least one. A part of the
	// query that names a field of its own is searched in that field alone,
	// with the weight given here, or 1 when it is not listed.
	Fields []FieldWeight
	// Combine says how the scores of one chunk's fields become one score.
	Combine Combine
	// TieBreaker, 0..1, is what the other fields count under CombineBest.
	TieBreaker float64
	// Statistics says over which chunks idf and average length are counted.
	Statistics Statistics
	// Among, unless it is nil, lets the chunks through that are all there is for
	// StatisticsCorpus: scores are those of an index of these. What the request's Filter
	// lets through must be among them.
	Among sheaf.Filter
	// K1 and B are BM25's parameters; see bm25. K1 >= 0, B in [0,1].
	K1, B float64
}

// Default values of BM25's parameters.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// FieldWeight is a field with the factor, above 0, by which its score counts.
type FieldWeight struct {
	Name   string
	Weight float64
}

// Combine says how scores of several fields of one chunk become one score.
type Combine uint8

// The ways to combine fields. With score(f,t) the BM25 score of
// query term t in field f, and w(f) the weight of f:
const (
	// CombineSum: the sum over f and t of w(f) x score(f,t).
	CombineSum Combine = iota
	// CombineBest: with s(f) the sum over t of w(f) x score(f,t), the
	// largest s(f) plus TieBreaker times the sum of the others.
	CombineBest
	// CombineBM25F: one BM25 over a virtual field whose frequency and
	// length are the weighted sums of those of the fields (Robertson,
	// Zaragoza, Taylor: Simple BM25 Extension to Multiple Weighted Fields,
	// 2004). Document frequency is that of the term in any of the fields.
	CombineBM25F
)

// Statistics says over which chunks idf and average length are counted.
type Statistics uint8

const (
	// StatisticsCorpus counts over all chunks of the index, or over those of Among.
	StatisticsCorpus Statistics = iota
	// StatisticsCandidates counts over the chunks that Filter and Within
	// let through.
	StatisticsCandidates
)

// CountsAmong reports whether statistics are to be counted over some chunks only.
func (r *Request) CountsAmong() bool {
	switch {
	case r.Text == nil:
		return false
	case r.Text.Statistics == StatisticsCandidates:
		return r.Filter != nil || r.Within != nil
	}
	return r.Text.Among != nil
}

// VectorRequest finds chunks by the similarity (dot product of unit vectors)
// of their best passage.
type VectorRequest struct {
	// Field is the vector field.
	Field string
	// Vector has the dimension of the index and unit length.
	Vector []float32
	// Candidates is how many passages an approximate store looks at; 0 lets
	// the store choose. Exact stores ignore it.
	Candidates int
	// Matching, unless it is nil, bounds what may be found to what matches these words,
	// before Limit; how they would score counts for nothing. A store that is no [Matcher]
	// refuses it.
	Matching *TextRequest
}

// PartialError says that a store took a part of a batch only: the documents
// named in Rejected are not written, all others are. Writing the batch again
// is safe.
type PartialError struct {
	Rejected map[sheaf.ID]error
}

// Error names how many documents were rejected, and one of them.
func (e *PartialError) Error() string { return partialMessage(e.Rejected) }
