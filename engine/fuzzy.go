package engine

import "unicode/utf8"

func (p *plan) resolveFuzzy(q Fuzzy, factor float64) (part, error) {
	text := p.analyzer.Fold(q.Text)
	if text == "" {
		return &planBool{}, nil
	}
	return p.expand(newLevenshtein(text, q.Distance), p.inFields(q.Field), factor, true)
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
	term  []rune  // of which rows are known
	ends  []int   // bytes of the first i characters of term
	rows  [][]int // rows[i][j]: distance of the first i of term and j of word
	least []int   // of each row
}

func newLevenshtein(word string, most int) *levenshtein {
	l := &levenshtein{word: []rune(word), most: most, ends: []int{0}, least: []int{0}}
	first := make([]int, len(l.word)+1)
	for j := range first {
		first[j] = j
	}
	l.rows = [][]int{first}
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
	if d := l.rows[depth][len(l.word)]; d <= l.most {
		return 1 / float64(1+d), nil, false
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
		l.rows = append(l.rows, make([]int, len(l.word)+1))
		l.least = append(l.least, 0)
	}
	above, row := l.rows[depth], l.rows[depth+1]
	far := l.most + 1 // everything beyond the band
	i := depth + 1
	low, high := max(i-far, 0), min(i+far, len(l.word))
	least := far
	if low > 0 && low-1 <= len(l.word) {
		row[low-1] = far
	}
	for j := low; j <= high; j++ {
		if j == 0 {
			row[0] = i
			least = min(least, i)
			continue
		}
		d := above[j-1]
		if l.word[j-1] != r {
			d = min(d, above[j], row[j-1]) + 1
			if depth > 0 && j > 1 && l.word[j-1] == l.term[depth-1] && l.word[j-2] == r {
				d = min(d, l.rows[depth-1][j-2]+1)
			}
		}
		row[j] = min(d, far)
		least = min(least, row[j])
	}
	for j := high + 1; j <= len(l.word); j++ {
		row[j] = far
	}
	l.least[depth+1] = least
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
