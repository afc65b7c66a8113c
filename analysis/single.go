package analysis

// Sieve tells of most raw words, without analyzing them, that they are one term
// in one position and none of some terms: for whoever looks for a few terms in
// much text and only counts the others. Make one with [Analyzer.Sieve]; it does
// not change, and is safe for concurrent use.
//
// It relies on the English stemmer, which leaves the first three letters of a word
// as they are, but for a y that becomes an i (dying is die, cry is cri), or leaves one letter
// or two only, with an e in the third place where it puts one (using is use), or a y (skies
// is sky). With the stemmers of other languages it tells nothing.
type Sieve struct {
	analyzer *Analyzer
	silent   bool
	// starts are, by first letter, the second letters of the terms as bits.
	starts [26]uint32
	// thirds are, by first letter, likewise the third letters of words that may be terms.
	thirds [26]uint32
	// stops are, by first letter, the lengths of function words as bits.
	stops [26]uint32
}

// Sieve returns the sieve of terms, which are as [Analyzer.Terms] makes them and
// no forms.
func (a *Analyzer) Sieve(terms []string) *Sieve {
	s := &Sieve{analyzer: a, silent: a.stem != nil && a.o.Language != "en"}
	for _, t := range terms {
		if t == "" || !isSmall(t[0]) {
			continue // no word of plain letters becomes it
		}
		const every = 1<<26 - 1
		seconds, thirds := &s.starts[t[0]-'a'], &s.thirds[t[0]-'a']
		switch {
		case len(t) == 1:
			*seconds, *thirds = every, every
		case isSmall(t[1]):
			*seconds |= mayBe(t[1])
			if len(t) == 2 || t[2] == 'e' || t[2] == 'y' {
				*thirds = every
			} else if isSmall(t[2]) {
				*thirds |= mayBe(t[2])
			}
		}
	}
	if a.o.StopWords {
		for word := range a.function {
			if isSmall(word[0]) {
				s.stops[word[0]-'a'] |= 1 << min(len(word), 31)
			}
		}
	}
	return s
}

// mayBe are, as bits, the letters of a word that may be the letter c of its term.
func mayBe(c byte) uint32 {
	if c == 'i' {
		return 1<<('i'-'a') | 1<<('y'-'a')
	}
	return 1 << (c - 'a')
}

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }

// Others reports whether raw is surely one term in one position that is none of
// the sieve's. What it does not report may be so too; ask [Analyzer.Terms]. Words
// of other than small ASCII letters, the first perhaps a capital, are never
// reported.
func (s *Sieve) Others(raw string) bool {
	if len(raw) < 2 || s.silent {
		return false
	}
	first := raw[0] | 0x20
	if !isSmall(first) || !isSmall(raw[1]) {
		return false
	}
	if s.starts[first-'a']>>(raw[1]-'a')&1 == 1 && (len(raw) == 2 || !isSmall(raw[2]) || s.thirds[first-'a']>>(raw[2]-'a')&1 == 1) {
		return false
	}
	for i := 2; i < len(raw); i++ {
		if !isSmall(raw[i]) {
			return false
		}
	}
	return s.stops[first-'a']>>min(len(raw), 31)&1 == 0 || !s.analyzer.function[lower(raw)]
}
