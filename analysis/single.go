package analysis

// OneTerm reports whether a raw word is plainly one term in one position, and
// with which letter that term begins, without making it: for whoever only wants
// to know that it is none of some terms. ok is false for everything that is not
// small ASCII letters, the first perhaps a capital; then ask [Analyzer.Terms].
//
// It relies on the English stemmer, which never changes how a word begins; with
// the stemmers of other languages ok is always false.
func (a *Analyzer) OneTerm(raw string) (first byte, ok bool) {
	if raw == "" || a.stem != nil && a.o.Language != "en" {
		return 0, false
	}
	for i := 1; i < len(raw); i++ {
		if c := raw[i]; c < 'a' || c > 'z' {
			return 0, false
		}
	}
	if !isLetter(raw[0]) || a.o.StopWords && a.function[lower(raw)] {
		return 0, false
	}
	return raw[0] | 0x20, true
}
