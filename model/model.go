// Package model declares interfaces for models that turn texts into vectors or scores. Each provider has a folder
// below.
package model

import "context"

// Purpose is the purpose of an embedding. Some models embed questions and passages differently.
type Purpose uint8

// Passage is for a text that is searched. Query is for the text of a question.
const (
	Passage Purpose = iota
	Query
)

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Model returns the model's name with its version. Vectors of different models are never compared.
	Model() string
	// Dims returns the number of dimensions, at least 1.
	Dims() int
	// Embed returns a vector of unit length for each text, in order: [len(texts)][Dims]float32. The
	// caller owns the vectors. A text that the model does not know gets a nil vector.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}

// WindowEmbedder embeds all windows of a text in one call. It looks up each word once, so small passages cost little.
type WindowEmbedder interface {
	Embedder
	// AppendWindows appends the vectors of windows of body to dst, in order. These rules define the windows:
	//   - starts has the byte positions of the words in body.
	//   - A window has size words and starts stride words after the previous window; stride is 1..size.
	//   - The last window ends with the body and may be shorter.
	//   - The vector of a window is the vector of two lines: heading and the window.
	//   - If body has no words, there is one window, which is only the heading.
	//
	// AppendWindows appends no vector for a window that the model does not know. So the vectors do not show which windows
	// they belong to.
	AppendWindows(ctx context.Context, dst []float32, heading, body string, starts []int, size, stride int) ([]float32,
		error)
}

// WeightEmbedder can give the words of a text different weights.
type WeightEmbedder interface {
	Embedder
	// EmbedWeighted returns the vector of a query whose words have weights of 0 or more. White space separates words.
	// It returns nil when no word has weight, or when the model does not know the query.
	EmbedWeighted(text string, weight func(word string) float64) []float32
}

// LanguageReader tells English from other languages.
type LanguageReader interface {
	Embedder
	// IsEnglish reports whether text is in English. known is false if that is unclear, for example for names,
	// misspelled words, and texts in two languages.
	IsEnglish(text string) (english, known bool)
}

// Tokenizer finds the tokens by which a model measures length.
type Tokenizer interface {
	// Pieces yields the positions of the model's tokens in text, in order, until yield returns false. The
	// half-open byte ranges do not overlap, and start and end at characters. A token for a part of a character
	// has an empty range. Pieces also yields tokens beyond the model's limit. It is safe for concurrent use.
	Pieces(text string, yield func(start, end int) bool)
}

// Reranker scores how well texts answer a query. It is safe for concurrent use.
type Reranker interface {
	// Model returns the name of the model.
	Model() string
	// Rerank returns a finite number for each text, in order, larger for better answers and comparable across calls.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}
