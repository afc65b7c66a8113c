// Package bm25 computes the scores of words and has the statistics for them. It knows nothing of
// postings: callers supply frequencies and lengths.
//
// The formula comes from Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and
// Beyond (2009), in the form that Lucene uses since version 8: without the factor k1+1, which
// changes no order, and with an idf that is never negative. It differs from Lucene in one point:
// lengths of fields are exact here, while Lucene keeps them in one byte; see [Lengths].
package bm25

import (
	"math"
	"math/bits"
)

// Parameters are the parameters of BM25. K1 (at least 0) is larger if more occurrences of a term
// still add to the score. B (0 to 1) says how much less a longer field counts. Lengths says how
// exact the lengths are.
type Parameters struct {
	K1, B   float64
	Lengths Lengths
}

// Lengths says how exactly lengths of fields count.
type Lengths uint8

const (
	// LengthsExact uses lengths as they are.
	LengthsExact Lengths = iota
	// LengthsLucene uses the nearest length that Lucene can keep (SmallFloat.intToByte4): all up to
	// 40, and of longer ones four significant bits of the part above 24. Lucene alone rounds down,
	// so store/opensearch pads fields to these lengths.
	LengthsLucene
)

// Of returns the length that a field of n terms counts as. It never falls when n grows.
func (l Lengths) Of(n uint32) uint32 {
	const exact = 24
	if l == LengthsExact || n < exact+16 {
		return n
	}
	step := uint32(1) << (bits.Len32(n-exact) - 4)
	if over := (n - exact) % step; 2*over <= step {
		return n - over
	} else if up := n + (step - over); up > n {
		return up
	}
	return math.MaxUint32
}

// Sum returns the number that a field of n terms adds to the sum of lengths for averages. Fillers
// count there, and so do the terms that Lucene cuts off.
func (l Lengths) Sum(n uint32) int64 { return int64(max(n, l.Of(n))) }

// IDF returns the weight of a term in df of n chunks: ln(1 + (n - df + 0.5) / (df + 0.5)). It is
// above 0 for 0 <= df <= n.
func IDF(df, n int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// Norm returns k1 x (1 - b + b x length / average): the frequency at which a term in a field of
// this length reaches half of its possible score. average is above 0. Norm uses length unchanged;
// the caller applies Lengths.
func (p Parameters) Norm(length, average float64) float64 {
	return p.K1 * (1 - p.B + p.B*length/average)
}

// Saturation returns frequency / (frequency + norm), within (0, 1]: the share of its possible score
// that a term reaches. frequency is above 0.
func Saturation(frequency, norm float64) float64 {
	return frequency / (frequency + norm)
}

// Field has BM25's statistics of one field over a set of chunks.
type Field struct {
	// Chunks is the number of chunks with at least one term in the field.
	Chunks int64
	// Tokens is the sum of the lengths of the field.
	Tokens int64
}

// Add adds the chunks of g.
func (f *Field) Add(g Field) { f.Chunks += g.Chunks; f.Tokens += g.Tokens }

// Remove removes the chunks of g.
func (f *Field) Remove(g Field) { f.Chunks -= g.Chunks; f.Tokens -= g.Tokens }

// Average returns the mean length of the field over the chunks with the field; 1 when there is
// none, so that callers can divide by it.
func (f Field) Average() float64 {
	if f.Chunks <= 0 || f.Tokens <= 0 {
		return 1
	}
	return float64(f.Tokens) / float64(f.Chunks)
}
