package static

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// maxWordCharacters is the largest number of characters of a word that is cut into pieces. A longer word is unknown, as
// in BERT's tokenizer.
const maxWordCharacters = 100

// tokenizer cuts text into pieces as BERT's lower-case tokenizer does (Devlin and others, 2018; Wu and others, 2016,
// for WordPiece). It drops control characters and accents, lowers letters, and splits words at white space,
// punctuation and CJK characters. It cuts every word greedily into the longest pieces. The pieces equal the pieces of
// the reference implementation without special tokens. It is not safe for concurrent use. [newTokenizer] is cheap.
type tokenizer struct {
	vocab *Vocabulary
	// word is the current word, folded, up to the length that can have pieces. from has the position in the text for
	// each byte of word. characters is the number of characters of the whole word, and end is its end in the text.
	word       []byte
	from       []span
	characters int
	end        int
	run        run
	recent     []recentWord // the last words by their hash, because texts repeat words
	folded     []byte
	hashes     []uint32 // of the prefixes of the part of the word that is not cut yet
	sizes      []int    // in bytes, of the folded pieces of the word that was cut last
	traced     bool     // Encode sets spans
	spans      []span
}

// span is a range of bytes of the text, without the byte at end.
type span struct{ start, end int }

// recentWord is a short word, as written or folded, with its pieces and their sizes in bytes. An unused entry has no
// letters.
type recentWord struct {
	letters letters
	pieces  [recentPieces]int32
	sizes   [recentPieces]uint8
	count   uint8 // of pieces
}

// letters is a word of at most recentLetters bytes. The first byte is in the lowest bits; zeros follow the last byte.
// No word has a zero byte.
type letters struct{ low, high uint64 }

const (
	recentBits    = 13
	recentWords   = 1 << recentBits
	recentLetters = 16
	recentPieces  = 3
)

func newTokenizer(v *Vocabulary) *tokenizer {
	return &tokenizer{vocab: v, recent: make([]recentWord, recentWords)}
}

// Encode appends the numbers of the pieces of text to dst. It drops invalid UTF-8. If the tokenizer is traced, Encode
// also sets spans to the positions of the pieces in text.
func (t *tokenizer) Encode(dst []int32, text string) []int32 {
	t.spans = t.spans[:0]
	for i := 0; i < len(text); {
		start, c := i, class[text[i]]
		i++
		switch c {
		case classForeign:
			for i < len(text) && text[i] >= utf8.RuneSelf {
				i++
			}
			dst = t.foreign(dst, text, start, i)
		case classLetter:
			for i < len(text) && class[text[i]] == classLetter {
				i++
			}
			// Most words are short and have only these letters.
			if len(t.word) == 0 && i-start <= recentLetters && (i == len(text) || class[text[i]] <= classPunctuation) {
				dst = t.ascii(dst, text, start, i)
				continue
			}
			for k := start; k < i; k++ {
				t.letter(rune(lower[text[k]]), span{k, k + 1})
			}
		case classSpace:
			dst = t.flush(dst)
		case classPunctuation:
			dst = t.ascii(t.flush(dst), text, start, i)
		}
	}
	return t.flush(dst)
}

// ascii appends the pieces of the word text[start:end], which is in ASCII.
func (t *tokenizer) ascii(dst []int32, text string, start, end int) []int32 {
	dst = t.cut(dst, text[start:end])
	if t.traced {
		for _, n := range t.sizes {
			t.spans = append(t.spans, span{start, start + n})
			start += n
		}
	}
	return dst
}

// letter appends a folded character to the current word. from is its position in the text.
func (t *tokenizer) letter(r rune, from span) {
	if t.characters <= maxWordCharacters {
		t.word = utf8.AppendRune(t.word, r)
		for len(t.from) < len(t.word) {
			t.from = append(t.from, from)
		}
	}
	t.characters++
	t.end = from.end
}

