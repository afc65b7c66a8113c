package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/text/analysis"
)

// meaning is the text of a query that is embedded; "" when it asks for nothing
// that could be: filters, names of folders and files, words that must not be found,
// marks alone.
func meaning(q sheaf.Query) string {
	if b, ok := q.Words.(sheaf.Bool); ok && len(b.Must)+len(b.Should) == 0 || inPaths(q.Words) {
		return ""
	}
	text := wording(q)
	if !strings.ContainsFunc(text, telling) {
		return ""
	}
	return text
}

// wording is what a query asks for in the words of who asks, without the marks of the query
// language and what must not be found.
func wording(q sheaf.Query) string {
	return cmp.Or(strings.TrimSpace(q.Meaning), strings.TrimSpace(q.Text))
}

// inPaths reports whether a query looks at nothing but the names of folders and files.
func inPaths(q sheaf.TextQuery) bool {
	elsewhere := func(part sheaf.TextQuery) bool { return !inPaths(part) }
	switch q := q.(type) {
	case sheaf.Match:
		return q.Field == sheaf.FieldPath
	case sheaf.Phrase:
		return q.Field == sheaf.FieldPath
	case sheaf.Bool:
		return len(q.Must)+len(q.Should) > 0 && !slices.ContainsFunc(q.Must, elsewhere) && !slices.ContainsFunc(q.Should, elsewhere)
	}
	return false
}

// telling reports whether a character may mean something by itself: a letter, a
// digit, or a sign beyond ASCII, such as a picture.
func telling(r rune) bool {
	return r >= 0x80 && !unicode.IsPunct(r) && !unicode.IsSpace(r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// analyzed is a text as a query looks for it, and those of its tokens that are worth
// looking for when any may be found.
type analyzed struct {
	text            string
	tokens, telling []analysis.Token
}

// tokens are those of a text of the query: several steps ask for the same one. There is
// an analyzer.
func (r *run) tokens(text string) (tokens, telling []analysis.Token) {
	if r.analyzed == nil || r.analyzed.text != text {
		a := r.searcher.Analyzer
		tokens := a.QueryTokens(text)
		r.analyzed = &analyzed{text, tokens, a.Telling(text, tokens)}
	}
	return r.analyzed.tokens, r.analyzed.telling
}

// phraseWords are the words that a phrase looks for.
func (r *run) phraseWords(phrase string) []string {
	tokens := r.searcher.Analyzer.PhraseTokens(phrase)
	words := make([]string, 0, len(tokens))
	for _, t := range tokens {
		words = append(words, phrase[t.Start:t.End])
	}
	return words
}

// tellingWords are the words of a text that are worth looking for.
func (r *run) tellingWords(text string) []string {
	_, telling := r.tokens(text)
	words := make([]string, 0, len(telling))
	for _, t := range telling {
		words = append(words, text[t.Start:t.End])
	}
	return words
}
