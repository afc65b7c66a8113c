package static

// Pieces yields the positions of the pieces in text until yield returns false. It yields one half-open byte range for
// every number that [tokenizer.Encode] returns, in the same order. Ranges start and end at characters, do not
// overlap, and refer to the original text. A letter includes its accents, and a word without pieces is one range.
// When one character becomes several pieces, the first piece has the range of the character. The others have empty
// ranges at its end. White space and dropped characters are in no range, unless they are inside a piece.
func (t *tokenizer) Pieces(text string, yield func(start, end int) bool) {
	t.Encode(nil, text)
	spans := t.spans
	t.spans = nil // they may be many
	for _, p := range spans {
		if !yield(p.start, p.end) {
			return
		}
	}
}