// flush appends the pieces of the current word to dst, and begins a new word.
func (t *tokenizer) flush(dst []int32) []int32 {
	if len(t.word) == 0 {
		return dst
	}
	if t.characters > maxWordCharacters {
		dst, t.sizes = append(dst, t.vocab.unknown), append(t.sizes[:0], len(t.word))
		t.from[len(t.from)-1].end = t.end
	} else {
		dst = t.cut(dst, string(t.word))
	}
	if t.traced {
		at, last := 0, t.last()
		for _, n := range t.sizes {
			start := max(last, t.from[at].start)
			at += n
			last = max(start, t.from[at-1].end)
			t.spans = append(t.spans, span{start, last})
		}
	}
	t.word, t.from, t.characters = t.word[:0], t.from[:0], 0
	return dst
}

func (t *tokenizer) last() int {
	if n := len(t.spans); n > 0 {
		return t.spans[n-1].end
	}
	return 0
}

// lettersOf returns a word as letters. The caller must pass a word of at most recentLetters bytes.
func lettersOf(word string) (l letters) {
	n := len(word)
	switch {
	case n >= 8:
		l.low = binary.LittleEndian.Uint64([]byte(word[:8]))
		l.high = binary.LittleEndian.Uint64([]byte(word[n-8:])) >> (8 * (16 - n))
	case n >= 4:
		l.low = uint64(binary.LittleEndian.Uint32([]byte(word[:4])))
		l.low |= uint64(binary.LittleEndian.Uint32([]byte(word[n-4:]))) << (8 * (n - 4))
	default:
		for i := range n {
			l.low |= uint64(word[i]) << (8 * i)
		}
	}
	return l
}

// cut appends the pieces of a word, and sets t.sizes to their sizes in bytes. The word is in ASCII or folded.
func (t *tokenizer) cut(dst []int32, word string) []int32 {
	var l letters
	var r *recentWord // nil for a long word
	t.sizes = t.sizes[:0]
	if len(word) <= recentLetters {
		l = lettersOf(word)
		const odd = 0x9e3779b97f4a7c15
		if r = &t.recent[((l.low^l.high*odd)*odd)>>(64-recentBits)]; r.letters == l {
			if t.traced {
				for _, n := range r.sizes[:r.count] {
					t.sizes = append(t.sizes, int(n))
				}
			}
			return append(dst, r.pieces[:r.count]...)
		}
	}
	t.folded = t.folded[:0]
	for i := range len(word) {
		t.folded = append(t.folded, lower[word[i]])
	}
	first := len(dst)
	for start := 0; start < len(word); {
		piece, size := t.longest(t.folded[start:], start > 0)
		if size == 0 {
			dst, t.sizes = append(dst[:first], t.vocab.unknown), append(t.sizes[:0], len(word))
			break
		}
		dst, t.sizes = append(dst, piece), append(t.sizes, size)
		start += size
	}
	if n := len(t.sizes); r != nil && n <= recentPieces {
		r.letters, r.count = l, uint8(n)
		copy(r.pieces[:], dst[first:])
		for i, size := range t.sizes {
			r.sizes[i] = uint8(size)
		}
	}
	return dst
}

// These are classes of bytes. Bytes of the first two classes end a word.
const (
	classSpace uint8 = iota
	classPunctuation
	classLetter
	classDropped
	classForeign // bytes of characters outside ASCII
)

var class, lower = func() (class, lower [256]uint8) {
	for c := range 128 {
		class[128+c] = classForeign
		lower[c], lower[128+c] = uint8(c), uint8(128+c)
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			class[c] = classSpace
		case c < ' ' || c == 0x7f:
			class[c] = classDropped
		case c >= 'A' && c <= 'Z':
			class[c], lower[c] = classLetter, uint8(c)+'a'-'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			class[c] = classLetter
		default:
			class[c] = classPunctuation
		}
	}
	return class, lower
}()

// run is a run of text outside ASCII: normalized, with the origin of each byte.
type run struct {
	text    []byte
	from    []span
	segment []byte // a decomposed part of the text
}

