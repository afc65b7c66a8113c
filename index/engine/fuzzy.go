package engine

import (
	"bytes"
	"unicode/utf8"

	"sheaf"
)

func (p *plan) resolveFuzzy(q sheaf.Fuzzy, factor float64) (part, error) {
	return p.resolvePieces(p.analyzer.FuzzyPieces(q.Text), q.Field, factor, func(folded string) acceptor {
		return newLevenshtein(folded, q.Distance, q.Same)
	})
}

// levenshtein accepts the terms within a maximum edit distance of a word. Edits are insertions, deletions and
// substitutions of characters, and swaps of neighbors (optimal string alignment).
//
// levenshtein is the automaton of the word. It computes a state only when it needs the state. A state is a row of the
// table of distances, without entries that are surely above the maximum. Two successive terms share the rows of their
// common first letters. When a row shows that no continuation is accepted, accept tells its caller to skip them all.
type levenshtein struct {
	word        []rune
	maxDistance int
	prefix      []byte // beginning of all accepted terms
	term        []rune // the term of the known rows
	ends        []int  // bytes of the first i characters of term
	rows        []band
	least       []int // smallest distance in each row
}

// band is the part of a row of the distance table near the diagonal. band[j-i+reach] is the distance between the first
// i characters of the term and the first j characters of the word.
type band [2*reach + 1]int8

// reach is the largest supported distance plus one.
const reach = 3

// newLevenshtein returns an acceptor of the terms within an edit distance of word. The distance is limit, or reach-1 if
// limit is larger. The acceptor accepts only terms that begin with the first characters of word. The parameter prefix
// is the number of these characters.
func newLevenshtein(word string, limit, prefix int) *levenshtein {
	l := &levenshtein{word: []rune(word), maxDistance: min(limit, reach-1), ends: []int{0}, least: []int{0}}
	l.prefix = []byte(string(l.word[:min(prefix, len(l.word))]))
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

func (l *levenshtein) start() []byte { return l.prefix }

func (l *levenshtein) accept(term []byte) (weight float64, skip []byte, done bool) {
	if !bytes.HasPrefix(term, l.prefix) {
		return 0, l.prefix, bytes.Compare(term, l.prefix) > 0
	}
	depth := 0
	for at := 0; at < len(term); depth++ {
		r, size := utf8.DecodeRune(term[at:])
		at += size
		if depth < len(l.term) && l.term[depth] == r && l.ends[depth+1] == at {
			continue
		}
		l.push(depth, r, at)
		if l.dead(depth) {
			skip = l.skip(term, depth, at)
			return 0, skip, skip == nil
		}
	}
	l.cut(depth)
	if at := len(l.word) - depth + reach; at >= 0 && at <= 2*reach {
		if d := int(l.rows[depth][at]); d <= l.maxDistance {
			return 1 / float64(1+d), nil, false
		}
	}
	return 0, nil, false
}

// dead reports whether no accepted term begins with the first depth+1 characters of l.term. A swap can continue from
// the row before the last, with one more edit. So dead also requires that the row before the last has no distance below
// the maximum.
func (l *levenshtein) dead(depth int) bool {
	return l.least[depth+1] > l.maxDistance && l.least[depth] >= l.maxDistance
}

// skip returns the next key that may be accepted, or nil if there is none. It skips all keys that begin with the
// first depth+1 characters of term. These characters take size bytes.
func (l *levenshtein) skip(term []byte, depth, size int) []byte {
	for ; depth >= 0; depth-- {
		next := l.following(depth, l.term[depth])
		if next < 0 {
			continue
		}
		if key := utf8.AppendRune(bytes.Clone(term[:l.ends[depth]]), next); bytes.Compare(key, term) > 0 {
			return key
		}
		return successor(term[:size]) // the term is not UTF-8
	}
	return nil
}

// following returns the smallest character above r that can follow the first depth characters of l.term in an accepted
// term. It returns -1 if no such character exists.
func (l *levenshtein) following(depth int, r rune) rune {
	next := rune(-1)
	if l.least[depth] < l.maxDistance { // any character may follow
		if next = r + 1; next == surrogates {
			next = surrogatesEnd
		}
		if next > utf8.MaxRune {
			next = -1
		}
		return next
	}
	end := l.ends[depth]
	for _, c := range l.word[min(max(0, depth-reach-1), len(l.word)):min(len(l.word), depth+1+reach)] {
		if c <= r || next >= 0 && c >= next {
			continue
		}
		if l.push(depth, c, end+utf8.RuneLen(c)); !l.dead(depth) {
			next = c
		}
	}
	l.cut(depth)
	return next
}

// The numbers from surrogates to surrogatesEnd-1 are not characters.
const (
	surrogates    = 0xD800
	surrogatesEnd = 0xE000
)

// cut removes the rows that follow the row of the first depth characters.
func (l *levenshtein) cut(depth int) {
	l.term, l.ends = l.term[:depth], l.ends[:depth+1]
}

// push computes the row for the first depth characters followed by r. end is the number of bytes up to and including r.
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
		// In the row above, the same index means one character less of the word.
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

// successor returns the first key after all keys that begin with prefix.
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
