package analysis

import (
	"strings"
	"unicode/utf8"
)

// PhraseTokens are the tokens of text as a phrase looks for them: those of
// [Analyzer.QueryTokens] that the text has in any case, parts left out ([Term.Part]).
func (a *Analyzer) PhraseTokens(text string) []Token {
	return a.AppendPhraseTokens(nil, text, new(TermBuffer))
}

// AppendPhraseTokens appends the PhraseTokens of a text to tokens.
func (a *Analyzer) AppendPhraseTokens(tokens []Token, text string, buffer *TermBuffer) []Token {
	return a.appendTokens(tokens, text, true, buffer)
}

// QueryTokens are the tokens of text as a query looks for them: those of
// [Analyzer.Tokens] without forms and bare stems, and without the single characters of a run in
// a script without spaces, unless one is all there is; then Prefix is set. They are in the
// order of the words.
func (a *Analyzer) QueryTokens(text string) []Token {
	return a.AppendQueryTokens(nil, text, new(TermBuffer))
}

// AppendQueryTokens appends the QueryTokens of a text to tokens. It overwrites buffer.
func (a *Analyzer) AppendQueryTokens(tokens []Token, text string, buffer *TermBuffer) []Token {
	return a.appendTokens(tokens, text, false, buffer)
}

func (a *Analyzer) appendTokens(tokens []Token, text string, phrase bool, buffer *TermBuffer) []Token {
	position := 0
	a.Words(text, func(start, end int) bool {
		raw := text[start:end]
		var terms []Term
		characters := 0 // of a run in a script without spaces
		if isDense(raw) {
			terms, characters = runTerms(buffer.terms[:0], raw, true)
		} else {
			terms = a.Known(raw, buffer) // a query's words are asked for by all who work on it
		}
		for _, t := range terms {
			if !t.Form && !t.Bare && !(phrase && t.Part) {
				tokens = append(tokens, Token{Term: ownText(t, raw), Position: position + t.Offset, Start: start + t.Start,
					End:    start + t.End,
					Prefix: characters == 1})
			}
		}
		// The last character of a run stands by itself too, which a query leaves out.
		position += max(characters, a.Positions(terms))
		return true
	})
	return tokens
}

// ownText is the text of a term, which lies in memory that other terms come to: that of
// the raw word itself where it says the same.
func ownText(t Term, raw string) string {
	if part := raw[t.Start:t.End]; part == t.Text {
		return part
	}
	return strings.Clone(t.Text)
}

// Stops reports whether a raw word has no term where function words are left out.
func (a *Analyzer) Stops(raw string) bool {
	if raw != "" && isASCII(raw) && isPlain(raw) {
		return a.function[lower(raw)]
	}
	without := Analyzer{o: a.o, stem: a.stem, function: a.function, elide: a.elide, folded: a.folded}
	without.o.StopWords = true
	return len(without.Terms(nil, raw)) == 0
}

// FunctionWord reports whether a word, as it stands in a text, is a function word of the
// analyzer's language, such as "the".
func (a *Analyzer) FunctionWord(word string) bool {
	var small [16]byte // names of hits have many words with a capital
	if len(word) > len(small) || !isASCII(word) {
		return a.function[lower(word)]
	}
	for i := range len(word) {
		small[i] = word[i]
		if isCapital(word[i]) {
			small[i] |= 0x20
		}
	}
	return a.function[string(small[:len(word)])]
}

// questionWords is from how many words on a text is taken for a sentence.
const questionWords = 8

// MatchTokens are those of [Analyzer.QueryTokens] that are worth looking for when
// any of them may be found. Of a question (a text that ends with a question mark,
// begins as one, as "how do" does, or has at least eight words) the function words
// of the analyzer's language are left out, unless there is nothing else: there they
// only raise long texts. In other queries they stay; "how to" may be a title.
func (a *Analyzer) MatchTokens(text string) []Token {
	return a.Telling(text, a.QueryTokens(text))
}

// Telling are the MatchTokens of a text whose QueryTokens are known.
func (a *Analyzer) Telling(text string, tokens []Token) []Token {
	if len(a.function) == 0 || !a.isQuestion(text) {
		return tokens
	}
	kept := make([]Token, 0, len(tokens))
	for _, t := range tokens {
		if !a.FunctionWord(text[t.Start:t.End]) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return tokens
	}
	return kept
}

func (a *Analyzer) isQuestion(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"?", "？", "؟"} {
		if strings.HasSuffix(text, mark) {
			return true
		}
	}
	n, start := 0, false
	a.Words(text, func(first, end int) bool {
		switch word := lower(text[first:end]); n {
		case 0:
			start = a.beginsQuestion(word)
		case 1:
			start = start && a.function[word] && word != "to"
		}
		n++
		return n < questionWords && (n < 2 || !start)
	})
	return n == questionWords || n > 1 && start
}

func (a *Analyzer) beginsQuestion(word string) bool {
	for start := range strings.FieldsSeq(questionStarts[a.o.Language]) {
		if start == word {
			return true
		}
	}
	return false
}

// Piece is a part of the text of a prefix or fuzzy query.
type Piece struct {
	// Text is to be compared with terms and forms of the dictionary, or, when
	// Exact is set, to be looked for as a phrase.
	Text  string
	Exact bool
}

// PrefixPieces are the parts of the text of a prefix query, all of which a chunk
// must hold: the words before the last one as phrases, and the last one folded,
// with which a term or form must begin. A run of more than two characters in a
// script without spaces is a phrase: pairs are all that the dictionary holds. So
// every chunk is found that has a raw word which begins with text.
func (a *Analyzer) PrefixPieces(text string) []Piece {
	pieces := a.pieces(text)
	for i := range pieces {
		p := &pieces[i]
		if p.Exact = i < len(pieces)-1; !p.Exact && isDense(p.Text) {
			_, characters := runTerms(nil, p.Text, true)
			p.Exact = characters > 2
		}
		if !p.Exact {
			p.Text = a.Fold(p.Text)
		}
	}
	return pieces
}

// FuzzyPieces are the parts of the text of a fuzzy query, all of which a chunk
// must hold: each word folded, which a term or form must resemble, and runs in
// scripts without spaces as phrases.
func (a *Analyzer) FuzzyPieces(text string) []Piece {
	pieces := a.pieces(text)
	for i := range pieces {
		p := &pieces[i]
		if p.Exact = isDense(p.Text); !p.Exact {
			p.Text = a.Fold(p.Text)
		}
	}
	return pieces
}

// pieces are the raw words of text, cut at hyphens: only names keep those.
func (a *Analyzer) pieces(text string) []Piece {
	var out []Piece
	a.Words(text, func(start, end int) bool {
		for piece := range strings.SplitSeq(text[start:end], "-") {
			if utf8.ValidString(piece) && a.Fold(piece) != "" {
				out = append(out, Piece{Text: piece})
			}
		}
		return true
	})
	return out
}
