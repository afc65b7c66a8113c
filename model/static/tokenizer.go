package static

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// maxWordCharacters is the length from which a whole word is unknown, as in BERT's tokenizer.
const maxWordCharacters = 100

// tokenizer cuts text into the pieces of a vocabulary as BERT's lower-case tokenizer does (Devlin
// and others, 2018; Wu and others, 2016, for WordPiece). It drops control characters and accents,
// lowers letters, splits words at white space, punctuation and CJK characters, and cuts every word
// greedily into the longest pieces. The pieces equal those of the reference implementation without
// special tokens. It is not safe for concurrent use. [newTokenizer] is cheap.
type tokenizer struct {
	vocab      *Vocabulary
	word       []byte   // the current word, folded
	characters int      // in word
	hashes     []uint32 // of the prefixes of the rest of the word
	normal     []byte   // a normalized run outside ASCII
	// recent caches the last words by their hash, because texts repeat words.
	recent []recentWord
	sizes  []int  // bytes of the folded word in each piece of the last word
	trace  *trace // &traced while Pieces runs, else nil
	traced trace
}

// recentWord is a short word, as written or folded, with its few pieces and their sizes in bytes. An unused entry
// has no letters.
type recentWord struct {
	letters letters
	pieces  [recentPieces]int32
	sizes   [recentPieces]uint8
	count   uint8 // of pieces
}

// letters are the bytes of a word of at most recentLetters, lowest first, then zeros. No word has a zero.
type letters struct{ low, high uint64 }

func lettersOf(word []byte) letters {
	var b [recentLetters]byte
	copy(b[:], word)
	return letters{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// lettersIn returns the letters of text[start:end].
func lettersIn(text string, start, end int) letters {
	if len(text)-start < recentLetters {
		return lettersOf([]byte(text[start:end]))
	}
	l := letters{load64(text[start:]), load64(text[start+8:])}
	if n := end - start; n >= 8 {
		l.high &= 1<<(8*(n-8)) - 1
	} else {
		l.low, l.high = l.low&(1<<(8*n)-1), 0
	}
	return l
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(
		s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// place returns the index of a word in the recent words.
func (l letters) place() uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := (l.low ^ l.high*odd) * odd
	return h >> (64 - recentBits)
}

const (
	recentBits    = 13
	recentWords   = 1 << recentBits
	recentLetters = 16
	recentPieces  = 3
)

// newTokenizer returns a tokenizer for v.
func newTokenizer(v *Vocabulary) *tokenizer {
	return &tokenizer{vocab: v, recent: make([]recentWord, recentWords)}
}

// Encode appends the numbers of the pieces of text to dst. It drops bytes that are not UTF-8.
func (t *tokenizer) Encode(dst []int32, text string) []int32 {
	t.word, t.characters = t.word[:0], 0
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
				dst = t.short(dst, text, start, i)
				continue
			}
			if t.trace != nil {
				t.trace.letters(start, i, t.characters)
			}
			t.fold(text[start:i])
		case classSpace:
			dst = t.flush(dst)
		case classPunctuation:
			dst = t.flush(dst)
			dst = t.short(dst, text, start, i)
		}
	}
	return t.flush(dst)
}

// fold appends ASCII letters, or a mark that counts as a letter, to the word.
func (t *tokenizer) fold(letters string) {
	for i := range len(letters) {
		t.word = append(t.word, lower[letters[i]])
	}
	t.characters += len(letters)
}

// short appends the pieces of the word text[start:end], of at most recentLetters, if no word is open.
func (t *tokenizer) short(dst []int32, text string, start, end int) []int32 {
	l := lettersIn(text, start, end)
	if r := &t.recent[l.place()]; r.letters == l {
		if t.trace != nil {
			addLetters(t.trace, start, r.sizes[:r.count])
		}
		return append(dst, r.pieces[:r.count]...)
	}
	t.fold(text[start:end])
	folded := t.word
	t.word, t.characters = t.word[:0], 0
	dst = t.remember(dst, l, folded)
	if t.trace != nil {
		addLetters(t.trace, start, t.sizes)
	}
	return dst
}

