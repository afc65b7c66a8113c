// Package hashed computes vectors of texts without a model, for tests. The vectors are the same on every
// machine. Every word adds its own direction, from the hash of the word, so texts that share words are near.
package hashed

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"sheaf/model"
)

// Embedder computes a vector from the hashes of a text's words. It implements model.Embedder.
type Embedder struct{ dims int }

var _ model.Embedder = Embedder{}

// New returns an embedder of vectors with dims dimensions, at least 1.
func New(dims int) Embedder { return Embedder{max(1, dims)} }

// Model implements model.Embedder.
func (e Embedder) Model() string { return fmt.Sprintf("hashed-%d", e.dims) }

// Dims implements model.Embedder.
func (e Embedder) Dims() int { return e.dims }

// Embed implements model.Embedder. A text without words gets a nil vector.
func (e Embedder) Embed(ctx context.Context, _ model.Purpose, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = e.embed(text)
	}
	return out, nil
}

func (e Embedder) embed(text string) []float32 {
	sum := make([]float64, e.dims)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, word := range words {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // never fails
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range sum {
			sum[i] += r.NormFloat64()
		}
	}
	var square float64
	for _, x := range sum {
		square += x * x
	}
	if square == 0 {
		return nil
	}
	v := make([]float32, e.dims)
	for i, x := range sum {
		v[i] = float32(x / math.Sqrt(square))
	}
	return v
}
