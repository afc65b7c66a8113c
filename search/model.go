package search

import (
	"context"
	"fmt"
	"math"
	"strings"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/inference"
)

// SetModel lets s search by meaning with e, which made the vectors of the store.
// When e can weigh words, those of a query count by their rarity in the
// collection, of which a is the analyzer and chunks the number of chunks: a word
// of every page says little of what is asked.
func (s *Searcher) SetModel(e inference.Embedder, a *analysis.Analyzer, chunks int) {
	s.Analyzer = a
	if knower, ok := e.(inference.Knower); ok {
		s.Known = knower.Known
	}
	if reader, ok := e.(inference.Reader); ok {
		s.Reads = reader.Reads
	}
	s.Embed = func(ctx context.Context, text string) ([]float32, error) {
		weigher, ok := e.(inference.WeightEmbedder)
		counter, countable := s.Backend.(backend.Counter)
		words := strings.Fields(text)
		if !ok || !countable || len(words) > maxWeighed {
			vectors, err := e.Embed(ctx, inference.Query, []string{text})
			if err != nil {
				return nil, err
			}
			if len(vectors) != 1 {
				return nil, fmt.Errorf("model %s gave %d vectors for one text", e.Model(), len(vectors))
			}
			return vectors[0], nil
		}
		weights := make(map[string]float64, len(words))
		for _, word := range words {
			if _, done := weights[word]; done {
				continue
			}
			idf, err := rarity(ctx, counter, a, word, chunks)
			if err != nil {
				return nil, err
			}
			weights[word] = math.Sqrt(idf)
		}
		return weigher.EmbedWeighted(text, func(word string) float64 { return weights[word] }), nil
	}
}

// maxWeighed is the number of words from which a text is taken for a document
// rather than for a query: there rarity has less to say, and counting takes time.
const maxWeighed = 64

// everyField asks for all fields. With BM25F, which has one frequency for all of
// them, stores can count a word without looking at what it matches.
var everyField = func() []backend.FieldWeight {
	fields := make([]backend.FieldWeight, len(sheaf.Fields))
	for i, name := range sheaf.Fields {
		fields[i] = backend.FieldWeight{Name: name, Weight: 1}
	}
	return fields
}()

// rarity is the idf of a word in a collection; that of a word in every second
// chunk when it has no term.
func rarity(ctx context.Context, counter backend.Counter, a *analysis.Analyzer, word string, chunks int) (float64, error) {
	if len(a.QueryTokens(word)) == 0 {
		return math.Ln2, nil
	}
	return idf(ctx, counter, sheaf.Match{Text: word}, chunks)
}

// idf is the rarity of what matches q in a collection of some chunks: the
// logarithm of 1 + (chunks without + 0.5)/(chunks with + 0.5), as in BM25.
func idf(ctx context.Context, counter backend.Counter, q sheaf.TextQuery, chunks int) (float64, error) {
	df, err := counter.Count(ctx, backend.Request{Limit: 1, Text: &backend.TextRequest{
		Query: q, Fields: everyField, Combine: backend.CombineBM25F, K1: backend.DefaultK1, B: backend.DefaultB,
	}})
	if err != nil {
		return 0, fmt.Errorf("count what matches: %w", err)
	}
	n, d := float64(max(chunks, df)), float64(df)
	return math.Log(1 + (n-d+0.5)/(d+0.5)), nil
}
