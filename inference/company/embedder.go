package company

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sheaf/inference"
)

// Weigher is what a model must be able to do to read words by their company.
type Weigher interface {
	inference.WeightEmbedder
	inference.Knower
}

// Embedder is a model that reads queries with the learned words of a collection.
// Passages are embedded as the model does. It implements inference.WeightEmbedder,
// inference.Knower and inference.Reader.
type Embedder struct {
	Weigher
	Words Words
}

var _ inference.Reader = Embedder{}

// weightOfFriends is what the words that a word is read as count together, beside
// the 1 of the word itself.
const weightOfFriends = 2

// Embed is that of the model, but for queries.
func (e Embedder) Embed(ctx context.Context, purpose inference.Purpose, texts []string) ([][]float32, error) {
	if purpose != inference.Query {
		return e.Weigher.Embed(ctx, purpose, texts)
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if len(e.read(text)) > 0 {
			out[i] = e.EmbedWeighted(text, func(string) float64 { return 1 })
			continue
		}
		v, err := e.Weigher.Embed(ctx, purpose, texts[i:i+1])
		if err != nil {
			return nil, err
		}
		out[i] = v[0]
	}
	return out, nil
}

// EmbedWeighted adds the words that learned ones are read as, with their share of
// the weight.
func (e Embedder) EmbedWeighted(text string, weight func(word string) float64) []float32 {
	added := map[string]float64{}
	var names []string
	for _, word := range e.read(text) {
		for _, f := range e.Words[plain(word)] {
			if _, there := added[f.Word]; !there {
				names = append(names, f.Word)
			}
			added[f.Word] += weightOfFriends * f.Share * weight(word)
		}
	}
	if len(names) == 0 {
		return e.Weigher.EmbedWeighted(text, weight)
	}
	// What is added is told from the query's own words by its place behind a
	// mark that no word has.
	const mark = "\x00"
	all := text + " " + mark + strings.Join(names, " "+mark)
	return e.Weigher.EmbedWeighted(all, func(word string) float64 {
		if name, ok := strings.CutPrefix(word, mark); ok {
			return added[name]
		}
		return weight(word)
	})
}

// Known counts learned words as known.
func (e Embedder) Known(text string) float64 {
	words := e.read(text)
	if len(words) == 0 {
		return e.Weigher.Known(text)
	}
	fields := strings.Fields(text)
	for i, f := range fields {
		if slices.Contains(words, f) {
			fields[i] = e.Words[plain(f)][0].Word
		}
	}
	return e.Weigher.Known(strings.Join(fields, " "))
}

// Reads implements inference.Reader.
func (e Embedder) Reads(text string) []string {
	var out []string
	for _, word := range e.read(text) {
		var names []string
		friends := e.Words[plain(word)]
		for _, f := range friends {
			names = append(names, f.Word)
		}
		out = append(out, fmt.Sprintf("%s is read also as %s, because they occur together, %d times, in %s and elsewhere", plain(word), strings.Join(names, ", "), friends[0].Together, friends[0].Where))
	}
	return out
}

// read are the words of text, as they stand there, that were learned, each once.
func (e Embedder) read(text string) []string {
	var out []string
	for word := range strings.FieldsSeq(text) {
		if len(e.Words[plain(word)]) > 0 && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// plain is a word of a query as it was learned.
func plain(word string) string {
	return strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}
