package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
)

// Bounds of the ways in which a phrase is looked for: how many ways, the bytes of a phrase
// that has several, how many names that its words may be are looked up, and the characters
// of such a word.
const (
	mostWays     = 8
	longestCased = 4 << 10
	mostCapitals = 64
	longestName  = 24
)

// anyCase has the phrases of a query found in any case. Capitals cut a name into words that
// follow one another: GitHub is github, git and hub, two words long, and github is one. So a
// phrase is looked for as it is written, in small letters, and with the names of two words
// among its words that there are.
func (r *run) anyCase(ctx context.Context) {
	if r.searcher.Analyzer == nil {
		return
	}
	c := casing{analyzer: r.searcher.Analyzer, names: map[string]bool{}}
	c.each(r.query.Words, c.list)
	if len(c.listed) > 0 && r.searcher.Backend != nil { // else files are scanned
		start, reqs := clock(), make([]backend.Request, len(c.listed))
		for i, name := range c.listed {
			text := requirement(sheaf.Phrase{Text: name})
			reqs[i] = backend.Request{Text: &text, Filter: r.query.Filter, Limit: 1}
		}
		found, err := backend.RetrieveAll(ctx, r.searcher.Backend, reqs)
		for i := range found {
			c.names[c.listed[i]] = err == nil && len(found[i]) > 0
		}
		if r.took("names", start); err != nil && !errors.Is(err, sheaf.ErrUnsupported) {
			r.failed("looking for names", fmt.Errorf("look for names: %w", err))
		}
	}
	r.query.Words, _ = c.each(r.query.Words, c.ways)
}

// casing is how the phrases of one query may be written.
type casing struct {
	analyzer *analysis.Analyzer
	listed   []string        // names that words may be
	names    map[string]bool // whether there are such
}

// each gives every phrase of a query to change; changed says that one is another now.
func (c *casing) each(q sheaf.TextQuery, change func(sheaf.Phrase) (sheaf.TextQuery, bool)) (out sheaf.TextQuery, changed bool) {
	switch q := q.(type) {
	case sheaf.Phrase:
		if len(q.Text) > longestCased {
			return q, false
		}
		return change(q)
	case sheaf.Boost:
		q.Query, changed = c.each(q.Query, change)
		return q, changed
	case sheaf.Bool:
		for _, parts := range [...]*[]sheaf.TextQuery{&q.Must, &q.Should, &q.MustNot} {
			own := false // the list is that of who asks
			for i, part := range *parts {
				if part, other := c.each(part, change); other {
					if !own {
						*parts, own, changed = slices.Clone(*parts), true, true
					}
					(*parts)[i] = part
				}
			}
		}
		return q, changed
	}
	return q, false
}

// list notes the names that words of a phrase may be. Of one word the whole is found anyway.
func (c *casing) list(q sheaf.Phrase) (sheaf.TextQuery, bool) {
	if small := plainly(q.Text); len(c.analyzer.QueryTokens(small)) > 1 {
		for word := range strings.FieldsSeq(small) {
			capitals(word, func(name, _ string) {
				if _, known := c.names[name]; !known && len(c.listed) < mostCapitals {
					c.names[name], c.listed = false, append(c.listed, name)
				}
			})
		}
	}
	return q, false
}

// ways looks for a phrase in all the ways in which its words may be written. One word is
// found in each way by the whole of it, which would count twice beside its parts.
func (c *casing) ways(q sheaf.Phrase) (sheaf.TextQuery, bool) {
	written, small := c.analyzer.QueryTokens(q.Text), plainly(q.Text)
	if whole := c.analyzer.QueryTokens(small); len(written) > 1 && len(whole) == 1 && slices.ContainsFunc(written, func(t analysis.Token) bool { return sameWord(t, whole[0]) }) {
		q.Text = small
		return q, true
	}
	var words [][]string
	n, longest := 1, 1
	for word := range strings.FieldsSeq(q.Text) {
		ways := c.wordWays(word)
		words, longest = append(words, ways), max(longest, len(ways))
		n = min(n*len(ways), 2*mostWays)
	}
	if n < 2 {
		return q, false
	}
	var inSome sheaf.Bool
	var texts []string
	chosen := make([]string, len(words))
	for way := range longest + n { // all words alike, then every way
		rest := way - longest
		for i, ways := range words {
			if way < longest {
				chosen[i] = ways[min(way, len(ways)-1)]
			} else {
				chosen[i], rest = ways[rest%len(ways)], rest/len(ways)
			}
		}
		q.Text = strings.Join(chosen, " ")
		if len(inSome.Should) < mostWays && !slices.Contains(texts, q.Text) {
			texts = append(texts, q.Text)
			inSome.Should = append(inSome.Should, c.noMore(q, len(written)))
		}
	}
	return inSome, true
}

// noMore returns q so that it is not worth more than the phrase as it is written, which has
// terms terms: the parts of a name count beside the whole of it.
func (c *casing) noMore(q sheaf.Phrase, terms int) sheaf.TextQuery {
	if n := len(c.analyzer.QueryTokens(q.Text)); n > terms {
		return sheaf.Boost{Query: q, Factor: float64(terms) / float64(n)}
	}
	return q
}

// wordWays are the ways in which a word may be written that are analyzed differently, as it
// is written first.
func (c *casing) wordWays(word string) []string {
	out := []string{word}
	add := func(way string) {
		for _, w := range out {
			if slices.EqualFunc(c.analyzer.QueryTokens(w), c.analyzer.QueryTokens(way), sameWord) {
				return
			}
		}
		out = append(out, way)
	}
	small := plainly(word)
	add(small)
	capitals(small, func(name, whole string) {
		if c.names[name] {
			add(whole)
		}
	})
	return out
}

// plainly is a word in small letters, and in none that are as wide as ideographs.
func plainly(word string) string { return strings.ToLower(norm.NFKC.String(word)) }

// sameWord reports whether two tokens of phrases look for the same.
func sameWord(a, b analysis.Token) bool {
	return a.Term == b.Term && a.Position == b.Position && a.Prefix == b.Prefix
}

// capitals yields the names of two words that runs of letters in a word may be, each with
// the whole word.
func capitals(word string, yield func(name, whole string)) {
	for at := 0; at < len(word); {
		run := word[at:]
		if end := strings.IndexFunc(run, func(r rune) bool { return !unicode.IsLower(r) }); end >= 0 {
			run = run[:end]
		}
		if n := utf8.RuneCountInString(run); n > 2 && n <= longestName {
			for i := range run {
				if i > 0 {
					name := title(run[:i]) + title(run[i:])
					yield(name, word[:at]+name+word[at+len(run):])
				}
			}
		}
		_, size := utf8.DecodeRuneInString(word[at+len(run):])
		at += len(run) + size
	}
}
