package benchmark

import (
	"context"
	"math"
	"strings"

	"sheaf/model"
)

// wideEmbedder computes vectors with 1.5 times the dimensions of another embedder. From 256 dimensions it makes 384, as
// many as transformers often have. The added part is the first half of the vector of the text's first line.
type wideEmbedder struct{ model.Embedder }

func (w wideEmbedder) Dims() int { return w.Embedder.Dims() + w.Embedder.Dims()/2 }

func (w wideEmbedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	whole, err := w.Embedder.Embed(ctx, purpose, texts)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i], _, _ = strings.Cut(text, "\n")
	}
	first, err := w.Embedder.Embed(ctx, purpose, lines)
	if err != nil {
		return nil, err
	}
	for i, v := range whole {
		if v == nil {
			continue
		}
		v = append(make([]float32, 0, w.Dims()), v...)
		if first[i] != nil {
			v = append(v, first[i][:w.Dims()-len(v)]...)
		}
		whole[i] = unit(v[:w.Dims()])
	}
	return whole, nil
}

// unit scales v to length 1 and overwrites v. The caller must not pass a zero vector.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
	return v
}
