// Package model answers the question "what does a model say?": text becomes
// vectors. It declares small interfaces; every provider is a folder below.
package model

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

// WindowEmbedder is met by embedders for which the windows of a text cost little
// more than the text itself, so that many small passages can be had.
type WindowEmbedder interface {
	Embedder
	// AppendWindows appends to dst, one after another, the vectors of windows
	// of at most size words of body, one begun every stride words, 1..size,
	// each as if its text stood in a line below heading; starts are where the
	// words of body begin. There is at least one window, which is the heading
	// alone when body has no words, and the last reaches the end. A window of
	// which the model knows nothing is left out.
	AppendWindows(ctx context.Context, dst []float32, heading, body string, starts []int, size, stride int) ([]float32,
		error)
}

// WeightEmbedder is met by embedders that can count the words of a text
// differently.
type WeightEmbedder interface {
	Embedder
	// EmbedWeighted returns the vector of a query whose words, separated by
	// white space, have weights of 0 or more; nil when nothing is left, or
	// when the model does not know the query.
	EmbedWeighted(text string, weight func(word string) float64) []float32
}

// LanguageReader is met by embedders that tell English from other languages.
type LanguageReader interface {
	Embedder
	// IsEnglish reports whether text is in English. known is false when the text does not
	// show it, such as a name, a misspelt word, or a text in two languages.
	IsEnglish(text string) (english, known bool)
}

// Tokenizer is met by embedders whose unit of length is known.
type Tokenizer interface {
	// Pieces yields where the model's tokens stand in text, in order, as
	// half-open ranges of bytes that do not overlap and begin and end at
	// characters, until yield returns false: all of them, however many the
	// model reads. A token that is a part of a character has an empty range.
	// It is safe for concurrent use.
	Pieces(text string, yield func(start, end int) bool)
}

// Reranker says how well texts answer a query. It is safe for concurrent use.
type Reranker interface {
	// Model names the model.
	Model() string
	// Rerank returns a finite number for each text, in order, larger for a
	// better answer; numbers of one model compare across calls.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}
