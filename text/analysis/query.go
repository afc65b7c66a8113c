package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// PhraseTokens returns the tokens that a phrase needs: [Analyzer.QueryTokens] without parts ([Term.Part]).
func (a *Analyzer) PhraseTokens(text string) []Token { return a.queryTokens(text, true) }

// QueryTokens returns the tokens of a query text in the order of its words. These are the [Analyzer.Tokens], with three
// differences:
//   - It drops forms ([Term.Form]) and bare stems ([Term.Bare]).
//   - A run of several characters in a script without spaces has only tokens for pairs of characters.
//   - A run of one such character has one token, with Prefix set.
func (a *Analyzer) QueryTokens(text string) []Token { return a.queryTokens(text, false) }

func (a *Analyzer) queryTokens(text string, phrase bool) (tokens []Token) {
	var buffer [8]Term
	position, terms := 0, buffer[:0]
	a.Words(text, func(start, end int) bool {
		var characters int
		terms, characters = a.queryTerms(terms[:0], text[start:end])
		for i := range terms {
			if t := &terms[i]; !t.Form && !t.Bare && !(phrase && t.Part) {
				token := t.token(position, start)
				token.Prefix = characters == 1
				tokens = append(tokens, token)
			}
		}
		// The last character of a run is also a separate term, which a query omits.
		position += max(characters, a.Positions(terms))
		return true
	})
	return tokens
}

// queryTerms appends to dst the terms of one raw word of a query. The caller must drop forms ([Term.Form]) and bare
// stems ([Term.Bare]). If the word is a run in a script without spaces, characters is the length of the run. Otherwise
// characters is 0.
func (a *Analyzer) queryTerms(dst []Term, raw string) (terms []Term, characters int) {
	if isDense(raw) {
		return runTerms(dst, raw, true)
	}
	return a.Terms(dst, raw), 0
}

// QueryTerms appends to dst the terms of one raw word that [Analyzer.QueryTokens] uses.
func (a *Analyzer) QueryTerms(dst []Term, raw string) []Term {
	first := len(dst)
	dst, _ = a.queryTerms(dst, raw)
	kept := slices.DeleteFunc(dst[first:], func(t Term) bool { return t.Form || t.Bare })
	return dst[:first+len(kept)]
}

// Stops reports whether a raw word consists of function words only.
func (a *Analyzer) Stops(raw string) bool {
	return !slices.ContainsFunc(a.QueryTokens(raw), func(t Token) bool { return !a.FunctionWord(raw[t.Start:t.End]) })
}

// FunctionWord reports whether a word of a text is a function word of the analyzer's language, such as "the".
func (a *Analyzer) FunctionWord(word string) bool { return a.cachedTerms(word).function }

// A text of at least questionWords words counts as a question.
const questionWords = 8

// MatchTokens returns the [Analyzer.QueryTokens] that are worth searching for when any of them may match. In a
// question, it drops the function words of the analyzer's language, because they only favor long texts. It keeps them
// if the question has no other words. A question ends with a question mark, begins like a question ("how do"), or has
// at least eight words. Any other text keeps its function words, because "how to" may be a title.
func (a *Analyzer) MatchTokens(text string) []Token {
	return a.Telling(text, a.QueryTokens(text))
}

// Telling does what [Analyzer.MatchTokens] does, for a caller that already has the [Analyzer.QueryTokens] of text as
// tokens. It does not change tokens.
func (a *Analyzer) Telling(text string, tokens []Token) []Token {
	if len(a.function) == 0 || !a.isQuestion(text) {
		return tokens
	}
	kept := slices.DeleteFunc(slices.Clone(tokens), func(t Token) bool { return a.FunctionWord(text[t.Start:t.End]) })
	if len(kept) == 0 {
		return tokens
	}
	return kept
}

func (a *Analyzer) isQuestion(text string) bool {
	if last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text)); strings.ContainsRune("?？؟", last) {
		return true
	}
	n, start := 0, false
	a.Words(text, func(first, end int) bool {
		switch word := lower(text[first:end]); n {
		case 0:
			start = slices.Contains(strings.Fields(questionStarts[a.o.Language]), word)
		case 1:
			start = start && a.function[word] && word != "to"
		}
		n++
		return n < questionWords && (n < 2 || !start)
	})
	return n == questionWords || n > 1 && start
}

// Piece is a part of the text of a prefix or fuzzy query.
type Piece struct {
	// If Exact is true, Text is searched as a phrase. Otherwise Text is compared with the terms and forms ([Term.Form]) of
	// the dictionary.
	Text  string
	Exact bool
}

// PrefixPieces returns the parts of a prefix query. A chunk must match all parts.
//   - Each word before the last word must match as a phrase.
//   - The last word is folded, and a term or form ([Term.Form]) must begin with this word. The exception is a last word
//     of more than two characters in a script without spaces. It must match as a phrase, because the dictionary has
//     only pairs of characters.
func (a *Analyzer) PrefixPieces(text string) []Piece {
	return a.pieces(text, func(piece string, last bool) bool {
		if !last || !isDense(piece) {
			return !last
		}
		_, characters := runTerms(nil, piece, true)
		return characters > 2
	})
}

// FuzzyPieces returns the parts of a fuzzy query. A chunk must match all parts. A run in a script without spaces must
// match as a phrase. Each other word is folded, and a term or form ([Term.Form]) must have a similar spelling.
func (a *Analyzer) FuzzyPieces(text string) []Piece {
	return a.pieces(text, func(piece string, _ bool) bool { return isDense(piece) })
}

// pieces returns the raw words of text, cut at hyphens, because the dictionary seldom has words with hyphens. The
// function exact decides whether a piece is exact; its argument last is true for the last piece. pieces folds the
// pieces that are not exact.
func (a *Analyzer) pieces(text string, exact func(piece string, last bool) bool) (out []Piece) {
	a.Words(text, func(start, end int) bool {
		for piece := range strings.SplitSeq(text[start:end], "-") {
			if utf8.ValidString(piece) && a.Fold(piece) != "" {
				out = append(out, Piece{Text: piece})
			}
		}
		return true
	})
	for i := range out {
		p := &out[i]
		if p.Exact = exact(p.Text, i == len(out)-1); !p.Exact {
			p.Text = a.Fold(p.Text)
		}
	}
	return out
}
