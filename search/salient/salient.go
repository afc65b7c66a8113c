// Package salient turns a text into a query for similar texts. The words of the query are frequent in the text and rare
// in the collection.
package salient

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/text/analysis"
)

// These are bounds of the work for one text.
const (
	// maxBytes is the largest number of bytes of a text that are read.
	maxBytes = 256 << 10
	// maxCandidates is the largest number of words that are counted in the collection.
	maxCandidates = 32
	// maxWords is the largest number of words in the query.
	maxWords = 12
)

// Text is a text to find similar texts for.
type Text struct {
	// Body is the text itself.
	Body string
	// Titles are the title and headings of the text, and the texts of its links. A word in Titles counts as much as
	// three more occurrences in Body.
	Titles []string
}

// Collection tells how rare words are.
type Collection struct {
	// Size is the number of chunks in the collection.
	Size int
	// Count returns the number of chunks that contain a word.
	Count func(word string) (int, error)
}

// Query returns a query for the words that are frequent in text and rare in the collection. A word weighs (1 + ln tf) *
// idf, scaled so that the largest weight is 1. Of words with equal weights, the first in the text comes first. Query
// skips words that the collection lacks. It returns nil when no word is left.
func Query(a *analysis.Analyzer, text Text, in Collection) (sheaf.TextQuery, error) {
	words := candidates(a, text)
	kept := words[:0]
	for _, w := range words {
		df, err := in.Count(w.raw)
		if err != nil {
			return nil, err
		}
		if df == 0 {
			continue
		}
		n, d := float64(max(in.Size, df)), float64(df)
		w.weight *= math.Log(1 + (n-d+0.5)/(d+0.5))
		kept = append(kept, w)
	}
	slices.SortFunc(kept, heavier)
	kept = kept[:min(len(kept), maxWords)]
	if len(kept) == 0 || kept[0].weight <= 0 {
		return nil, nil
	}
	var query sheaf.Bool
	for _, w := range kept {
		if factor := w.weight / kept[0].weight; factor > 0 {
			query.Should = append(query.Should, sheaf.Boost{Query: sheaf.Match{Text: w.raw}, Factor: factor})
		}
	}
	return query, nil
}

// word is a term, with its spelling where the term occurs first in the text.
type word struct {
	raw    string
	count  float64
	weight float64
	first  int
}

func heavier(a, b word) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.first, b.first))
}

// candidates returns the most frequent words of text, without function words, numbers and very short words.
func candidates(a *analysis.Analyzer, text Text) []word {
	stop, err := analysis.New(analysis.Options{Language: a.Language(), StopWords: true})
	if err != nil {
		stop = a
	}
	words := map[string]*word{}
	count := func(s string, weight float64) {
		a.Words(s, func(start, end int) bool {
			raw := s[start:end]
			if !telling(raw) || len(stop.Terms(nil, raw)) == 0 {
				return true
			}
			tokens := a.QueryTokens(raw)
			if len(tokens) == 0 {
				return true
			}
			w, ok := words[tokens[0].Term]
			if !ok {
				w = &word{raw: strings.Clone(raw), first: len(words)}
				words[tokens[0].Term] = w
			}
			w.count += weight
			return true
		})
	}
	for _, t := range text.Titles {
		count(t, 3)
	}
	count(text.Body[:min(len(text.Body), maxBytes)], 1)
	list := make([]word, 0, len(words))
	for _, w := range words {
		w.weight = 1 + math.Log(w.count)
		list = append(list, *w)
	}
	slices.SortFunc(list, heavier)
	return list[:min(len(list), maxCandidates)]
}

// telling reports whether a word says enough to search for: it has a letter and is not very short. In scripts without
// an alphabet, shorter words are enough.
func telling(raw string) bool {
	letters, wide := 0, false
	for _, r := range raw {
		if unicode.IsLetter(r) {
			letters++
			wide = wide || r >= 0x2E80
		}
	}
	return wide || letters > 0 && utf8.RuneCountInString(raw) > 2
}
