package static

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// blockBytes is about how much text [Tokenizer.Pieces] reads at a time, so that
// what it notes of a long text does not grow with it.
const blockBytes = 16 << 10

// Pieces yields where the pieces of text stand in it, one half-open range of bytes
// for every number that [Tokenizer.Encode] gives and in the same order, until yield
// returns false. Ranges begin and end at characters, do not overlap, and are those
// of the text as it is written: a letter is where it stands with its accents, and a
// word that has no pieces is one range. Where one character makes several pieces,
// as a Hangul syllable may, the first has all of it and the others are empty ranges
// at its end. White space and characters that are dropped lie in no range, unless
// inside a piece.
func (t *Tokenizer) Pieces(text string, yield func(start, end int) bool) {
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

// blockEnd is the first place from byte i on where text may be cut without a change
// to its pieces: before white space, punctuation or a CJK character, which end
// whatever comes before them.
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

// span is a half-open range of bytes of the text that is being encoded.
type span struct{ start, end int }

// trace notes where pieces stand, while a tokenizer encodes.
type trace struct {
	pieces  []span
	numbers []int32
	// word is where each byte of the word that is being read comes from, as far
	// as the word can have pieces; end is where the word ends so far.
	word []span
	end  int
	// normal is where each byte of a normalized run comes from, segment a part of
	// the run that is decomposed.
	normal  []span
	segment []byte
}

// addLetters notes the pieces of a word of ASCII letters that begins at start.
func addLetters[N uint8 | int](r *trace, start int, sizes []N) {
	for _, n := range sizes {
		r.pieces = append(r.pieces, span{start, start + int(n)})
		start += int(n)
	}
}

// addWord notes the pieces of the word that was read.
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

// addUnknown notes the word that was read as one piece.
func (r *trace) addUnknown() {
	start := max(r.last(), r.word[0].start)
	r.pieces = append(r.pieces, span{start, max(start, r.end)})
	r.word = r.word[:0]
}

// last is where the last piece ends.
func (r *trace) last() int {
	if n := len(r.pieces); n > 0 {
		return r.pieces[n-1].end
	}
	return 0
}

// letters notes ASCII letters that are appended to a word of so many characters.
func (r *trace) letters(start, end, characters int) {
	if characters <= maxWordCharacters {
		for i := start; i < min(end, start+maxWordCharacters+1); i++ {
			r.word = append(r.word, span{i, i + 1})
		}
	}
	r.end = end
}

// letter notes a character, so many bytes as folded, that is appended to a word of
// so many characters.
func (r *trace) letter(bytes int, from span, characters int) {
	if characters <= maxWordCharacters {
		for range bytes {
			r.word = append(r.word, from)
		}
	}
	r.end = from.end
}

// mark notes a mark that is dropped: it belongs to the character before it.
func (r *trace) mark(from span) {
	if n := len(r.word); n > 0 {
		r.word[n-1].end, r.end = from.end, from.end
	} else if n := len(r.pieces); n > 0 && r.pieces[n-1].end == from.start {
		r.pieces[n-1].end = from.end
	}
}

// normalized notes where the next bytes of the normalized run come from.
func (r *trace) normalized(bytes int, from span) {
	for range bytes {
		r.normal = append(r.normal, from)
	}
}

// traceForeign reads the normalized run and notes where its characters come from.
// What decomposes, a character with the marks behind it, comes from all of them.
func (t *Tokenizer) traceForeign(dst []int32) []int32 {
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
