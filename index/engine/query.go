package engine

import (
	"sheaf"
	"sheaf/index/engine/bm25"
)

// FieldWeight is a field to search and the factor of its score.
type FieldWeight struct {
	Name   string
	Weight float64
}

// Combine says how the scores of a chunk's fields are combined into one score.
type Combine uint8

// These are the ways to combine fields. s(f) is the sum of the weighted scores of the terms in field f.
const (
	CombineSum   Combine = iota // the sum of s(f)
	CombineBest                 // the largest s(f), plus TieBreaker times the sum of the others
	CombineBM25F                // BM25 of a virtual field with the weighted sums of frequencies and lengths
)

// Words asks for the chunks that match Query. A part of Query that names no field searches all of Fields.
type Words struct {
	Query      sheaf.TextQuery // the index's analyzer analyzes its texts
	Fields     []FieldWeight
	Combine    Combine
	TieBreaker float64 // see CombineBest
	K1, B      float64 // see bm25.Parameters
	// Lengths says whether lengths of fields are exact or rounded as in Lucene.
	Lengths bm25.Lengths
	// AllChunks makes idf also count the chunks that lack the field.
	AllChunks bool
	// Candidates computes idf and average lengths only over the chunks that Filter and Within of the request allow.
	// Without Candidates, all chunks count.
	Candidates bool
	// Among selects the chunks over which idf and average lengths are computed; nil selects all. Candidates overrides
	// Among. Among must select every chunk that Filter and Within allow.
	Among sheaf.Filter
}

// Vector asks for the chunks whose passages in the field Field are most similar to Vector.
type Vector struct {
	Field  string
	Vector []float32
	// Exact compares every stored vector with the query. Without Exact, large segments first compare short codes of the
	// vectors.
	Exact bool
	// Candidates is the smallest number of passages that a large segment compares exactly. Each segment also has a
	// smallest number of its own, measured when the segment was written. The larger of the two numbers counts.
	Candidates int
}

// Request asks for chunks by Words or by Vector. If both are set, Vector ranks the chunks, and chunks must also match
// Words. Filter and Within restrict the chunks. If they are nil, they restrict nothing; an empty Within finds nothing.
type Request struct {
	Words  *Words
	Vector *Vector
	Filter sheaf.Filter
	Within []sheaf.ID
	Limit  int
	// If Work is not nil, the request adds its work to Work. Segments in which the search cannot skip postings add
	// nothing.
	Work *Work
}

// Work counts the postings that a request read and scored.
type Work struct {
	// Postings counts the postings of the query's terms. A search that scores every match scores this number of postings.
	Postings int64
	// Scored counts computed scores of postings. A posting that is scored twice counts twice.
	Scored int64
}
