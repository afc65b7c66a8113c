package search

import (
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

// SetModel lets s search by meaning with e, which made the vectors of the store.
// When e can weigh words, those of a query count by their rarity in the
// collection, of which a is the analyzer and chunks the number of chunks: a word
// of every page says little of what is asked.
// Where the store cannot count, all words weigh alike, and searches say so.
func (s *Searcher) SetModel(e model.Embedder, a *analysis.Analyzer, chunks int) {
	s.Analyzer, s.model = a, e.Model()
	if reader, ok := e.(model.LanguageReader); ok && a.Language() != "" {
		english := a.Language() == "en"
		s.foreign = func(text string) bool {
			is, known := reader.IsEnglish(text)
			return known && is != english
		}
	}
	alike := &atomic.Bool{}
	s.alike = alike
	s.Embed = func(ctx context.Context, text string) ([]float32, error) {
		weigher, ok := e.(model.WeightEmbedder)
		counter, countable := s.Backend.(store.Counter)
		words := strings.Fields(text)
		plain := func() ([]float32, error) {
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
		switch {
		case !ok || len(words) > maxWeighed:
			return plain()
		case !countable:
			alike.Store(true)
			return plain()
		}
		known, queries := make([]string, 0, len(words)), make([]sheaf.TextQuery, 0, len(words))
		var tokens []analysis.Token
		for _, word := range words {
			if slices.Contains(known, word) {
				continue
			}
			if tokens = a.AppendQueryTokens(tokens[:0], word); len(tokens) > 0 {
				known, queries = append(known, word), append(queries, sheaf.Match{Text: word})
			}
		}
		dfs, err := frequencies(ctx, counter, queries)
		switch {
		case errors.Is(err, sheaf.ErrUnsupported):
			alike.Store(true)
			return plain()
		case err != nil:
			return nil, err
		}
		if told, ok := ctx.Value(talliedKey{}).(*tallied); ok {
			*told = tallied{queries, dfs}
		}
		return weigher.EmbedWeighted(text, func(word string) float64 {
			if i := slices.Index(known, word); i >= 0 {
				return math.Sqrt(idf(dfs[i], chunks))
			}
			return math.Sqrt(math.Ln2) // a word without a term weighs as one of every second chunk
		}), nil
	}
}

// vectorOf is the vector of a text, nil when it has no direction. Numbers that are
// none are a fault of the model, which a search survives; to a store they would be
// one of the caller.
func (s *Searcher) vectorOf(ctx context.Context, text string) ([]float32, error) {
	v, err := s.Embed(ctx, text)
	if err != nil {
		return nil, err
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	switch {
	case square-square != 0: // of NaN and infinities it is NaN
		return nil, errors.New("the model gave a vector of which not all numbers are finite")
	case square == 0:
		return nil, nil
	}
	return v, nil
}

// tallied are words that were counted for the vector of a query, and by how many chunks each is
// held: what else asks for the same words has no need to count them again.
type tallied struct {
	queries []sheaf.TextQuery
	chunks  []int
}

// talliedKey is that of the tallied in a context, where it is wanted.
type talliedKey struct{}

// of is by how many chunks what a query asks for is held; false when that was not counted.
func (c *tallied) of(q sheaf.TextQuery) (int, bool) {
	if _, ok := q.(sheaf.Match); !ok || c == nil { // others need not be comparable
		return 0, false
	}
	if i := slices.Index(c.queries, q); i >= 0 {
		return c.chunks[i], true
	}
	return 0, false
}

// maxWeighed is the number of words from which a text is taken for a document
// rather than for a query: there rarity has less to say, and counting takes time.
const maxWeighed = 64

// everyField asks for all fields. With BM25F, which has one frequency for all of
// them, stores can count a word without looking at what it matches.
var everyField = func() []store.FieldWeight {
	fields := make([]store.FieldWeight, len(sheaf.Fields))
	for i, name := range sheaf.Fields {
		fields[i] = store.FieldWeight{Name: name, Weight: 1}
	}
	return fields
}()

// frequencies counts the chunks that each of queries matches in any field.
func frequencies(ctx context.Context, counter store.Counter, queries []sheaf.TextQuery) ([]int, error) {
	reqs, texts := make([]store.Request, len(queries)), make([]store.TextRequest, len(queries))
	for i, q := range queries {
		texts[i] = store.TextRequest{Query: q, Fields: everyField, Combine: store.CombineBM25F, K1: store.DefaultK1, B: store.DefaultB}
		reqs[i] = store.Request{Limit: 1, Text: &texts[i]}
	}
	dfs, err := store.CountAll(ctx, counter, reqs)
	if err != nil {
		return nil, fmt.Errorf("count what matches: %w", err)
	}
	return dfs, nil
}

// idf is the rarity of what df of some chunks hold: the logarithm of
// 1 + (chunks without + 0.5)/(chunks with + 0.5), as in BM25.
func idf(df, chunks int) float64 {
	n, d := float64(max(chunks, df)), float64(df)
	return math.Log(1 + (n-d+0.5)/(d+0.5))
}