// foreign reads a run of text outside ASCII, which starts and ends at characters. Decomposing the run alone gives the
// same result as decomposing the whole text, except for marks after an ASCII letter. The tokenizer drops such marks in
// any case. A character that decomposes and the marks after it share one origin: the range of all of them.
func (t *tokenizer) foreign(dst []int32, whole string, start, end int) []int32 {
	n := &t.run
	n.text, n.from = n.text[:0], n.from[:0]
	for i, r := range whole[start:end] {
		switch {
		case r == utf8.RuneError || dropped(r):
		case unicode.IsSpace(r):
			n.text = append(n.text, ' ')
		case isCJK(r):
			n.text = append(utf8.AppendRune(append(n.text, ' '), r), ' ')
		default:
			n.text = utf8.AppendRune(n.text, r)
		}
		for len(n.from) < len(n.text) {
			n.from = append(n.from, span{start + i, start + i + utf8.RuneLen(r)})
		}
	}
	for text, from := n.text, n.from; len(text) > 0; {
		size := norm.NFD.NextBoundary(text, true)
		if segment := text[:size]; norm.NFD.IsNormal(segment) {
			for i := 0; i < size; {
				r, bytes := utf8.DecodeRune(segment[i:])
				dst = t.character(dst, r, from[i])
				i += bytes
			}
		} else {
			n.segment = norm.NFD.Append(n.segment[:0], segment...)
			for _, r := range string(n.segment) {
				dst = t.character(dst, r, span{from[0].start, from[size-1].end})
			}
		}
		text, from = text[size:], from[size:]
	}
	return dst
}

// character reads one normalized character outside ASCII. from is its position in the text.
func (t *tokenizer) character(dst []int32, r rune, from span) []int32 {
	switch {
	case isMark(r): // a dropped mark is a part of the character before it
		if n := len(t.from); n > 0 {
			t.from[n-1].end, t.end = from.end, from.end
		} else if n := len(t.spans); n > 0 && t.spans[n-1].end == from.start {
			t.spans[n-1].end = from.end
		}
	case unicode.IsSpace(r):
		dst = t.flush(dst)
	case isPunctuation(r):
		dst = t.flush(dst)
		t.letter(r, from)
		dst = t.flush(dst)
	default:
		t.letter(unicode.ToLower(r), from)
	}
	return dst
}

// longest returns the longest piece at the start of text, and its size in bytes. Without such a piece, size is 0.
// goesOn says that the piece continues a word.
func (t *tokenizer) longest(text []byte, goesOn bool) (piece int32, size int) {
	n := min(len(text), t.vocab.longest)
	h := seedFirst
	if goesOn {
		h = seedContinuation
	}
	t.hashes = t.hashes[:0]
	for _, c := range text[:n] {
		h = step(h, c)
		t.hashes = append(t.hashes, h)
	}
	for ; n > 0; n-- {
		if n < len(text) && !utf8.RuneStart(text[n]) {
			continue
		}
		if id := t.vocab.find(text[:n], t.hashes[n-1], goesOn); id >= 0 {
			return id, n
		}
	}
	return 0, 0
}

// isCJK reports whether the reference tokenizer treats a character as a word (Chinese, Japanese and Korean).
func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// reference has the characters that the reference tokenizer knows: the characters of Unicode 8. The reference tokenizer
// reads marks, format characters and punctuation of later Unicode versions as letters. This tokenizer must do the same,
// because the model was trained with the reference tokenizer. TestEveryCharacter checks every code point.
var reference = rangetable.Assigned("8.0.0")

func dropped(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && unicode.Is(reference, r)
}

// isMark reports whether the reference tokenizer reads r as a combining mark, which has no width of its own. The switch
// lists characters that became a mark, or stopped being a mark, after Unicode 8.
func isMark(r rune) bool {
	switch r {
	case 0x1734:
		return true
	case 0x1885, 0x1886, 0xA9BD, 0x111C9:
		return false
	}
	return unicode.Is(unicode.Mn, r) && unicode.Is(reference, r)
}

func isPunctuation(r rune) bool {
	return r < 128 && class[r] == classPunctuation || unicode.IsPunct(r) && unicode.Is(reference, r) ||
		r == 0x166D || r == 0x111C9
}
