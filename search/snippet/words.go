package snippet

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/text/chunk"
)

// longestShown is the largest length in bytes of a word that Words returns. Words skips longer words.
const longestShown = 256

// Words returns the words of text that snippets would mark, each once, in text order and with their original case. It
// returns no more words than the limit, and stops when ctx ends. It skips words of more than 256 bytes. Each word is
// cut into parts. The parts at odd indexes match, and the others do not. For the query name, getName has the parts
// "get" and "Name", and names has "", "name" and "s". In scripts without spaces, and in Hangul, a word is the matching
// range.
func (h *Highlighter) Words(ctx context.Context, text string, limit int) [][]string {
	if len(h.terms) == 0 {
		return nil
	}
	text = chunk.AsRead(text).Text
	var list [][]string
	seen := map[string]bool{}
	note := func(whole sheaf.Span, matches []sheaf.Span) {
		word := text[whole.Start:whole.End]
		if seen[word] {
			return
		}
		word = strings.Clone(word)
		seen[word] = true
		var parts []string
		at := 0
		for _, m := range matches {
			parts = append(parts, word[at:m.Start-whole.Start], word[m.Start-whole.Start:m.End-whole.Start])
			at = m.End - whole.Start
		}
		if at < len(word) {
			parts = append(parts, word[at:])
		}
		list = append(list, parts)
	}
	var matches []sheaf.Span
	h.screen.Words(text, func(start, end int) bool {
		if ctx.Err() != nil {
			return false
		}
		matches = matches[:0]
		for _, m := range h.word(text[start:end]) {
			if n := len(matches) - 1; n >= 0 && start+m.start <= matches[n].End { // like the pairs of a Chinese word
				matches[n].End = max(matches[n].End, start+m.end)
				continue
			}
			matches = append(matches, sheaf.Span{Start: start + m.start, End: start + m.end})
		}
		for i := 0; i < len(matches); {
			whole, n := wholeWord(text, matches[i]), 1
			for i+n < len(matches) && matches[i+n].Start < whole.End {
				n++
			}
			whole.End = max(whole.End, matches[i+n-1].End)
			if whole.End-whole.Start <= longestShown {
				note(whole, matches[i:i+n])
			}
			i += n
		}
		return len(list) < limit
	})
	return list[:min(len(list), limit)]
}

// wholeWord extends a range of text by the letters, digits and marks beside it. It stops above longestShown bytes. It
// does not change a range that begins with another character.
func wholeWord(text string, at sheaf.Span) sheaf.Span {
	if r, _ := utf8.DecodeRuneInString(text[at.Start:]); !ofWord(r) {
		return at
	}
	for at.Start > 0 && at.End-at.Start <= longestShown {
		r, size := utf8.DecodeLastRuneInString(text[:at.Start])
		if !ofWord(r) {
			break
		}
		at.Start -= size
	}
	for at.End < len(text) && at.End-at.Start <= longestShown {
		r, size := utf8.DecodeRuneInString(text[at.End:])
		if !ofWord(r) {
			break
		}
		at.End += size
	}
	return at
}

// ofWord reports whether a character belongs to a word between spaces.
func ofWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) && !Spaceless(r)
}

// Spaceless reports whether the script of a character has no spaces between words, or none before particles.
func Spaceless(r rune) bool {
	return r >= 0xE00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han,
		unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
