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

// localModel is the model given to SetModel.
type localModel struct {
	// local, unless nil, embeds the query instead of Embed. language, unless nil, tells the language of the query.
	local    model.Embedder
	language model.LanguageReader
	chunks   int // in the store
}

// SetModel makes s search by meaning with e, the model of the store's vectors. If e can weigh words, words with few
// matches in the store weigh more. If the store cannot count, all words weigh the same, and the answer has a note. a
// is the analyzer of the store, and chunks is the number of chunks.
func (s *Searcher) SetModel(e model.Embedder, a *analysis.Analyzer, chunks int) {
	s.Analyzer, s.local, s.chunks = a, e, chunks
	s.language, _ = e.(model.LanguageReader)
	s.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
		vectors, errs := make([][]float32, len(texts)), make([]error, len(texts))
		store.Together(len(texts), func(i int) {
			vectors[i], _, errs[i] = s.embedLocally(ctx, texts[i], &stats{searcher: s})
		})
		return vectors, cmp.Or(errs...)
	}
}

// SetEmbed makes s turn queries into vectors with embed, which does not weigh words. SetModel replaces embed, so the
// caller must call SetEmbed after SetModel.
func (s *Searcher) SetEmbed(embed func(ctx context.Context, texts []string) ([][]float32, error)) {
	s.Embed, s.local = embed, nil
}

// embedLocally returns the vector of a text from the model given to SetModel. counted counts the words of the text in
// the store, if the model can weigh words. alike says that all words weigh the same because the store cannot count.
func (s *Searcher) embedLocally(ctx context.Context, text string, counted *stats) (
	v []float32, alike bool, err error) {
	weigher, weighs := s.local.(model.WeightEmbedder)
	words := strings.Fields(text)
	if weighs && len(words) <= maxWeighed {
		known, queries := make([]string, 0, len(words)), make([]sheaf.TextQuery, 0, len(words))
		for _, word := range words {
			if !slices.Contains(known, word) && len(s.Analyzer.QueryTokens(word)) > 0 {
				known, queries = append(known, word), append(queries, sheaf.Match{Text: word})
			}
		}
		dfs, err := counted.frequencies(ctx, queries)
		if err == nil {
			return weigher.EmbedWeighted(text, func(word string) float64 {
				if i := slices.Index(known, word); i >= 0 {
					return math.Sqrt(IDF(dfs[i], s.chunks))
				}
				return math.Sqrt(math.Ln2) // a word without a term weighs like a word in every second chunk
			}), false, nil
		}
		if alike = errors.Is(err, sheaf.ErrUnsupported); !alike {
			return nil, false, err
		}
	}
	vectors, err := s.local.Embed(ctx, model.Query, []string{text})
	if err != nil {
		return nil, alike, err
	}
	if len(vectors) != 1 {
		return nil, alike, fmt.Errorf("model %s gave %d vectors for one text", s.local.Model(), len(vectors))
	}
	if n := len(vectors[0]); n != 0 && n != s.local.Dims() {
		return nil, alike, fmt.Errorf("model %s gave a vector of %d dimensions, not %d", s.local.Model(), n, s.local.Dims())
	}
	return vectors[0], alike, nil
}

// isForeign reports whether the model knows that a text has another language than the collection.
func (s *Searcher) isForeign(text string) bool {
	if s.language == nil || s.Analyzer.Language() == "" {
		return false
	}
	english, known := s.language.IsEnglish(text)
	return known && english != (s.Analyzer.Language() == "en")
}

// queryVector returns the vector of a query, or nil if all its numbers are zero. If the model could weigh words but the
// store cannot count them, it adds a note.
func (r *run) queryVector(ctx context.Context, text string) ([]float32, error) {
	if r.searcher.local == nil {
		vectors, err := r.searcher.vectorsOf(ctx, []string{text})
		if err != nil {
			return nil, err
		}
		return vectors[0], nil
	}
	v, alike, err := r.searcher.embedLocally(ctx, text, &r.stats)
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
