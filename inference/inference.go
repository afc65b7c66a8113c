// Package inference answers the question "what does a model say?": text becomes
// vectors. It declares small interfaces; every provider is a folder below.
package inference

import "context"

// Purpose says what a text is embedded for; some models embed questions and
// passages differently.
type Purpose uint8

// The purposes.
const (
	Passage Purpose = iota
	Query
)

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Model names the model with its version; vectors of different models
	// are never compared.
	Model() string
	// Dims is the number of dimensions, at least 1.
	Dims() int
	// Embed returns a vector of unit length for each text, in order,
	// [len(texts)][Dims]float32, owned by the caller. A text that the model
	// knows nothing of gets a nil vector.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}
