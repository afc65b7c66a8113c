package static

import "unicode/utf8"

// blockBytes is the approximate number of bytes of text that [tokenizer.Pieces] reads at a time, to limit memory.
const blockBytes = 16 << 10

// Pieces yields the positions of the pieces in text until yield returns false. It yields one half-open byte range for
// every number that [tokenizer.Encode] returns, in the same order. Ranges start and end at characters, do not overlap,
// and refer to the original text. These rules hold:
//   - The range of a letter includes its accents.
//   - A word that the vocabulary lacks has one number and one range.
//   - If one character becomes several pieces, the first piece has the range of the character. The others have empty
//     ranges at its end.
//   - White space and dropped characters are in no range, unless they are inside a piece.
func (t *tokenizer) Pieces(text string, yield func(start, end int) bool) {
	t.traced = true
	defer func() { t.traced = false }()
	var numbers []int32
	for start := 0; start < len(text); {
		end := blockEnd(text, start+blockBytes)
		numbers = t.Encode(numbers[:0], text[start:end])
		for _, p := range t.spans {
			if !yield(start+p.start, start+p.end) {
				return
			}
		}
		start = end
	}
}

// blockEnd returns the first position >= i at which text can be cut without changing its pieces. This position is
// before white space, punctuation or a CJK character, or at the end of text.
func blockEnd(text string, i int) int {
	for ; i < len(text); i++ {
		if c := class[text[i]]; c <= classPunctuation {
			return i
		} else if c == classForeign {
			if r, _ := utf8.DecodeRuneInString(text[i:]); isCJK(r) {
				return i
			}
		}
	}
	return len(text)
}
