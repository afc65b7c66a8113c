// Package analysis answers the question "which terms does a text have?". The
// same code runs at indexing and at query time, so that what is indexed can be
// found. Its main type is [Analyzer].
//
// Text is cut into raw words ([Analyzer.Words]), and each raw word gives one or
// more terms ([Analyzer.Terms]):
//
//   - words follow Unicode's word boundaries (UAX #29); words of one language are
//     stemmed (Snowball), everything is folded: NFKC, lower case, diacritics of
//     the Latin, Greek and Cyrillic scripts and vowel marks of the Arabic and
//     Hebrew ones removed; where a stemmer needs the diacritics, words that have
//     some are found without them as well;
//   - identifiers are kept whole and in parts: getUserName, IPv6, snake_case, v1.2.3,
//     node.js, Get-Item, user@host, #tag, C++; the whole is the same term in any case,
//     and takes the same positions, so that words and phrases are found in any case;
//   - a word that a hyphen cuts at the end of a line is found joined and in its parts;
//   - an emoji is a word: a joined one is found whole and by each of its parts;
//   - scripts without spaces between words (Chinese, Japanese, Korean, Thai, Lao,
//     Khmer, Burmese) give overlapping pairs of characters, and the first and the
//     last character of each run by themselves, so that any single character is
//     found as the beginning of a term.
//
// A query is analyzed by the same code: [Analyzer.PhraseTokens] for phrases,
// [Analyzer.MatchTokens] for words of which any may be found, and
// [Analyzer.PrefixPieces] and [Analyzer.FuzzyPieces] for queries that run over the
// dictionary, where folded words stand beside their stems as forms.
//
// Markup is text like any other: link addresses, HTML tags and the names of
// properties give their words, and punctuation gives nothing.
//
// The package stands alone: it knows nothing of fields, documents or scores.
package analysis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown says that an analyzer's name is not one this program can make.
var ErrUnknown = errors.New("unknown analyzer")

// version changes whenever the same text may give other terms.
const version = "sheaf-4"

// Options choose an analyzer.
type Options struct {
	// Language is the language whose words are stemmed, as an ISO 639-1
	// code; languages without a stemmer, and "", leave words as they are.
	Language string
	// StopWords leaves out the most frequent function words of Language;
	// their positions stay.
	StopWords bool
}

// Analyzer turns text into terms. It is safe for concurrent use; what it
// returns for a text never changes.
type Analyzer struct {
	o        Options
	stem     stemmer         // nil: no stemming
	function map[string]bool // function words of the language
	elide    bool            // French and Italian: l'homme is l and homme
	folded   bool            // words are folded before they are stemmed
	initial  bool            // stems begin as their words do
	known    remembered
	words    *wordMemo // nil for one that is safe for concurrent use
}

// New returns an analyzer. The error, when Language is not two lower-case
// letters, wraps ErrUnknown.
func New(o Options) (*Analyzer, error) {
	if o.Language != "" && (len(o.Language) != 2 || strings.Trim(o.Language, "abcdefghijklmnopqrstuvwxyz") != "") {
		return nil, fmt.Errorf("%w: language %q: must be two letters such as en (stemmed: %s), or empty", ErrUnknown,
			o.Language, strings.Join(Languages(), " "))
	}
	return &Analyzer{o: o, stem: stemmers[o.Language], elide: o.Language == "fr" || o.Language == "it",
		folded:  stemsFolded[o.Language],
		initial: keepsInitial[o.Language] || stemmers[o.Language] == nil, function: functionSet(o.Language)}, nil
}

// Languages are the languages that are stemmed, sorted.
func Languages() []string {
	names := make([]string, 0, len(stemmers))
	for name := range stemmers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Name names the analyzer with its version and options; [Parse] makes it again.
// An index records it, because other terms would not be found.
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

// Language is the language of [Options].
func (a *Analyzer) Language() string { return a.o.Language }

// Parse returns the analyzer of this name. The error wraps ErrUnknown.
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
	// Text is the term. Terms are never empty and hold no byte below 0x20.
	Text string
	// Offset is the term's position counted from the raw word's first.
	Offset int
	// Start and End are the part of the raw word that it stands for.
	Start, End int
	// Form marks the folded word before stemming, where that differs from
	// the stem at the same position. Forms are what prefix and fuzzy queries
	// look at besides ordinary terms; they have no positions of their own
	// and do not count in a field's length.
	Form bool
	// Bare marks the stem of the word without its diacritics, where that is
	// plain ASCII and differs from the folded stem at the same position: it
	// is there for queries that leave them out, and no query that has them
	// asks for it.
	Bare bool
	// Part marks a term that no phrase asks for: the whole says it all, or the term
	// depends on how the word is written. Such are the parts of a name, the whole of a
	// name with hyphens, what a hyphen cuts at the end of a line, the parts of an emoji.
	Part bool
	// Over marks a part of a name that stands over the words behind the name, and so
	// takes no position of its own.
	Over bool
}

// Token is a term in a text.
type Token struct {
	Term string
	// Position counts from 0; a phrase has terms at adjacent positions.
	Position int
	// Start and End are the part of the text that it stands for.
	Start, End int
	// Form is that of [Term].
	Form bool
	// Prefix, in tokens of a query, says that every term which begins with
	// Term is meant: a single character of a script without spaces.
	Prefix bool
}

// Tokens are all tokens of text as it is indexed, ordered by position.
func (a *Analyzer) Tokens(text string) []Token {
	var tokens []Token
	var terms []Term
	position := 0
	a.Words(text, func(start, end int) bool {
		terms = a.Terms(terms[:0], text[start:end])
		for _, t := range terms {
			tokens = append(tokens, Token{Term: t.Text, Position: position + t.Offset, Start: start + t.Start, End: start +
				t.End, Form: t.Form})
		}
		position += a.Positions(terms)
		return true
	})
	slices.SortStableFunc(tokens, func(a, b Token) int { return a.Position - b.Position })
	return tokens
}

// Positions is how many positions a raw word with these terms takes: at least
// one, so that stop words and [ValueEnd] leave a gap.
func (a *Analyzer) Positions(terms []Term) int {
	n := 1
	for _, t := range terms {
		if !t.Over {
			n = max(n, t.Offset+1)
		}
	}
	return n
}
