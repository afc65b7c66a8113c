package search

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sheaf"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
)

// fusion is that of a phase, with what the query is worth in each branch when the
// fusion asks for it.
func (r *run) fusion(ctx context.Context, ph *profile.Phase, outcomes []outcome) (rank.Fusion, error) {
	scores, ok := ph.Fusion.(rank.Scores)
	if !ok || scores.Norm != rank.NormShare {
		return ph.Fusion, nil
	}
	scores.Ideals = make([]float64, len(outcomes))
	for i := range outcomes {
		if outcomes[i].request.Text == nil {
			continue
		}
		var err error
		if scores.Ideals[i], err = r.ideal(ctx, &outcomes[i]); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// ideal is what a hit would score in a branch of words that has each of the
// query's terms often, in one field of weight 1: the sum of their idf, as counted
// over all chunks. When the store cannot count, it is the branch's best score.
func (r *run) ideal(ctx context.Context, o *outcome) (float64, error) {
	best := 0.0
	if len(o.ranking) > 0 {
		best = o.ranking[0].Score
	}
	w, err := r.counted(ctx)
	switch {
	case err != nil:
		return 0, err
	case w == nil || w.sum <= 0:
		return best, nil
	}
	// Words that were not counted, and words that stand for several terms, may score more.
	return max(w.sum, best), nil
}

// worth is what the words of the query are worth; nil when the store cannot count. The
// store is asked once, whatever comes of it.
func (r *run) worth(ctx context.Context) (*worth, error) {
	if !r.weighed {
		r.weighed = true
		r.worthy, r.uncounted = r.weigh(ctx)
		if errors.Is(r.uncounted, sheaf.ErrUnsupported) {
			r.uncounted = nil
		}
	}
	return r.worthy, r.uncounted
}

// counted returns what worth does. When the time ends before the words are counted, it
// returns nil and the answer says so.
func (r *run) counted(ctx context.Context) (*worth, error) {
	w, err := r.worth(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.uncounted = nil // say it once
		r.warn("timed out before the words of the query were counted; how rare they are does not count")
		return nil, nil
	}
	return w, err
}

// weigh asks the store what the words of the query are worth.
func (r *run) weigh(ctx context.Context) (*worth, error) {
	counter, ok := r.searcher.Backend.(store.Counter)
	if !ok {
		return nil, nil
	}
	n, err := r.chunks(ctx, counter)
	if err != nil {
		return nil, err
	}
	var list sought
	r.seek(&list)
	list.add(r.query.Words, 1)
	dfs, err := r.frequencies(ctx, counter, list.queries)
	if errors.Is(err, sheaf.ErrUnsupported) && list.withoutPhrases() {
		dfs, err = r.frequencies(ctx, counter, list.queries)
	}
	if err != nil {
		return nil, err
	}
	return list.worth(dfs, n), nil
}

// seek tells a list how to split texts into words.
func (r *run) seek(list *sought) {
	list.words, list.ofPhrase = strings.Fields, strings.Fields
	if r.searcher.Analyzer != nil {
		list.words = r.tellingWords
		list.ofPhrase = r.phraseWords
		list.compound = r.isCompound
	}
}

// isCompound reports whether a word has parts that are terms, too, such as "GitHub".
func (r *run) isCompound(word string) bool {
	return r.searcher.Analyzer != nil && len(r.searcher.Analyzer.QueryTokens(word)) > 1
}

// frequencies counts the chunks that each of queries matches in any field. It asks the
// store only for words that were not counted for the vector of the query.
func (r *run) frequencies(ctx context.Context, counter store.Counter, queries []sheaf.TextQuery) ([]int, error) {
	dfs := make([]int, len(queries))
	var left []sheaf.TextQuery
	var at []int
	for i, q := range queries {
		if n, ok := r.tallied.of(q); ok {
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

// maxWorth bounds how many words of a query are counted; those after them are
// taken to be worth as much.
const maxWorth = 256

// worth is what the parts of a query are worth that are matched by themselves: the
// sum of all, and each of them in order, words that repeat once.
type worth struct {
	sum   float64
	parts []valued
}

// valued is a part of a query that is matched by itself: its idf, and what it is
// worth in the query, where it may stand several times or be boosted.
type valued struct {
	query sheaf.TextQuery
	text  string
	// chunks is how many hold it.
	chunks     int
	idf, worth float64
}

// sought lists the parts of a query that are matched by themselves.
type sought struct {
	// words are those of a text, ofPhrase those of a phrase. compound says that a word has
	// parts that are terms, too.
	words    func(text string) []string
	ofPhrase func(text string) []string
	compound func(word string) bool
	// queries are the different ones, texts what they are called.
	queries []sheaf.TextQuery
	texts   []string
	places  []place
	looked  int // so many words
}

// place is where a part stands in the query: the index of the part, how often it
// counts, and how much more the sum takes from it for words that were not looked at.
type place struct {
	part          int
	factor, share float64
}

// add lists the parts of q, which counts factor times.
func (l *sought) add(q sheaf.TextQuery, factor float64) {
	switch q := q.(type) {
	case sheaf.Match:
		l.addWords(l.words(q.Text), factor)
	case sheaf.Phrase:
		l.addWords(l.ofPhrase(q.Text), factor)
	case sheaf.Boost:
		l.add(q.Query, factor*q.Factor)
	case sheaf.Bool:
		for _, list := range [][]sheaf.TextQuery{q.Must, q.Should} {
			for _, part := range list {
				l.add(part, factor)
			}
		}
	case sheaf.Prefix:
		l.put(q, q.Text+"*", factor)
	case sheaf.Fuzzy:
		l.put(q, q.Text+"~", factor)
	}
}

// addWords lists the words of a text.
func (l *sought) addWords(words []string, factor float64) {
	looked := words[:min(len(words), maxWorth-l.looked)]
	l.looked += len(looked)
	from := len(l.places)
	for _, word := range looked {
		if l.compound != nil && l.compound(word) { // Match would count chunks with any of the parts
			l.put(sheaf.Phrase{Text: word}, word, factor)
		} else {
			l.put(sheaf.Match{Text: word}, word, factor)
		}
	}
	for i := range l.places[from:] {
		l.places[from+i].share = float64(len(words)) / float64(len(looked))
	}
}

// withoutPhrases turns phrases into words, for a store that has no phrases. It reports
// whether there were any.
func (l *sought) withoutPhrases() (changed bool) {
	for i, q := range l.queries {
		if phrase, ok := q.(sheaf.Phrase); ok {
			l.queries[i], changed = sheaf.Match{Text: phrase.Text}, true
		}
	}
	return changed
}

func (l *sought) put(q sheaf.TextQuery, text string, factor float64) {
	part := slices.Index(l.texts, text)
	if part < 0 {
		part = len(l.texts)
		l.queries, l.texts = append(l.queries, q), append(l.texts, text)
	}
	l.places = append(l.places, place{part, factor, 1})
}

// worth is what the parts are worth of which dfs of some chunks hold each.
func (l *sought) worth(dfs []int, chunks int) *worth {
	w := &worth{parts: make([]valued, len(l.queries))}
	for i := range w.parts {
		w.parts[i] = valued{query: l.queries[i], text: l.texts[i], chunks: dfs[i], idf: idf(dfs[i], chunks)}
	}
	for _, p := range l.places {
		at := &w.parts[p.part]
		at.worth += p.factor * at.idf
		w.sum += p.factor * at.idf * p.share
	}
	return w
}

// chunks is the number of chunks of the collection, as far as the caller sees them.
// Facts that know it save asking the store.
func (r *run) chunks(ctx context.Context, counter store.Counter) (int, error) {
	known := 0
	switch f := r.searcher.Facts.(type) {
	case interface{ Chunks() int }:
		known = f.Chunks()
	case interface{ Chunks(context.Context) int }:
		known = f.Chunks(ctx)
	}
	if known > 0 {
		return known, nil
	}
	if r.size == 0 {
		n, err := counter.Count(ctx, store.Request{Limit: 1, Text: &store.TextRequest{Query: sheaf.Bool{}, Fields: everyField, K1: store.DefaultK1, B: store.DefaultB}})
		if err != nil {
			return 0, err
		}
		r.size = max(n, 1)
	}
	return r.size, nil
}
