package scan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/text/analysis"
)

// maxNeedles limits the number of needles, so that a match is a set of bits.
const maxNeedles = 64

// minNeedle is the length of the shortest needle in bytes. A single letter would be in every file.
const minNeedle = 2

// needles returns the folded, distinct texts to search for in files. Their order: each query as a whole, terms, words
// that score, forbidden words, words of each query. The needle of a word is the common prefix of its inflections.
// Needles decide which files become candidates; they do not change scores. The result out says which needles belong to
// forbidden words. The result all says that files without a needle may match, for example if words are too short.
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
	for _, part := range sheaf.Forbidden(words) {
		c.words(part)
	}
	out = leftOut{forbiddenOnly: 1<<len(c.out) - 1<<wanted, forbidden: c.seen, unseen: c.lost || c.all}
	c.all = all
	for _, q := range queries {
		c.match(q)
	}
	return c.out, out, c.all
}

// leftOut says which needles belong to forbidden words, as sets of bits: bit i is needle number i.
type leftOut struct {
	// forbidden has the needles of forbidden words. forbiddenOnly omits those that also belong to a query, term or wanted
	// word.
	forbidden, forbiddenOnly uint64
	// unseen says that a forbidden word has no needle, so any file may have that word.
	unseen bool
}

// mayContain reports whether the file of m may contain a forbidden word.
func (o leftOut) mayContain(m *match) bool { return o.unseen || (m.path|m.content)&o.forbidden != 0 }

type collector struct {
	analyzer *analysis.Analyzer
	out      []string
	all      bool
	seen     uint64 // bit i says that needle number i was added, perhaps again
	lost     bool   // a needle was dropped, because there were maxNeedles
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

// words adds the wanted words of a query to the needles.
func (c *collector) words(q sheaf.TextQuery) {
	for part := range sheaf.Wanted(q) {
		switch q := part.(type) {
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
		case sheaf.Bool: // matches everything
			c.all = true
		}
	}
}

// match adds the content words of a text to the needles.
func (c *collector) match(text string) {
	for _, t := range c.analyzer.MatchTokens(text) {
		c.add(beginning(t.Term, c.analyzer.Fold(text[t.Start:t.End])))
	}
}

// beginning returns the common prefix of a word and its stem, which other inflections share: "configur" for
// "configuring". It drops an i at the end of a stem, because the word may have a y instead.
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

// parts cuts a word into n parts and adds each part as a needle. A word with at most n-1 typing errors still contains
// one of these parts. If the parts would be shorter than minNeedle, the method adds the whole word instead. It then
// also sets c.all: any file may match, because a needle cannot find words with errors.
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
