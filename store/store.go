// Package store defines where chunks are indexed and found. Every store implements its main type [Backend]: the
// embedded engine, the brute-force oracle, and the servers.
//
// A store only finds chunks: it returns IDs and raw scores. Titles, text, parents and links come from the catalog. So
// every ranking profile runs on every store, and a store can be rebuilt at any time.
package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sheaf"
)

// Backend is a store of chunks, safe for concurrent use. One Write runs at a time; readers never wait for a Write.
type Backend interface {
	// Write removes every chunk of the documents in batch.Replace, which may be unknown, and adds batch.Chunks. An added
	// chunk replaces a chunk with the same ID. The whole batch becomes durable and visible at once, before Write returns.
	// After an error, nothing of the batch is visible, except after a [PartialError], which names the rejected documents.
	Write(ctx context.Context, batch Batch) error
	// Retrieve answers one branch of a query with at most req.Limit hits. The best hit comes first; hits with equal
	// scores are sorted by ID. Scores are exactly what the store computes. If the store cannot answer a request
	// exactly, the error is sheaf.ErrUnsupported.
	Retrieve(ctx context.Context, req Request) (sheaf.Ranking, error)
	// Close waits for running calls, then releases the store.
	Close() error
}

// Batch is a set of changes that become visible together.
type Batch struct {
	// Replace names documents. Write removes all their chunks before it adds Chunks.
	Replace []sheaf.ID
	Chunks  []Chunk
}

// Chunk is the content of a chunk that a store indexes. The store keeps none of the slices after Write returns.
type Chunk struct {
	ID  sheaf.ID
	Doc sheaf.ID
	// Fields are the searchable texts, at most one for each of sheaf.Fields. A missing field counts as empty.
	Fields []Field
	// Columns are the values that filters test, sorted by the name of the column.
	Columns []Column
	// Vectors are the passages of the chunk, at most one entry for each vector field.
	Vectors []Vectors
}

// Field is the text of one field of a chunk. [JoinValues] makes the text of a field with several values.
type Field struct {
	Name string
	Text string
}

// Column is a column of one chunk: its name and its values, without duplicates.
type Column struct {
	Name   string
	Values []sheaf.Value
}

// Vectors are the passages of a chunk in one vector field. The best passage decides the similarity of the chunk.
type Vectors struct {
	// Name is the vector field, usually VectorBody or VectorTitle.
	Name string
	// Passages are [n][dims]float32 of unit length, n >= 1. All stored vectors of the field have dims dimensions.
	Passages [][]float32
}

// These are the names of the usual vector fields.
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
	// Text asks by words, and Vector by a vector. Exactly one of them is set.
	Text   *TextRequest
	Vector *VectorRequest
	// Filter restricts the hits, before scoring and before Limit; nil means no restriction.
	Filter sheaf.Filter
	// Within, unless nil, restricts the hits to these chunks; an empty list finds nothing. Unknown IDs are ignored.
	Within []sheaf.ID
	// Limit is the largest number of hits to return, 1..MaxLimit.
	Limit int
}

// MaxLimit is the largest Request.Limit.
const MaxLimit = 100_000

// TextRequest finds chunks by words, scored by BM25.
type TextRequest struct {
	Query sheaf.TextQuery
	// Fields are the fields to search, each with its weight; at least one. If a part of the query names its own field, the
	// store searches for this part only there. The weight of this field comes from the list, or is 1 if the list lacks it.
	Fields []FieldWeight
	// Combine says how the scores of a chunk in several fields become one score.
	Combine Combine
	// TieBreaker, 0..1, is the weight of all fields except the best field under CombineBest.
	TieBreaker float64
	// Statistics says over which chunks idf and average length are computed.
	Statistics Statistics
	// Among selects the chunks that StatisticsCorpus counts; nil selects all chunks. The scores are as in an index that
	// has only the selected chunks. The selection must include all chunks that pass Filter.
	Among sheaf.Filter
	// K1 and B are the parameters of BM25; see package bm25. K1 >= 0, B in [0,1].
	K1, B float64
}

// These are default values of BM25's parameters.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// FieldWeight is a field and the factor of its score. The factor is above 0.
type FieldWeight struct {
	Name   string
	Weight float64
}

// Combine says how the scores of a chunk in several fields become one score.
type Combine uint8

// These are ways to combine fields. score(f,t) is the BM25 score of query term t in field f, w(f) the weight of f.
const (
	// CombineSum is the sum over the fields f and the terms t of w(f) * score(f,t).
	CombineSum Combine = iota
	// CombineBest is the largest s(f) plus TieBreaker times the others. s(f) is the sum over t of w(f) * score(f,t).
	CombineBest
	// CombineBM25F is one BM25 score over a virtual field. Its frequency and length are weighted sums (Robertson,
	// Zaragoza, Taylor: Simple BM25 Extension to Multiple Weighted Fields, 2004). Document frequency counts chunks with
	// the term in any of the fields.
	CombineBM25F
)

// Statistics says over which chunks idf and average length are computed.
type Statistics uint8

const (
	// StatisticsCorpus means all chunks of the index. If TextRequest.Among is set, it means the chunks that Among selects.
	StatisticsCorpus Statistics = iota
	// StatisticsCandidates means the chunks that pass Filter and Within.
	StatisticsCandidates
)

// CountsAmong reports whether the request restricts the chunks over which its statistics are computed.
func (r *Request) CountsAmong() bool {
	switch {
	case r.Text == nil:
		return false
	case r.Text.Statistics == StatisticsCandidates:
		return r.Filter != nil || r.Within != nil
	}
	return r.Text.Among != nil
}

// VectorRequest finds the chunks whose best passages are most similar to a vector, by the dot product of unit vectors.
type VectorRequest struct {
	// Field is the vector field.
	Field string
	// Vector has unit length, and as many dimensions as the vector field.
	Vector []float32
	// Candidates is the number of passages that an approximate search examines; 0 lets the store choose. Exact stores
	// ignore it.
	Candidates int
	// Matching restricts the hits, before Limit, to chunks that match these words. It does not change the scores. Nil
	// means no restriction. A store that is not a [Matcher] refuses Matching.
	Matching *TextRequest
}

// PartialError means that a store wrote all documents of a batch except the documents in Rejected. The batch may be
// written again.
type PartialError struct {
	Rejected map[sheaf.ID]error
}

// Error says how many documents were rejected, and names one of them.
func (e *PartialError) Error() string {
	ids := slices.Sorted(maps.Keys(e.Rejected))
	if len(ids) == 0 {
		return "no documents were rejected"
	}
	return fmt.Sprintf("%d documents were rejected, %s among them: %v", len(ids), ids[0], e.Rejected[ids[0]])
}
