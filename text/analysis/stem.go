package analysis

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmer is one of Porter's Snowball stemmers (https://snowballstem.org).
type stemmer struct {
	stem func(*snowballstem.Env) bool
	// folded says that words are folded before they are stemmed, because the stemmer takes letters with diacritics as
	// other vowels. So a word has the same term with and without diacritics. In other languages, diacritics mark
	// endings (French mangée, Spanish comía).
	folded bool
	// initial says that the stemmer keeps an ASCII word's first two letters, except y and i. The stem is never longer than
	// the word.
	initial bool
}

var stemmers = map[string]stemmer{
	"ar": {stem: arabic.Stem},
	"da": {stem: danish.Stem, folded: true, initial: true},
	"de": {stem: german.Stem, folded: true, initial: true},
	"en": {stem: english.Stem, folded: true, initial: true},
	"es": {stem: spanish.Stem, initial: true},
	"fi": {stem: finnish.Stem},
	"fr": {stem: french.Stem, initial: true},
	"ga": {stem: irish.Stem},
	"hu": {stem: hungarian.Stem, initial: true},
	"it": {stem: italian.Stem, initial: true},
	"nl": {stem: dutch.Stem, folded: true, initial: true},
	"no": {stem: norwegian.Stem, folded: true, initial: true},
	"pt": {stem: portuguese.Stem, initial: true},
	"ro": {stem: romanian.Stem, initial: true},
	"ru": {stem: russian.Stem, initial: true},
	"sv": {stem: swedish.Stem, folded: true, initial: true},
	"ta": {stem: tamil.Stem},
	"tr": {stem: turkish.Stem},
}

// stemOf returns the stem of a word in lower case. Without a stemmer it returns word.
func (a *Analyzer) stemOf(word string) string {
	if a.stemmer.stem == nil {
		return word
	}
	if a.o.Language == "ru" { // the stemmer does not treat ё as a vowel
		word = strings.ReplaceAll(word, "ё", "е")
	}
	env := snowballstem.NewEnv(word)
	a.stemmer.stem(env)
	return env.Current()
}

// Initial returns the first byte of the terms and forms of a raw word. Callers use it to exclude words fast. If the
// result is not 0, the word has one term, one position and perhaps a form. Term and form are not longer than the word.
// Initial returns 0 if only [Analyzer.Terms] can tell, for example for inner capitals, digits and other letters. It
// always returns 0 with StopWords.
func (a *Analyzer) Initial(raw string) byte {
	if raw == "" || !isLetter(raw[0]) || a.o.StopWords || a.stemmer.stem != nil && !a.stemmer.initial {
		return 0
	}
	for i := 1; i < len(raw); i++ {
		if raw[i] < 'a' || raw[i] > 'z' {
			return 0
		}
	}
	return raw[0] | 0x20
}
