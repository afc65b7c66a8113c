package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/text/analysis"
)

// stats has the numbers of chunks that contain the words of one query. It counts only chunks that the caller may see.
type stats struct {
	searcher *Searcher
	// words has the idf of the query's words. It is nil before the store has counted them. fault is the error of
	// counting. requested says that the store was asked.
	words     *idfWorth
	fault     error
	requested bool
	// counts has the number of chunks for each query that the store has counted.
	counts map[sheaf.TextQuery]int
}

// worth returns the idf of words, the words of the query. If the store cannot count, it returns nil. It asks the store
// only once. After a failure it returns the same error again.
func (s *stats) worth(ctx context.Context, words sheaf.TextQuery) (*idfWorth, error) {
	if !s.requested {
		s.requested = true
		s.words, s.fault = s.weigh(ctx, words)
		if errors.Is(s.fault, sheaf.ErrUnsupported) {
			s.fault = nil
		}
	}
	return s.words, s.fault
}

// weigh asks the store how often the words of the query occur, and computes their idf.
func (s *stats) weigh(ctx context.Context, words sheaf.TextQuery) (*idfWorth, error) {
	n, err := s.chunks(ctx)
	if err != nil {
		return nil, err
	}
	list := queryParts{stats: s}
	list.add(words)
	dfs, err := s.frequencies(ctx, list.queries())
	if errors.Is(err, sheaf.ErrUnsupported) && list.withoutPhrases() {
		dfs, err = s.frequencies(ctx, list.queries())
	}
	if err != nil {
		return nil, err
	}
	w := &idfWorth{parts: list.parts}
	for i := range w.parts {
		p := &w.parts[i]
		p.chunks, p.idf = dfs[i], IDF(dfs[i], n)
		if dfs[i] == 0 && list.hasWhole(p.text, dfs) {
			p.idf = 0 // the query IpV6 finds IPv6, which has no part V6
		}
		p.worth = p.factor * p.idf
		w.sum += p.worth + p.extra*p.idf
	}
	return w, nil
}

// isCompound reports whether a word has several terms because its parts are also terms, as in "GitHub".
func (s *stats) isCompound(word string) bool {
	return s.searcher.Analyzer != nil && len(s.searcher.Analyzer.QueryTokens(word)) > 1
}

// frequencies returns the number of chunks that each query matches in any field. It asks the store only for queries
// that were not counted before. If the store cannot count, it returns sheaf.ErrUnsupported.
func (s *stats) frequencies(ctx context.Context, queries []sheaf.TextQuery) ([]int, error) {
	left := slices.DeleteFunc(slices.Clone(queries), func(q sheaf.TextQuery) bool {
		_, known := s.counts[q]
		return known
	})
	counter, ok := s.searcher.Backend.(store.Counter)
	if !ok {
		return nil, errNoCounts
	}
	if len(left) > 0 {
		reqs := make([]store.Request, len(left))
		for i, q := range left {
			reqs[i] = store.Request{Limit: 1, Text: AnyField(q)}
		}
		counts, err := store.CountAll(ctx, counter, reqs)
		if err != nil {
			return nil, fmt.Errorf("count matches: %w", err)
		}
		if s.counts == nil {
			s.counts = make(map[sheaf.TextQuery]int, len(left))
		}
		for i, q := range left {
			s.counts[q] = counts[i]
		}
	}
	dfs := make([]int, len(queries))
	for i, q := range queries {
		dfs[i] = s.counts[q]
	}
	return dfs, nil
}

// maxWorth is the largest number of words of a query that are counted. Each further word weighs as much as the average
// word.
const maxWorth = 256

// idfWorth is the idf of a query: the sum, and the idf of each part that is matched separately. A repeated word is one
// part.
type idfWorth struct {
	sum   float64
	parts []partWorth
}

// partWorth is a part of a query that is matched separately. idf is the rarity of the part. worth is what the part adds
// to the query's sum: idf times the factors of all its occurrences.
type partWorth struct {
	query sheaf.TextQuery
	text  string
	// chunks is the number of chunks that match the part.
	chunks     int
	idf, worth float64
	// factor is the sum of the factors of the occurrences. extra is what the words beyond maxWorth add to factor.
	factor, extra float64
}

// queryParts lists the different parts of a query that are matched separately.
type queryParts struct {
	stats  *stats
	parts  []partWorth
	looked int // number of words so far
}

// queries returns the parts as queries.
func (l *queryParts) queries() []sheaf.TextQuery {
	out := make([]sheaf.TextQuery, len(l.parts))
	for i := range l.parts {
		out[i] = l.parts[i].query
	}
	return out
}

// add adds the parts of q that are matched separately to the list.
func (l *queryParts) add(q sheaf.TextQuery) {
	for part, factor := range sheaf.Wanted(q) {
		switch part := part.(type) {
		case sheaf.Match:
			l.addWords(l.stats.tellingWords(part.Text), factor)
		case sheaf.Phrase:
			l.addWords(l.stats.phraseWords(part.Text), factor)
		case sheaf.Prefix:
			l.put(part, part.Text+"*", factor, 1)
		case sheaf.Fuzzy:
			l.put(part, part.Text+"~", factor, 1)
		}
	}
}

func (l *queryParts) addWords(words []string, factor float64) {
	looked := words[:min(len(words), maxWorth-l.looked)]
	l.looked += len(looked)
	share := float64(len(words)) / float64(len(looked))
	for _, word := range looked {
		if l.stats.isCompound(word) { // Match would count chunks with any of the parts
			l.put(sheaf.Phrase{Text: word}, word, factor, share)
		} else {
			l.put(sheaf.Match{Text: word}, word, factor, share)
		}
	}
}

