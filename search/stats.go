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
	// tallied has the words that were counted for the query's vector. If none were counted, it is nil.
	tallied *wordCounts
	// size is the number of chunks. It is 0 until it is known.
	size int
	// analyzed is the last text of the query that was analyzed, with its tokens.
	analyzed *analyzedText
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

// weigh asks the store how often the words of the query occur.
func (s *stats) weigh(ctx context.Context, words sheaf.TextQuery) (*idfWorth, error) {
	counter, ok := s.searcher.Backend.(store.Counter)
	if !ok {
		return nil, nil
	}
	n, err := s.chunks(ctx, counter)
	if err != nil {
		return nil, err
	}
	list := queryParts{stats: s}
	list.add(words)
	dfs, err := s.frequencies(ctx, counter, list.queries)
	if errors.Is(err, sheaf.ErrUnsupported) && list.withoutPhrases() {
		dfs, err = s.frequencies(ctx, counter, list.queries)
	}
	if err != nil {
		return nil, err
	}
	return list.worth(dfs, n), nil
}

// isCompound reports whether a word has several terms because its parts are also terms, as in "GitHub".
func (s *stats) isCompound(word string) bool {
	return s.searcher.Analyzer != nil && len(s.searcher.Analyzer.QueryTokens(word)) > 1
}

// frequencies returns the number of chunks that each query matches in any field. It does not ask again for words that
// were counted for the vector.
func (s *stats) frequencies(ctx context.Context, counter store.Counter, queries []sheaf.TextQuery) ([]int, error) {
	dfs := make([]int, len(queries))
	var left []sheaf.TextQuery
	var at []int
	for i, q := range queries {
		if n, ok := s.tallied.countOf(q); ok {
			dfs[i] = n
		} else {
			left, at = append(left, q), append(at, i)
		}
	}
	if len(left) == 0 {
		return dfs, nil
	}
	counts, err := frequencies(ctx, counter, left)
	for k, n := range counts {
		dfs[at[k]] = n
	}
	return dfs, err
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
}

// queryParts lists the parts of a query that are matched separately.
type queryParts struct {
	stats *stats
	// queries are the different parts of the query. texts[i] is queries[i] as text.
	queries []sheaf.TextQuery
	texts   []string
	places  []place
	looked  int // number of words so far
}

// place is one occurrence of a part in the query: the index of the part, and its factor there. share is the number of
// words of the query's text divided by the number of counted words: see maxWorth.
type place struct {
	part          int
	factor, share float64
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
			l.put(part, part.Text+"*", factor)
		case sheaf.Fuzzy:
			l.put(part, part.Text+"~", factor)
		}
	}
}

func (l *queryParts) addWords(words []string, factor float64) {
	looked := words[:min(len(words), maxWorth-l.looked)]
	l.looked += len(looked)
	from := len(l.places)
	for _, word := range looked {
		if l.stats.isCompound(word) { // Match would count chunks with any of the parts
			l.put(sheaf.Phrase{Text: word}, word, factor)
		} else {
			l.put(sheaf.Match{Text: word}, word, factor)
		}
	}
	for i := range l.places[from:] {
		l.places[from+i].share = float64(len(words)) / float64(len(looked))
	}
}

// withoutPhrases turns phrases into words, for a store without phrases. It reports whether there was a phrase.
func (l *queryParts) withoutPhrases() (changed bool) {
	for i, q := range l.queries {
		if phrase, ok := q.(sheaf.Phrase); ok {
			l.queries[i], changed = sheaf.Match{Text: phrase.Text}, true
		}
	}
	return changed
}

func (l *queryParts) put(q sheaf.TextQuery, text string, factor float64) {
	part := slices.Index(l.texts, text)
	if part < 0 {
		part = len(l.texts)
		l.queries, l.texts = append(l.queries, q), append(l.texts, text)
	}
	l.places = append(l.places, place{part, factor, 1})
}

// worth computes the idf of the parts. dfs has the number of matching chunks for each part. The parameter chunks is the
// number of all chunks.
func (l *queryParts) worth(dfs []int, chunks int) *idfWorth {
	w := &idfWorth{parts: make([]partWorth, len(l.queries))}
	for i := range w.parts {
		w.parts[i] = partWorth{query: l.queries[i], text: l.texts[i], chunks: dfs[i], idf: IDF(dfs[i], chunks)}
		if dfs[i] == 0 && l.hasWhole(l.texts[i], dfs) {
			w.parts[i].idf = 0 // the query IpV6 finds IPv6, which has no part V6
		}
	}
	for _, p := range l.places {
		at := &w.parts[p.part]
		at.worth += p.factor * at.idf
		w.sum += p.factor * at.idf * p.share
	}
	return w
}

