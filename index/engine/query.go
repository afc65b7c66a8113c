package engine

import (
	"sheaf"
	"sheaf/index/engine/bm25"
)

// FieldWeight is a field that is searched, and the factor of its score.
type FieldWeight struct {
	Name   string
	Weight float64
}

// Combine says how the scores of a chunk's fields become one score.
type Combine uint8

// The ways to combine fields. With s(f) the sum of the weighted scores of the
// terms in field f:
const (
	CombineSum   Combine = iota // the sum of s(f)
	CombineBest                 // the largest s(f), and TieBreaker times the others
	CombineBM25F                // one BM25 over the weighted sums of frequencies and lengths
)

// Words is a request by words.
type Words struct {
	Query      sheaf.TextQuery // its texts are analyzed by the index's analyzer
	Fields     []FieldWeight
	Combine    Combine
	TieBreaker float64
	K1, B      float64
	// Lengths says how exactly the lengths of fields count.
	Lengths bm25.Lengths
	// AllChunks counts, for idf, the chunks without the field too.
	AllChunks bool
	// Candidates counts idf and average lengths over the chunks that the
	// request's filter and bound let through, not over all chunks.
	Candidates bool
	// Among, unless it is nil, lets the chunks through over which they are counted else;
	// all that the request's filter lets through are among them.
	Among sheaf.Filter
}

// Vector is a request by a vector.
type Vector struct {
	Field  string
	Vector []float32
	// Exact compares every vector, where large segments otherwise look at codes
	// first.
	Exact bool
	// Candidates is how many passages of a large segment are compared closely,
	// at least: as many as the segment measured when it was written are in any
	// case.
	Candidates int
}

// Request asks for chunks: by Words, or by Vector, and then Words say what must match as
// well. Filter and Within bound what can be found; nil is no bound, an empty Within finds nothing.
type Request struct {
	Words  *Words
	Vector *Vector
	Filter sheaf.Filter
	Within []sheaf.ID
	Limit  int
	// Work, when not nil, is added to: how much the request took. Only
	// requests that bounds can prune count.
	Work *Work
}

// Work is what a request took.
type Work struct {
	// Postings is the length of the posting lists of the query's terms: what scoring
	// every match would score.
	Postings int64
	// Scored counts the postings whose score was computed, those of the
	// chunks that were scored a second time twice.
	Scored int64
}
