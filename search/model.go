package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"sheaf"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/analysis"
)

// modelWords holds what the model given to SetModel can do with words: weigh them, and tell their language.
type modelWords struct {
	// alike becomes true when the model cannot weigh words by rarity. The pointer is nil if there is no model.
	alike *atomic.Bool
	// embed works like Searcher.Embed for one text. It also returns the number of chunks with each word, or nil if no
	// words were counted.
	embed func(ctx context.Context, text string) ([]float32, *wordCounts, error)
	// foreign reports whether a query has another language than the collection. It is nil if this is unknown.
	foreign func(text string) bool
}

// SetModel makes s search by meaning with e, the model of the store's vectors. If e can weigh words, words with few
// matches in the store weigh more. If the store cannot count, all words weigh the same, and the answer has a note. a
// is the analyzer of the store, and chunks is the number of chunks.
func (s *Searcher) SetModel(e model.Embedder, a *analysis.Analyzer, chunks int) {
	s.Analyzer = a
	if reader, ok := e.(model.LanguageReader); ok && a.Language() != "" {
		english := a.Language() == "en"
		s.modelWords.foreign = func(text string) bool {
			is, known := reader.IsEnglish(text)
			return known && is != english
		}
	}
	alike := &atomic.Bool{}
	s.modelWords.alike = alike
	embed := func(ctx context.Context, text string) ([]float32, *wordCounts, error) {
		weigher, ok := e.(model.WeightEmbedder)
		counter, countable := s.Backend.(store.Counter)
		words := strings.Fields(text)
		plain := func() ([]float32, *wordCounts, error) {
			vector, err := embedPlain(ctx, e, text)
			return vector, nil, err
		}
		switch {
		case !ok || len(words) > maxWeighed:
			return plain()
		case !countable:
			alike.Store(true)
			return plain()
		}
		known, queries := make([]string, 0, len(words)), make([]sheaf.TextQuery, 0, len(words))
		for _, word := range words {
			if slices.Contains(known, word) {
				continue
			}
			if len(a.QueryTokens(word)) > 0 {
				known, queries = append(known, word), append(queries, sheaf.Match{Text: word})
			}
		}
		dfs, err := frequencies(ctx, counter, queries)
		switch {
		case errors.Is(err, sheaf.ErrUnsupported):
			alike.Store(true)
			return plain()
		case err != nil:
			return nil, nil, err
		}
		return weigher.EmbedWeighted(text, func(word string) float64 {
			if i := slices.Index(known, word); i >= 0 {
				return math.Sqrt(IDF(dfs[i], chunks))
			}
			return math.Sqrt(math.Ln2) // a word without a term weighs like a word in every second chunk
		}), &wordCounts{queries, dfs}, nil
	}
	s.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
		vectors, errs := make([][]float32, len(texts)), make([]error, len(texts))
		store.Together(len(texts), func(i int) { vectors[i], _, errs[i] = embed(ctx, texts[i]) })
		return vectors, cmp.Or(errs...)
	}
	s.modelWords.embed = embed
}

// SetEmbed makes s turn queries into vectors with embed, which does not weigh words. SetModel replaces embed, so the
// caller must call SetEmbed after SetModel.
func (s *Searcher) SetEmbed(embed func(ctx context.Context, texts []string) ([][]float32, error)) {
	s.Embed, s.modelWords.embed = embed, nil
}

// embedPlain returns the vector of a text, in which all words weigh the same.
func embedPlain(ctx context.Context, e model.Embedder, text string) ([]float32, error) {
	vectors, err := e.Embed(ctx, model.Query, []string{text})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 {
		return nil, fmt.Errorf("model %s gave %d vectors for one text", e.Model(), len(vectors))
	}
	if n := len(vectors[0]); n != 0 && n != e.Dims() {
		return nil, fmt.Errorf("model %s gave a vector of %d dimensions, not %d", e.Model(), n, e.Dims())
	}
	return vectors[0], nil
}

// vectorOf returns the vector of a query, or nil if all its numbers are zero. counted has the numbers of chunks with
// each word, or nil if no words were counted.
func (s *Searcher) vectorOf(ctx context.Context, text string) (v []float32, counted *wordCounts, err error) {
	if s.modelWords.embed == nil {
		vectors, err := s.vectorsOf(ctx, []string{text})
		if err != nil {
			return nil, nil, err
		}
		return vectors[0], nil, nil
	}
	if v, counted, err = s.modelWords.embed(ctx, text); err != nil {
		return nil, nil, err
	}
	v, err = usableVector(v)
	return v, counted, err
}

// vectorsOf returns the vector of each text, in order; a vector of zeros becomes nil. If the model fails for some
// texts, it returns the first error and the vectors of the other texts.
func (s *Searcher) vectorsOf(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := s.Embed(ctx, texts)
	if len(vectors) != len(texts) {
		return nil, cmp.Or(err, fmt.Errorf("the model gave %d vectors for %d texts", len(vectors), len(texts)))
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		vector, unusable := usableVector(v)
		out[i], err = vector, cmp.Or(err, unusable)
	}
	return out, err
}

// usableVector returns v, or nil if all its numbers are zero. If a number is not finite, it returns an error, so that
// the search goes on without the vector.
func usableVector(v []float32) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	switch {
	case square-square != 0: // NaN when a number is NaN or infinite
		return nil, errors.New("the model gave a vector with numbers that are not finite")
	case square == 0:
		return nil, nil
	}
	return v, nil
}

// A text of more than maxWeighed words counts as a document, and all its words weigh the same. In a shorter text, the
// rarity of each word is looked up.
const maxWeighed = 64
