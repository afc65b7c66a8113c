// Package bm25 computes the scores of words from frequencies and lengths, which callers supply.
//
// The formula comes from Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). The
// package uses the form that Lucene has used since version 8. This form leaves out the factor k1+1, which changes no
// order, and its idf is never negative. Unlike Lucene, which keeps a length in one byte, the package keeps lengths of
// fields exactly; see [Lengths].
package bm25

import (
	"math"
	"math/bits"
)

// Parameters are the parameters of BM25. With a larger K1 (at least 0), further occurrences of a term add more to the
// score. With a larger B (0 to 1), a long field scores less. Lengths says how exact the lengths are.
type Parameters struct {
	K1, B   float64
	Lengths Lengths
}

// Lengths says how exactly lengths of fields count.
type Lengths uint8

const (
	// LengthsExact uses lengths as they are.
	LengthsExact Lengths = iota
	// LengthsLucene rounds each length to the nearest length that Lucene can store (SmallFloat.intToByte4). Lengths up
	// to 40 are exact. A longer length keeps four significant bits of its part above 24. Lucene itself rounds down, so
	// store/opensearch pads fields to these lengths.
	LengthsLucene
)

// Of returns the length that BM25 uses for a field of n terms. A larger n never gives a smaller length.
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

// Sum returns the length that a field of n terms adds to the total length. It is the larger of n and Of(n). The average
// is computed from this total. Lucene's total is the same, because store/opensearch pads a field to Of(n) if Of(n) is
// larger than n.
func (l Lengths) Sum(n uint32) int64 { return int64(max(n, l.Of(n))) }

// IDF returns the weight of a term that df of n chunks contain: ln(1 + (n - df + 0.5) / (df + 0.5)). The weight is
// above 0 for 0 <= df <= n.
func IDF(df, n int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// Norm returns k1 * (1 - b + b * length / average), which is the norm for [Saturation]. If the frequency of a term
// equals the norm, the saturation is 1/2. The caller must pass an average above 0. Norm does not round length; the
// caller does, with [Lengths.Of].
func (p Parameters) Norm(length, average float64) float64 {
	return p.K1 * (1 - p.B + p.B*length/average)
}

// Saturation returns frequency / (frequency + norm), within (0, 1]. This is the share of its possible score that a term
// reaches. The caller must pass a frequency above 0.
func Saturation(frequency, norm float64) float64 {
	return frequency / (frequency + norm)
}

// Field has the statistics of one field over a set of chunks.
type Field struct {
	// Chunks is the number of chunks with at least one term in the field.
	Chunks int64
	// Tokens is the sum of the lengths of the field.
	Tokens int64
}

// Add adds the statistics g to f.
func (f *Field) Add(g Field) { f.Chunks += g.Chunks; f.Tokens += g.Tokens }

// Remove subtracts the statistics g from f.
func (f *Field) Remove(g Field) { f.Chunks -= g.Chunks; f.Tokens -= g.Tokens }

// Average returns the mean length of the field over the chunks that have the field. If no chunk has it, Average
// returns 1, so that callers can divide by the result.
func (f Field) Average() float64 {
	if f.Chunks <= 0 || f.Tokens <= 0 {
		return 1
	}
	return float64(f.Tokens) / float64(f.Chunks)
}
