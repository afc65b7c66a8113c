package analysis

// Sieve tells of most raw words, without analyzing them, that they are one term
// in one position and none of some terms: for whoever looks for a few terms in
// much text and only counts the others. Make one with [Analyzer.Sieve]; it does
// not change, and is safe for concurrent use.
//
// It relies on the English stemmer, which leaves the first two letters of a word
// as they are, but for a y that becomes an i (dying is die), or leaves one letter
// only. With the stemmers of other languages it tells nothing.
type Sieve struct {
	analyzer *Analyzer
	silent   bool
	// starts are, by first letter, the second letters of the terms as bits.
	starts [26]uint32
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
		seconds := &s.starts[t[0]-'a']
		switch {
		case len(t) == 1:
			*seconds = 1<<26 - 1
		case isSmall(t[1]):
			*seconds |= 1 << (t[1] - 'a')
			if t[1] == 'i' {
				*seconds |= 1 << ('y' - 'a')
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
	if !isSmall(first) || !isSmall(raw[1]) || s.starts[first-'a']>>(raw[1]-'a')&1 == 1 {
		return false
	}
	for i := 2; i < len(raw); i++ {
		if !isSmall(raw[i]) {
			return false
		}
	}
	return s.stops[first-'a']>>min(len(raw), 31)&1 == 0 || !s.analyzer.function[lower(raw)]
}
