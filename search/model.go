package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/analysis"
)

// modelWords holds what the model given to SetModel can do with words: weigh them, and tell their language.
type modelWords struct {
	// embed works like Searcher.Embed for one text. count returns the number of chunks that each query matches.
	embed func(ctx context.Context, text string, count counting) ([]float32, error)
	// foreign reports whether a query has another language than the collection. It is nil if this is unknown.
	foreign func(text string) bool
}

// counting returns the number of chunks that each query matches. If the store cannot count, it returns
// sheaf.ErrUnsupported.
type counting func(ctx context.Context, queries []sheaf.TextQuery) ([]int, error)

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
	embed := func(ctx context.Context, text string, count counting) ([]float32, error) {
		weigher, ok := e.(model.WeightEmbedder)
		words := strings.Fields(text)
		if !ok || len(words) > maxWeighed {
			return embedPlain(ctx, e, text)
		}
		known, queries := make([]string, 0, len(words)), make([]sheaf.TextQuery, 0, len(words))
		for _, word := range words {
			if !slices.Contains(known, word) && len(a.QueryTokens(word)) > 0 {
				known, queries = append(known, word), append(queries, sheaf.Match{Text: word})
			}
		}
		dfs, err := count(ctx, queries)
		switch {
		case errors.Is(err, sheaf.ErrUnsupported):
			return embedPlain(ctx, e, text)
		case err != nil:
			return nil, err
		}
		return weigher.EmbedWeighted(text, func(word string) float64 {
			if i := slices.Index(known, word); i >= 0 {
				return math.Sqrt(IDF(dfs[i], chunks))
			}
			return math.Sqrt(math.Ln2) // a word without a term weighs like a word in every second chunk
		}), nil
	}
	s.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
		vectors, errs := make([][]float32, len(texts)), make([]error, len(texts))
		store.Together(len(texts), func(i int) {
			vectors[i], errs[i] = embed(ctx, texts[i], func(ctx context.Context, queries []sheaf.TextQuery) ([]int, error) {
				return frequencies(ctx, s.Backend, queries)
			})
		})
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

// queryVector returns the vector of a query, or nil if all its numbers are zero. If the model could weigh words but the
// store cannot count them, it adds a note.
func (r *run) queryVector(ctx context.Context, text string) ([]float32, error) {
	embed := r.searcher.modelWords.embed
	if embed == nil {
		vectors, err := r.searcher.vectorsOf(ctx, []string{text})
		if err != nil {
			return nil, err
		}
		return vectors[0], nil
	}
	alike := false // all words weigh the same
	v, err := embed(ctx, text, func(ctx context.Context, queries []sheaf.TextQuery) ([]int, error) {
		counts, err := r.stats.frequencies(ctx, queries)
		alike = errors.Is(err, sheaf.ErrUnsupported)
		return counts, err
	})
	if err != nil {
		return nil, err
	}
	v, err = usableVector(v)
	if alike && v != nil {
		r.note("%s cannot count words: in the meaning of the query frequent ones weigh as much as rare ones",
			r.searcher.storeName())
	}
	return v, err
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
