package scan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/text/analysis"
)

// maxNeedles bounds what is looked for, so that a match is a set of bits.
const maxNeedles = 64

// minNeedle is the least length of a needle in bytes. One letter would be in
// every file.
const minNeedle = 2

// needles are the texts to look for in files: each query as a whole, each of
// the terms, and the words that the person's own query scores by, in that
// order, folded, without repetitions. A word is looked for by what all its
// inflections begin with. Nothing here decides how well a file answers, only
// whether it is looked at. What the query leaves out is looked for too, behind them. all
// says that the query may match files that hold none of them, such as words that are
// too short to be looked for.
func needles(a *analysis.Analyzer, queries, terms []string, words sheaf.TextQuery) (texts []string, out leftOut,
	all bool) {
	c := &collector{analyzer: a}
	for _, texts := range [...][]string{queries, terms} {
		for _, text := range texts {
			c.add(a.Fold(strings.TrimSpace(text[:min(len(text), maxQueryBytes)])))
		}
	}
	c.words(words)
	wanted, all := len(c.out), c.all
	c.all, c.seen, c.lost = false, 0, false
	c.leftOut(words)
	out = leftOut{only: 1<<len(c.out) - 1<<wanted, any: c.seen, unseen: c.lost || c.all}
	c.all = all
	for _, q := range queries {
		c.match(q)
	}
	return c.out, out, c.all
}

// leftOut says which needles stand for what a query leaves out.
type leftOut struct {
	// only are those that the query does not want besides, any are all.
	only, any uint64
	// unseen says that there is more, for which nothing is looked: any file may hold it.
	unseen bool
}

// holds reports whether a file may hold what the query leaves out.
func (o leftOut) holds(m *match) bool { return o.unseen || (m.path|m.content)&o.any != 0 }

type collector struct {
	analyzer *analysis.Analyzer
	out      []string
	all      bool
	seen     uint64 // the needles that were added, once more or anew
	lost     bool   // there were more than can be looked for
}

func (c *collector) add(text string) {
	if len(text) < minNeedle {
		c.all = c.all || len(text) > 0
		return
	}
	at := slices.Index(c.out, text)
	if at < 0 {
		if len(c.out) >= maxNeedles {
			c.lost = true
			return
		}
		at = len(c.out)
		c.out = append(c.out, text)
	}
	c.seen |= 1 << at
}

func (c *collector) words(q sheaf.TextQuery) {
	switch q := q.(type) {
	case sheaf.Match:
		c.match(q.Text)
	case sheaf.Phrase:
		c.match(q.Text)
	case sheaf.Prefix:
		for _, p := range c.analyzer.PrefixPieces(q.Text) {
			if p.Exact {
				c.match(p.Text)
			} else {
				c.add(p.Text)
			}
		}
	case sheaf.Fuzzy:
		for _, p := range c.analyzer.FuzzyPieces(q.Text) {
			if p.Exact {
				c.match(p.Text)
			} else {
				c.parts(p.Text, q.Distance+1)
			}
		}
	case sheaf.Boost:
		c.words(q.Query)
	case sheaf.Bool:
		if len(q.Must)+len(q.Should) == 0 {
			c.all = true
		}
		for _, parts := range [...][]sheaf.TextQuery{q.Must, q.Should} {
			for _, part := range parts {
				c.words(part)
			}
		}
	}
}

// leftOut adds the words that a query forbids.
func (c *collector) leftOut(q sheaf.TextQuery) {
	switch q := q.(type) {
	case sheaf.Boost:
		c.leftOut(q.Query)
	case sheaf.Bool:
		for _, part := range q.MustNot {
			c.words(part)
		}
		for _, parts := range [...][]sheaf.TextQuery{q.Must, q.Should} {
			for _, part := range parts {
				c.leftOut(part)
			}
		}
	}
}

// match adds the words of a text that are worth looking for.
func (c *collector) match(text string) {
	for _, t := range c.analyzer.MatchTokens(text) {
		c.add(beginning(t.Term, c.analyzer.Fold(text[t.Start:t.End])))
	}
}

// beginning is what a word and its stem begin with, so that other inflections
// are found too: "configur" of "configuring". A final i of a stem stands for a y.
func beginning(stem, word string) string {
	n := 0
	for n < len(stem) && n < len(word) && stem[n] == word[n] {
		n++
	}
	for n > 0 && n < len(word) && !utf8.RuneStart(word[n]) {
		n--
	}
	if n < minNeedle {
		return word
	}
	if n == len(stem) && n > 3 && stem[n-1] == 'i' {
		n--
	}
	return word[:n]
}

// parts cuts a word into n parts: a word that is at most n-1 edits away holds
// one of them.
func (c *collector) parts(word string, n int) {
	letters := []rune(word)
	size := len(letters) / n
	if size < minNeedle {
		c.all = true
		c.add(word)
		return
	}
	for i := range n {
		end := (i + 1) * size
		if i == n-1 {
			end = len(letters)
		}
		c.add(string(letters[i*size : end]))
	}
}
