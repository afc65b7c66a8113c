package engine

import "sheaf/index/engine/bm25"

// Query is a tree of words. The set is closed: Match, Phrase, Prefix, Fuzzy,
// Bool, Boost. Texts are analyzed by the index's analyzer. Field, where there is
// one, is "" for every field of the request.
type Query interface{ query() }

// Match finds chunks that hold at least one term of Text; every term found adds
// its score.
type Match struct{ Text, Field string }

// Phrase finds chunks that hold the terms of Text one after another in one
// field, with at most Slop positions of displacement in all. It scores as the
// sum of its terms, in the fields that hold it.
type Phrase struct {
	Text, Field string
	Slop        int
}

// Prefix finds chunks that hold a term, or a form of one, that begins with the
// folded Text. In each field it scores as the best of them.
type Prefix struct{ Text, Field string }

// Fuzzy finds chunks that hold a term, or a form of one, at most Distance edits
// away from the folded Text, that begins with the first Same characters of it. In each
// field it scores as the best of them, one at distance d weighing 1/(1+d).
type Fuzzy struct {
	Text, Field string
	Distance    int
	Same        int
}

// Bool finds chunks that match every Must, no MustNot and, when there is no
// Must, at least one Should; one with MustNot alone finds every other chunk,
// with score 0. The scores of the Must and Should parts that match are added.
type Bool struct{ Must, Should, MustNot []Query }

// Boost multiplies the score of a part.
type Boost struct {
	Query  Query
	Factor float64
}

func (Match) query()  {}
func (Phrase) query() {}
func (Prefix) query() {}
func (Fuzzy) query()  {}
func (Bool) query()   {}
func (Boost) query()  {}

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
	Query      Query
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
	Among Filter
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
// well. Filter and Within bound what can be found; nil is no bound.
type Request struct {
	Words  *Words
	Vector *Vector
	Filter Filter
	Within []string
	// Bounded says that Within bounds even when it is empty.
	Bounded bool
	Limit   int
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

// Hit is a chunk that was found.
type Hit struct {
	ID      string
	Score   float64
	Passage int // index of the best passage; 0 for words
}
