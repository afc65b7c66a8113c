package engine

import "unicode/utf8"

func (p *plan) resolveFuzzy(q Fuzzy, factor float64) (part, error) {
	return p.resolvePieces(p.analyzer.FuzzyPieces(q.Text), q.Field, factor, func(folded string) acceptor { return newLevenshtein(folded, q.Distance) })
}

// levenshtein accepts the terms at most most edits away from a word: insertions,
// deletions and substitutions of characters and swaps of neighbors (optimal
// string alignment). It is the automaton of the word, its states made when they
// are needed: a state is a row of the table of distances, limited to the band
// that can lie within most, and the rows of a term serve the next one as far as
// the two begin alike. A state from which nothing can be accepted lets the walk
// skip every term that begins so.
type levenshtein struct {
	word  []rune
	most  int
	term  []rune // of which rows are known
	ends  []int  // bytes of the first i characters of term
	rows  []band
	least []int // of each row
}

// band is the part of a row that can lie within the distance: band[j-i+reach] is
// the distance of the first i characters of the term and the first j of the word.
type band [2*reach + 1]int8

// reach is one more than the largest distance that is supported.
const reach = 3

func newLevenshtein(word string, most int) *levenshtein {
	l := &levenshtein{word: []rune(word), most: min(most, reach-1), ends: []int{0}, least: []int{0}}
	var first band
	for j := range first {
		first[j] = int8(min(max(j-reach, 0), reach))
		if j < reach {
			first[j] = reach // before the word
		}
	}
	l.rows = []band{first}
	return l
}

func (l *levenshtein) start() []byte { return nil }

func (l *levenshtein) accept(term []byte) (weight float64, skip []byte, done bool) {
	depth := 0
	for at := 0; at < len(term); depth++ {
		r, size := utf8.DecodeRune(term[at:])
		at += size
		if depth < len(l.term) && l.term[depth] == r && l.ends[depth+1] == at {
			continue
		}
		l.push(depth, r, at)
		if l.least[depth+1] > l.most && l.least[depth] >= l.most {
			return 0, successor(term[:at]), false
		}
	}
	l.cut(depth)
	if at := len(l.word) - depth + reach; at >= 0 && at <= 2*reach {
		if d := int(l.rows[depth][at]); d <= l.most {
			return 1 / float64(1+d), nil, false
		}
	}
	return 0, nil, false
}

// cut forgets what is known beyond the first depth characters.
func (l *levenshtein) cut(depth int) {
	l.term, l.ends = l.term[:depth], l.ends[:depth+1]
}

// push computes the row after depth characters and r.
func (l *levenshtein) push(depth int, r rune, end int) {
	l.cut(depth)
	l.term, l.ends = append(l.term, r), append(l.ends, end)
	if len(l.rows) < depth+2 {
		l.rows = append(l.rows, band{})
		l.least = append(l.least, 0)
	}
	above, row := &l.rows[depth], &l.rows[depth+1]
	i := depth + 1
	least := int8(reach)
	for at := range row {
		// In the row above, the same place stands for one character less
		// of the word.
		j := i + at - reach
		d := int8(reach)
		switch {
		case j < 0 || j > len(l.word):
		case j == 0:
			d = int8(min(i, reach))
		case l.word[j-1] == r:
			d = above[at]
		default:
			d = above[at] + 1
			if at+1 < len(row) {
				d = min(d, above[at+1]+1)
			}
			if at > 0 {
				d = min(d, row[at-1]+1)
			}
		}
		if depth > 0 && j > 1 && j <= len(l.word) && l.word[j-1] == l.term[depth-1] && l.word[j-2] == r {
			d = min(d, l.rows[depth-1][at]+1)
		}
		row[at] = min(d, reach)
		least = min(least, row[at])
	}
	l.least[depth+1] = int(least)
}

// successor is the first key after all that begin with prefix.
func successor(prefix []byte) []byte {
	next := append([]byte(nil), prefix...)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i] < 0xff {
			next[i]++
			return next[:i+1]
		}
	}
	return []byte{0xff, 0xff, 0xff, 0xff}
}