// withoutPhrases turns phrases into words, for a store without phrases. It reports whether there was a phrase.
func (l *queryParts) withoutPhrases() (changed bool) {
	for i := range l.parts {
		if phrase, ok := l.parts[i].query.(sheaf.Phrase); ok {
			l.parts[i].query, changed = sheaf.Match{Text: phrase.Text}, true
		}
	}
	return changed
}

// put adds an occurrence of a part. share is the number of words of the query's text divided by the number of counted
// words: see maxWorth.
func (l *queryParts) put(q sheaf.TextQuery, text string, factor, share float64) {
	i := slices.IndexFunc(l.parts, func(p partWorth) bool { return p.text == text })
	if i < 0 {
		i = len(l.parts)
		l.parts = append(l.parts, partWorth{query: q, text: text})
	}
	l.parts[i].factor += factor
	l.parts[i].extra += factor * (share - 1)
}

// hasWhole reports whether text is a part of a compound word in the query, and a chunk has this compound. dfs has the
// number of matching chunks for each part of the query.
func (l *queryParts) hasWhole(text string, dfs []int) bool {
	for i := range l.parts {
		word := l.parts[i].text
		if dfs[i] > 0 && word != text && l.stats.isCompound(word) && slices.Contains(l.stats.tellingWords(word), text) {
			return true
		}
	}
	return false
}

// chunks returns the number of chunks that the caller sees. It asks the store only if the facts do not know the number.
// If the store cannot count, it returns sheaf.ErrUnsupported.
func (s *stats) chunks(ctx context.Context) (int, error) {
	counter, ok := s.searcher.Backend.(store.Counter)
	if !ok {
		return 0, errNoCounts
	}
	known := 0
	switch f := s.searcher.Facts.(type) {
	case interface{ Chunks() int }:
		known = f.Chunks()
	case interface{ Chunks(context.Context) int }:
		known = f.Chunks(ctx)
	}
	if known > 0 {
		return known, nil
	}
	every := requirement(everything)
	n, err := counter.Count(ctx, store.Request{Limit: 1, Text: &every})
	return max(n, 1), err
}

// phraseWords returns the words that a text must contain to match a phrase.
func (s *stats) phraseWords(phrase string) []string {
	if s.searcher.Analyzer == nil {
		return strings.Fields(phrase)
	}
	return textsOf(phrase, s.searcher.Analyzer.PhraseTokens(phrase))
}

// tellingWords returns the words of a text that are not function words.
func (s *stats) tellingWords(text string) []string {
	a := s.searcher.Analyzer
	if a == nil {
		return strings.Fields(text)
	}
	return textsOf(text, a.Telling(text, a.QueryTokens(text)))
}

// textsOf returns the words of the tokens of a text, as they are in the text.
func textsOf(text string, tokens []analysis.Token) []string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = text[t.Start:t.End]
	}
	return words
}

// everyField lists all fields with weight 1. With BM25F, a word has one frequency for all these fields. So stores know
// the number of its chunks without reading its postings.
var everyField = func() []store.FieldWeight {
	fields := make([]store.FieldWeight, len(sheaf.Fields))
	for i, name := range sheaf.Fields {
		fields[i] = store.FieldWeight{Name: name, Weight: 1}
	}
	return fields
}()

// AnyField returns a request for the chunks that match q in any field, in the form that stores count fastest.
func AnyField(q sheaf.TextQuery) *store.TextRequest {
	return &store.TextRequest{
		Query: q, Fields: everyField, Combine: store.CombineBM25F, K1: store.DefaultK1, B: store.DefaultB,
	}
}

// errNoCounts means that the store cannot count.
var errNoCounts = fmt.Errorf("count matches: the store cannot do that: %w", sheaf.ErrUnsupported)

// IDF returns BM25's rarity of a word that df of the chunks contain: ln(1 + (chunks - df + 0.5)/(df + 0.5)).
func IDF(df, chunks int) float64 {
	n, d := float64(max(chunks, df)), float64(df)
	return math.Log(1 + (n-d+0.5)/(d+0.5))
}

// ideals returns the score of a perfect hit in each branch by words, and 0 for other branches. A perfect hit has every
// term of the query often, in one field of weight 1. Its score is the sum of the terms' idf. If the branch's best score
// is larger, or the store cannot count, ideals returns the best score instead.
func (r *run) ideals(ctx context.Context, outcomes []outcome) ([]float64, error) {
	out := make([]float64, len(outcomes))
	for i := range outcomes {
		if outcomes[i].request.Text == nil {
			continue
		}
		w, err := r.worthInTime(ctx)
		if err != nil {
			return nil, err
		}
		if len(outcomes[i].ranking) > 0 {
			out[i] = outcomes[i].ranking[0].Score
		}
		if w != nil && w.sum > 0 { // words that were not counted, or that match several terms, may score more
			out[i] = max(out[i], w.sum)
		}
	}
	return out, nil
}

// worthInTime calls stats.worth. If time runs out before it returns, worthInTime returns nil and adds a warning.
func (r *run) worthInTime(ctx context.Context) (*idfWorth, error) {
	w, err := r.stats.worth(ctx, r.query.Words)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.stats.fault = nil // report it once
		r.warn("timed out before the words of the query were counted; how rare they are does not count")
		return nil, nil
	}
	return w, err
}