// hasWhole reports whether text is a part of a compound word in the query, and a chunk has this compound. dfs has the
// number of matching chunks for each part of the query.
func (l *queryParts) hasWhole(text string, dfs []int) bool {
	for i, word := range l.texts {
		if dfs[i] > 0 && word != text && l.stats.isCompound(word) && slices.Contains(l.stats.tellingWords(word), text) {
			return true
		}
	}
	return false
}

// chunks returns the number of chunks that the caller sees. It asks the store only if the facts do not know the number.
func (s *stats) chunks(ctx context.Context, counter store.Counter) (int, error) {
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
	if s.size == 0 {
		every := requirement(everything)
		n, err := counter.Count(ctx, store.Request{Limit: 1, Text: &every})
		if err != nil {
			return 0, err
		}
		s.size = max(n, 1)
	}
	return s.size, nil
}

// analyzedText is a text of a query with its tokens. contentWords are the tokens of words that are not function words.
type analyzedText struct {
	text                 string
	tokens, contentWords []analysis.Token
}

// tokens returns the tokens of a text of the query. telling has only the tokens of words that are not function words.
// tokens caches both for later steps. The caller must have set an analyzer.
func (s *stats) tokens(text string) (tokens, telling []analysis.Token) {
	if s.analyzed == nil || s.analyzed.text != text {
		a := s.searcher.Analyzer
		tokens := a.QueryTokens(text)
		s.analyzed = &analyzedText{text, tokens, a.Telling(text, tokens)}
	}
	return s.analyzed.tokens, s.analyzed.contentWords
}

// phraseWords returns the words that a text must contain to match a phrase.
func (s *stats) phraseWords(phrase string) []string {
	if s.searcher.Analyzer == nil {
		return strings.Fields(phrase)
	}
	tokens := s.searcher.Analyzer.PhraseTokens(phrase)
	words := make([]string, 0, len(tokens))
	for _, t := range tokens {
		words = append(words, phrase[t.Start:t.End])
	}
	return words
}

// tellingWords returns the words of a text that are not function words.
func (s *stats) tellingWords(text string) []string {
	if s.searcher.Analyzer == nil {
		return strings.Fields(text)
	}
	_, telling := s.tokens(text)
	words := make([]string, 0, len(telling))
	for _, t := range telling {
		words = append(words, text[t.Start:t.End])
	}
	return words
}

// wordCounts has the number of chunks with each word of a query: chunks[i] is the number for queries[i]. The search
// counts the words to compute the query's vector, and later steps use the numbers again.
type wordCounts struct {
	queries []sheaf.TextQuery
	chunks  []int
}

// countOf returns the number of chunks that q matches. The bool is false if q was not counted.
func (c *wordCounts) countOf(q sheaf.TextQuery) (int, bool) {
	if _, ok := q.(sheaf.Match); !ok || c == nil { // other types may not be comparable
		return 0, false
	}
	if i := slices.Index(c.queries, q); i >= 0 {
		return c.chunks[i], true
	}
	return 0, false
}

// everyField lists all fields with weight 1. With BM25F, a word has one frequency for all these fields. So stores can
// count it without reading its postings.
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

// frequencies asks the store for the number of chunks that each query matches in any field.
func frequencies(ctx context.Context, counter store.Counter, queries []sheaf.TextQuery) ([]int, error) {
	reqs := make([]store.Request, len(queries))
	for i, q := range queries {
		reqs[i] = store.Request{Limit: 1, Text: AnyField(q)}
	}
	dfs, err := store.CountAll(ctx, counter, reqs)
	if err != nil {
		return nil, fmt.Errorf("count matches: %w", err)
	}
	return dfs, nil
}

// IDF returns BM25's rarity of a word that df of the chunks contain: ln(1 + (chunks - df + 0.5)/(df + 0.5)).
func IDF(df, chunks int) float64 {
	n, d := float64(max(chunks, df)), float64(df)
	return math.Log(1 + (n-d+0.5)/(d+0.5))
}
