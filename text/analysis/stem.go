package analysis

import (
	"strings"
	"sync"

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

// stemmer turns a word in lower case into its stem.
type stemmer func(word string) string

func snowball(stem func(*snowballstem.Env) bool) stemmer {
	return func(word string) string {
		env := stemEnvs.Get().(*snowballstem.Env)
		env.SetCurrent(word)
		stem(env)
		stemmed := env.Current()
		env.SetCurrent("") // drops the text
		stemEnvs.Put(env)
		return stemmed
	}
}

// stemEnvs are the reused environments of stemmers.
var stemEnvs = sync.Pool{New: func() any { return new(snowballstem.Env) }}

// stemmers are Porter's Snowball stemmers (https://snowballstem.org), by
// language.
var stemmers = map[string]stemmer{
	"ar": snowball(arabic.Stem),
	"da": snowball(danish.Stem),
	"de": snowball(german.Stem),
	"en": snowball(english.Stem),
	"es": snowball(spanish.Stem),
	"fi": snowball(finnish.Stem),
	"fr": snowball(french.Stem),
	"ga": snowball(irish.Stem),
	"hu": snowball(hungarian.Stem),
	"it": snowball(italian.Stem),
	"nl": snowball(dutch.Stem),
	"no": snowball(norwegian.Stem),
	"pt": snowball(portuguese.Stem),
	"ro": snowball(romanian.Stem),
	"ru": func(word string) string { // the stemmer does not treat ё as a vowel
		return snowball(russian.Stem)(strings.ReplaceAll(word, "ё", "е"))
	},
	"sv": snowball(swedish.Stem),
	"ta": snowball(tamil.Stem),
	"tr": snowball(turkish.Stem),
}

// stemsFolded are the languages whose words are folded before stemming. Their stemmers treat
// letters with diacritics as other vowels, so a word has the same term with and without them. Other
// languages mark endings by diacritics (French mangée, Spanish comía), and words are stemmed as
// written.
var stemsFolded = map[string]bool{"da": true, "de": true, "en": true, "nl": true, "no": true, "sv": true}