// remember appends the pieces of a word, and caches them when they are few.
func (t *tokenizer) remember(dst []int32, l letters, word []byte) []int32 {
	first := len(dst)
	dst = t.cut(dst, word)
	if n := len(dst) - first; n <= recentPieces {
		r := &t.recent[l.place()]
		r.letters, r.count = l, uint8(n)
		copy(r.pieces[:], dst[first:])
		for i, size := range t.sizes {
			r.sizes[i] = uint8(size)
		}
	}
	return dst
}

// Classes of bytes; the first two end a word.
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
		lower[c] = uint8(c)
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

// foreign reads a run of text outside ASCII, which starts and ends at characters. Decomposing the
// run alone gives the same result as decomposing the whole text, except for marks after an ASCII
// letter. The tokenizer drops these marks.
func (t *tokenizer) foreign(dst []int32, whole string, start, end int) []int32 {
	t.normal = t.normal[:0]
	for i, r := range whole[start:end] {
		before := len(t.normal)
		switch {
		case r == utf8.RuneError || dropped(r):
		case unicode.IsSpace(r):
			t.normal = append(t.normal, ' ')
		case isCJK(r):
			t.normal = append(t.normal, ' ')
			t.normal = utf8.AppendRune(t.normal, r)
			t.normal = append(t.normal, ' ')
		default:
			t.normal = utf8.AppendRune(t.normal, r)
		}
		if t.trace != nil && len(t.normal) > before {
			t.trace.normalized(len(t.normal)-before, span{start + i, start + i + utf8.RuneLen(r)})
		}
	}
	switch {
	case t.trace != nil:
		return t.traceForeign(dst)
	case norm.NFD.IsNormal(t.normal):
		return t.decomposed(dst, t.normal)
	}
	return t.decomposed(dst, norm.NFD.Bytes(t.normal))
}

// decomposed reads normalized text.
func (t *tokenizer) decomposed(dst []int32, text []byte) []int32 {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		dst = t.character(dst, r, span{})
	}
	return dst
}

// character reads one normalized character outside ASCII; from is its origin.
func (t *tokenizer) character(dst []int32, r rune, from span) []int32 {
	switch {
	case isMark(r):
		if t.trace != nil {
			t.trace.mark(from)
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

// letter appends a character to the word.
func (t *tokenizer) letter(r rune, from span) {
	before := len(t.word)
	t.word = utf8.AppendRune(t.word, r)
	if t.trace != nil {
		t.trace.letter(len(t.word)-before, from, t.characters)
	}
	t.characters++
}

// flush cuts the word into pieces, longest first, and appends them.
func (t *tokenizer) flush(dst []int32) []int32 {
	if len(t.word) == 0 {
		return dst
	}
	word, characters := t.word, t.characters
	t.word, t.characters = t.word[:0], 0
	if characters > maxWordCharacters {
		if t.trace != nil {
			t.trace.addUnknown()
		}
		return append(dst, t.vocab.unknown)
	}
	if len(word) > recentLetters {
		dst = t.cut(dst, word)
	} else {
		l := lettersOf(word)
		if r := &t.recent[l.place()]; r.letters == l {
			if t.trace != nil {
				addWord(t.trace, r.sizes[:r.count])
			}
			return append(dst, r.pieces[:r.count]...)
		}
		dst = t.remember(dst, l, word)
	}
	if t.trace != nil {
		addWord(t.trace, t.sizes)
	}
	return dst
}

// cut appends the pieces of a word and sets sizes.
func (t *tokenizer) cut(dst []int32, word []byte) []int32 {
	first := len(dst)
	t.sizes = t.sizes[:0]
	for start := 0; start < len(word); {
		piece, size := t.longest(word[start:], start > 0)
		if size == 0 {
			t.sizes = append(t.sizes[:0], len(word))
			return append(dst[:first], t.vocab.unknown)
		}
		dst, t.sizes = append(dst, piece), append(t.sizes, size)
		start += size
	}
	return dst
}

// longest returns the longest piece at the start of text and its size in bytes, or 0 when there is none.
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

// isCJK reports whether the reference treats a character as a word of its own.
func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// reference has the characters that the reference tokenizer knows: the characters of Unicode 8. It
// reads later marks, format characters and punctuation as letters. A model that was trained with it
// must do the same. TestEveryCharacter checks every code point.
var reference = rangetable.Assigned("8.0.0")

func dropped(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && unicode.Is(reference, r)
}

// isMark and isPunctuation name the characters whose kind changed after Unicode 8.
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
