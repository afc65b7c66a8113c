package static

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// blockBytes is roughly how much text [tokenizer.Pieces] reads at a time, so that its memory does
// not grow with the text.
const blockBytes = 16 << 10

// Pieces yields the positions of the pieces in text until yield returns false: one half-open byte
// range for every number that [tokenizer.Encode] returns, in the same order. Ranges start and end
// at characters, do not overlap, and refer to the original text. A letter includes its accents, and
// a word without pieces is one range. When one character becomes several pieces, for example a
// Hangul syllable, the first piece has the range of the character, and the others have empty ranges
// at its end. White space and dropped characters are in no range, unless they are inside a piece.
func (t *tokenizer) Pieces(text string, yield func(start, end int) bool) {
	t.trace = &t.traced
	defer func() { t.trace = nil }()
	for start := 0; start < len(text); {
		end := blockEnd(text, start+blockBytes)
		t.trace.pieces = t.trace.pieces[:0]
		t.trace.numbers = t.Encode(t.trace.numbers[:0], text[start:end])
		for _, p := range t.trace.pieces {
			if !yield(start+p.start, start+p.end) {
				return
			}
		}
		start = end
	}
}

// blockEnd returns the first position from byte i on where a cut does not change the pieces of text:
// before white space, punctuation or a CJK character, because each of them ends the word before it.
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

// span is a half-open range of bytes of the encoded text.
type span struct{ start, end int }

// trace records the positions of pieces while a tokenizer encodes.
type trace struct {
	pieces  []span
	numbers []int32
	// word has the origin of each byte of the current word, up to the length that can have pieces.
	// end is the current end of the word.
	word []span
	end  int
	// normal has the origin of each byte of a normalized run, segment a part of the run that is decomposed.
	normal  []span
	segment []byte
}

// addLetters records the pieces of a word of ASCII letters that begins at start.
func addLetters[N uint8 | int](r *trace, start int, sizes []N) {
	for _, n := range sizes {
		r.pieces = append(r.pieces, span{start, start + int(n)})
		start += int(n)
	}
}

// addWord records the pieces of the current word.
func addWord[N uint8 | int](r *trace, sizes []N) {
	at, last := 0, r.last()
	for _, n := range sizes {
		start := max(last, r.word[at].start)
		at += int(n)
		last = max(start, r.word[at-1].end)
		r.pieces = append(r.pieces, span{start, last})
	}
	r.word = r.word[:0]
}

// addUnknown records the current word as one piece.
func (r *trace) addUnknown() {
	start := max(r.last(), r.word[0].start)
	r.pieces = append(r.pieces, span{start, max(start, r.end)})
	r.word = r.word[:0]
}

// last returns the end of the last piece.
func (r *trace) last() int {
	if n := len(r.pieces); n > 0 {
		return r.pieces[n-1].end
	}
	return 0
}

// letters records ASCII letters appended to a word of characters characters.
func (r *trace) letters(start, end, characters int) {
	if characters <= maxWordCharacters {
		for i := start; i < min(end, start+maxWordCharacters+1); i++ {
			r.word = append(r.word, span{i, i + 1})
		}
	}
	r.end = end
}

// letter records a character of bytes folded bytes, appended to a word of characters characters.
func (r *trace) letter(bytes int, from span, characters int) {
	if characters <= maxWordCharacters {
		for range bytes {
			r.word = append(r.word, from)
		}
	}
	r.end = from.end
}

// mark records that a dropped mark is a part of the character before it.
func (r *trace) mark(from span) {
	if n := len(r.word); n > 0 {
		r.word[n-1].end, r.end = from.end, from.end
	} else if n := len(r.pieces); n > 0 && r.pieces[n-1].end == from.start {
		r.pieces[n-1].end = from.end
	}
}

// normalized records the origin of the next bytes of the normalized run.
func (r *trace) normalized(bytes int, from span) {
	for range bytes {
		r.normal = append(r.normal, from)
	}
}

// traceForeign reads the normalized run and records the origin of its characters. A character that
// decomposes and the marks after it share one origin: the range of all of them.
func (t *tokenizer) traceForeign(dst []int32) []int32 {
	text, from := t.normal, t.trace.normal
	for len(text) > 0 {
		n := norm.NFD.NextBoundary(text, true)
		if segment := text[:n]; norm.NFD.IsNormal(segment) {
			for i := 0; i < n; {
				r, size := utf8.DecodeRune(segment[i:])
				dst = t.character(dst, r, from[i])
				i += size
			}
		} else {
			t.trace.segment = norm.NFD.Append(t.trace.segment[:0], segment...)
			all := span{from[0].start, from[n-1].end}
			for rest := t.trace.segment; len(rest) > 0; {
				r, size := utf8.DecodeRune(rest)
				dst = t.character(dst, r, all)
				rest = rest[size:]
			}
		}
		text, from = text[n:], from[n:]
	}
	t.trace.normal = t.trace.normal[:0]
	return dst
}
