// Package analysis answers the question "which terms does a text have?". The same code analyzes texts and queries, so
// that queries find what was indexed. Its main type is [Analyzer].
//
// Text is cut into raw words ([Analyzer.Words]), and each raw word has one or more terms ([Analyzer.Terms]):
//
//   - Words follow Unicode's word boundaries (UAX #29). If the language of [Options] has a stemmer (Snowball), words
//     are stemmed in this one language. Folding means NFKC and lower case, without diacritics of Latin, Greek and
//     Cyrillic, and without Arabic and Hebrew vowel marks. Where a stemmer needs diacritics, a query without them still
//     finds the word.
//   - Identifiers are kept whole and in parts: getUserName, IPv6, snake_case, v1.2.3, node.js, Get-Item, user@host,
//     #tag, C++. GitHub and github have the same term for the whole. Both take one position, so that a phrase with one
//     spelling finds the other.
//   - A word with a hyphen at a line end is found joined and in its parts.
//   - An emoji is a word; a joined emoji is found whole and by each of its parts.
//   - Scripts without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) give overlapping pairs of
//     characters. The first and the last character of each run are also terms, so that a query finds any single
//     character.
//
// Queries use [Analyzer.PhraseTokens] for phrases and [Analyzer.MatchTokens] for words. A folded word that differs from
// its stem is called a form ([Term.Form]). The dictionary of an index also has the forms, for [Analyzer.PrefixPieces]
// and [Analyzer.FuzzyPieces].
//
// Markup is analyzed like other text: words in link addresses, HTML tags and names of properties have terms. Its
// punctuation has none.
//
// The package is independent: it knows nothing of fields, documents or scores.
package analysis

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrUnknown means this program has no analyzer of that name.
var ErrUnknown = errors.New("unknown analyzer")

// version is the version of all analyzers. It changes when many texts get other terms; every index is then remade. When
// few texts get other terms, the parser version of package ingest changes instead.
const version = "sheaf-4"

// Options choose an analyzer.
type Options struct {
	// Language is the language of the stemmer, as an ISO 639-1 code. Other languages, and "", leave words unstemmed.
	Language string
	// StopWords omits the most frequent function words of Language, but keeps their positions.
	StopWords bool
}

// Analyzer turns text into terms. It is safe for concurrent use, and the same text always has the same terms.
type Analyzer struct {
	o        Options
	stemmer  stemmer
	function map[string]bool // function words of the language
	elide    bool            // French and Italian: l'homme is l and homme
	cache    wordCache
}

// New returns an analyzer. It returns ErrUnknown unless Language is "" or two lower-case letters.
func New(o Options) (*Analyzer, error) {
	if o.Language != "" && (len(o.Language) != 2 || strings.Trim(o.Language, "abcdefghijklmnopqrstuvwxyz") != "") {
		return nil, fmt.Errorf("%w: language %q: must be two letters such as en (stemmed: %s), or empty", ErrUnknown,
			o.Language, strings.Join(Languages(), " "))
	}
	return &Analyzer{o: o, stemmer: stemmers[o.Language], elide: o.Language == "fr" || o.Language == "it",
		function: functionSet(o.Language)}, nil
}

// Languages returns the languages with a stemmer, sorted.
func Languages() []string {
	return slices.Sorted(maps.Keys(stemmers))
}

// Name returns a name with the analyzer's version and options; [Parse] returns the analyzer of a name. An index
// records the name, because another analyzer makes other terms.
func (a *Analyzer) Name() string {
	name := version
	if a.o.Language != "" {
		name += " language=" + a.o.Language
	}
	if a.o.StopWords {
		name += " stopwords"
	}
	return name
}

// Language returns the language of [Options].
func (a *Analyzer) Language() string { return a.o.Language }

// Parse returns the analyzer with this name. For another version or unknown options, it returns ErrUnknown.
func Parse(name string) (*Analyzer, error) {
	parts := strings.Fields(name)
	if len(parts) == 0 || parts[0] != version {
		return nil, fmt.Errorf("%w: %q: this program has %s", ErrUnknown, name, version)
	}
	var o Options
	for _, part := range parts[1:] {
		language, isLanguage := strings.CutPrefix(part, "language=")
		switch {
		case isLanguage:
			o.Language = language
		case part == "stopwords":
			o.StopWords = true
		default:
			return nil, fmt.Errorf("%w: %q: option %q", ErrUnknown, name, part)
		}
	}
	return New(o)
}

// Term is one term of a raw word.
type Term struct {
	// Text is never empty and has no byte below 0x20.
	Text string
	// Offset is the distance in positions from the raw word to the term.
	Offset int
	// Start and End are the bytes of the raw word that the term covers.
	Start, End int
	// Form marks the folded word before stemming, if it differs from the stem at the same position. Prefix and fuzzy
	// queries use forms and ordinary terms. A form has its stem's position and does not count in a field's length.
	Form bool
	// Bare marks a term for queries in a simpler spelling, which queries in the full spelling do not use. It is the stem
	// of a word without its diacritics, if this word is ASCII and has another stem. Or it is a word such as e-mail without
	// the hyphen, or such as O'Brien without the apostrophe.
	Bare bool
	// Part marks a term that phrases skip: it depends on spelling, or another term has the same meaning. Examples are
	// parts of a name, a whole name with hyphens, pieces around a line-end hyphen, and emoji parts.
	Part bool
	// Over marks a part of a name that takes no position of its own, such as "hub" in GitHub. The word after the name may
	// then have the same position.
	Over bool
}

// Token is a term in a text.
type Token struct {
	Term string
	// Position is the number of the word in the text, from 0. Neighboring words have consecutive positions, so that a
	// phrase can be found.
	Position int
	// Start and End are the bytes of the text that the token covers.
	Start, End int
	// Form is [Term.Form].
	Form bool
	// Prefix says that a query finds every term that begins with Term. Only [Analyzer.QueryTokens] sets it, for a single
	// character of a script without spaces.
	Prefix bool
}

// token returns t as a token of a text. position and start are the position and the first byte of its raw word.
func (t *Term) token(position, start int) Token {
	return Token{Term: t.Text, Position: position + t.Offset, Start: start + t.Start, End: start + t.End, Form: t.Form}
}

// Tokens returns all tokens of text as they are indexed, ordered by position.
func (a *Analyzer) Tokens(text string) []Token {
	var tokens []Token
	var terms []Term
	position := 0
	a.Words(text, func(start, end int) bool {
		terms = a.Terms(terms[:0], text[start:end])
		for _, t := range terms {
			tokens = append(tokens, t.token(position, start))
		}
		position += a.Positions(terms)
		return true
	})
	slices.SortStableFunc(tokens, func(a, b Token) int { return a.Position - b.Position })
	return tokens
}

// Positions returns how many positions a raw word with these terms takes. The number is at least one, so that stop
// words and [ValueEnd] leave a gap.
func (a *Analyzer) Positions(terms []Term) int {
	n := 1
	for _, t := range terms {
		if !t.Over {
			n = max(n, t.Offset+1)
		}
	}
	return n
}
