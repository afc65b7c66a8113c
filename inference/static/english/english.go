// Package english carries a static embedding model of English inside the
// program: no download, no server, nothing to parse at start. How it was made
// and how good it is stands in model/README.md.
package english

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sheaf/inference"
	"sheaf/inference/static"
)

//go:embed sheaf-en-1.bin
var file []byte

// Embedder is the model. It implements inference.Embedder.
type Embedder struct {
	model    *static.Model
	encoders sync.Pool
}

var (
	_ inference.WindowEmbedder = (*Embedder)(nil)
	_ inference.WeightEmbedder = (*Embedder)(nil)
	_ inference.Knower         = (*Embedder)(nil)
	_ inference.Tokenizer      = (*Embedder)(nil)
)

// New returns the model. The error can only be that of a damaged program.
func New() (*Embedder, error) {
	m, err := static.Open(file)
	if err != nil {
		return nil, err
	}
	e := &Embedder{model: m}
	e.encoders.New = func() any { return static.NewEncoder(m) }
	return e, nil
}

// Made reports whether name is that of this model or of an earlier version of
// it.
func Made(name string) bool { return strings.HasPrefix(name, family) }

// family begins the names of all versions of the model.
const family = "sheaf-en-"

// Verify reads the whole model and returns an error when it is damaged.
func (e *Embedder) Verify() error { return e.model.Verify() }

// Model implements inference.Embedder.
func (e *Embedder) Model() string { return e.model.Name() }

// Dims implements inference.Embedder.
func (e *Embedder) Dims() int { return e.model.Dims() }

// Embed implements inference.Embedder. Queries and passages are embedded alike.
// A text without any piece of the vocabulary gets a nil vector.
func (e *Embedder) Embed(ctx context.Context, _ inference.Purpose, texts []string) ([][]float32, error) {
	encoder := e.encoders.Get().(*static.Encoder)
	defer e.encoders.Put(encoder)
	out := make([][]float32, len(texts))
	dims := e.model.Dims()
	all := make([]float32, len(texts)*dims)
	for i, text := range texts {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if v := all[i*dims : (i+1)*dims : (i+1)*dims]; encoder.Embed(v, text) {
			out[i] = v
		}
	}
	return out, nil
}

// AppendWindows implements inference.WindowEmbedder.
func (e *Embedder) AppendWindows(ctx context.Context, dst []float32, heading, body string, starts []int, size, stride int) ([]float32, error) {
	if ctx.Err() != nil {
		return dst, ctx.Err()
	}
	encoder := e.encoders.Get().(*static.Encoder)
	defer e.encoders.Put(encoder)
	n, dims := 1, e.model.Dims()
	if len(starts) > size {
		n += (len(starts) - size + stride - 1) / stride
	}
	first := len(dst)
	dst = slices.Grow(dst, n*dims)[:first+n*dims]
	n = encoder.Windows(dst[first:], heading, body, starts, size, stride)
	end := first
	for v := range slices.Chunk(dst[first:first+n*dims], dims) {
		if slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			end += copy(dst[end:], v)
		}
	}
	return dst[:end], nil
}

// EmbedWeighted implements inference.WeightEmbedder: the vector of a text whose words, separated by white space,
// have weights of 0 or more; nil when nothing is left.
func (e *Embedder) EmbedWeighted(text string, weight func(word string) float64) []float32 {
	encoder := e.encoders.Get().(*static.Encoder)
	defer e.encoders.Put(encoder)
	if v := make([]float32, e.model.Dims()); encoder.EmbedWeighted(v, text, weight) {
		return v
	}
	return nil
}

// Known is the share of a text, 0..1, that the model knows.
func (e *Embedder) Known(text string) float64 {
	encoder := e.encoders.Get().(*static.Encoder)
	defer e.encoders.Put(encoder)
	return encoder.Known(text)
}

// Pieces implements inference.Tokenizer: the pieces of words that have vectors.
func (e *Embedder) Pieces(text string, yield func(start, end int) bool) {
	encoder := e.encoders.Get().(*static.Encoder)
	defer e.encoders.Put(encoder)
	encoder.Pieces(text, yield)
}
