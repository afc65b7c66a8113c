package static

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Segmenter cuts text into the pieces of a [Unigram] as SentencePiece does (Kudo, 2018): NFKC,
// lower case, "▁" before every word, and the cheapest cut. It is not safe for concurrent use. It
// allocates only for its first text.
type Segmenter struct {
	table   *Unigram
	word    []byte // normalized, with its mark
	inside  bool   // the word was cut after its first mostWord bytes and continues
	cells   []cell
	normal  norm.Iter
	folds   []fold        // of the characters below foldedBlocks, then of those from 0xFF00 to 0xFFFF
	several [][]byte      // the NFKC forms of characters that become several
	recent  []recentPiece // recent words, each at the position of its hash
	firsts  []first       // of the characters below foldedBlocks
}

// first is the trie node after one character, and the piece of this character alone.
type first struct {
	node  uint32 // leafBit when no piece begins with it
	piece uint32
	cost  uint64 // 0 when not known yet
}

// cell is the best way to reach a byte of a word.
type cell struct {
	cost  uint64
	piece uint32
	size  uint32 // of the piece, in bytes
}

// recentPiece is a short word as written, with its pieces.
type recentPiece struct {
	word   [3]uint64
	pieces [mostRecent]int32
	count  int32
}

const (
	wordMark     = "▁"
	mostWord     = 8 << 10 // longer words are cut after this many bytes
	blockToFold  = 4 << 10 // how much of a long word is normalized at a time
	mostRecent   = 5
	recentBytes  = 24
	segmentBits  = 13
	unreached    = 1<<64 - 1
	foldedBlocks = 0x3200
)

// NewSegmenter returns a segmenter for u.
func NewSegmenter(u *Unigram) *Segmenter { return &Segmenter{table: u} }

// Encode appends the numbers of the pieces of text to dst. It drops bytes that are not UTF-8. Consecutive unknown
// characters are one piece.
func (s *Segmenter) Encode(dst []int32, text string) []int32 {
	s.start()
	for i := 0; i < len(text); {
		if blank[text[i]] {
			i++
			continue
		}
		start := i
		for i++; i < len(text) && !blank[text[i]]; i++ {
		}
		if i-start > recentBytes || text[i-1] == 0 {
			dst = s.cut(dst, text[start:i])
			continue
		}
		var b [recentBytes]byte
		copy(b[:], text[start:i])
		word := [3]uint64{
			binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]),
		}
		const odd = 0x9e3779b97f4a7c15
		r := &s.recent[(((word[0]*odd^word[1])*odd^word[2])*odd)>>(64-segmentBits)]
		if r.word == word {
			dst = append(dst, r.pieces[:r.count]...)
			continue
		}
		before := len(dst)
		dst = s.cut(dst, text[start:i])
		if n := len(dst) - before; n <= mostRecent {
			r.word, r.count = word, int32(n)
			copy(r.pieces[:], dst[before:])
		}
	}
	return dst
}

// start allocates for the first text.
func (s *Segmenter) start() {
	if s.folds == nil {
		s.folds = make([]fold, foldedBlocks+0x100)
		s.recent = make([]recentPiece, 1<<segmentBits)
		s.firsts = make([]first, foldedBlocks)
		s.word = make([]byte, 0, mostWord+utf8.UTFMax)
		s.cells = make([]cell, mostWord+utf8.UTFMax+1)
	}
}

// goesOn appends the pieces of a text that continues a word.
func (s *Segmenter) goesOn(dst []int32, text string) []int32 {
	s.start()
	s.word, s.inside = s.word[:0], true
	return s.flush(s.block(dst, text))
}

// blank are the bytes of white space in ASCII.
var blank = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// cut appends the pieces of a text without ASCII white space.
func (s *Segmenter) cut(dst []int32, raw string) []int32 {
	s.word, s.inside = append(s.word[:0], wordMark...), false
	for len(raw) > 0 {
		n := len(raw)
		if n > blockToFold {
			for n = blockToFold; n < len(raw) && !utf8.RuneStart(raw[n]) && n < blockToFold+utf8.UTFMax; n++ {
			}
			if n < len(raw) {
				n += norm.NFKC.NextBoundaryInString(raw[n:], true)
			}
		}
		dst = s.block(dst, raw[:n])
		raw = raw[n:]
	}
	return s.flush(dst)
}

// block adds a text that starts and ends where normalization may. It folds most characters one by
// one. Characters that depend on their neighbors are normalized together, as a stretch.
func (s *Segmenter) block(dst []int32, raw string) []int32 {
	// raw[start:] starts with the last character that starts a stretch, which is at word[at:].
	// class is the combining class of the last character.
	start, at, class := 0, len(s.word), uint8(0)
	for i := 0; i < len(raw); {
		if c := raw[i]; c < utf8.RuneSelf {
			if c-'A' < 26 {
				c += 'a' - 'A'
			}
			start, at, class = i, len(s.word), 0
			s.word = append(s.word, c)
			if i++; len(s.word) >= mostWord {
				dst = s.flush(dst)
				s.inside, start, at = true, i, 0
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(raw[i:])
		f := s.fold(r)
		if f&foldTogether != 0 || f.class() != 0 && f.class() < class {
			for i += n; i < len(raw) && raw[i] >= utf8.RuneSelf; i += n {
				r, n = utf8.DecodeRuneInString(raw[i:])
				if f := s.fold(r); f&(foldTogether|foldInside) == 0 {
					break
				}
			}
			s.word = s.word[:at]
			for s.normal.InitString(norm.NFKC, raw[start:i]); !s.normal.Done(); {
				dst = s.lower(dst, s.normal.Next())
			}
			start, at, class = i, len(s.word), 0
			continue
		}
		if f&foldInside == 0 {
			start, at = i, len(s.word)
		}
		class = f.class()
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
		case f&foldSeveral != 0:
			dst = s.lower(dst, s.several[f.rune()])
		default:
			dst = s.add(dst, f.rune())
		}
		if len(s.word) < at { // a word ended
			start, at = i, len(s.word)
		}
	}
	return dst
}

// lower adds normalized text.
func (s *Segmenter) lower(dst []int32, text []byte) []int32 {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r == utf8.RuneError && n == 1:
		case r == 'İ': // the only character with two in lower case
			dst = s.character(s.character(dst, 'i'), 0x307)
		default:
			dst = s.character(dst, unicode.ToLower(r))
		}
	}
	return dst
}

// character adds a normalized character in lower case.
func (s *Segmenter) character(dst []int32, r rune) []int32 {
	if endsWord(r) {
		dst = s.flush(dst)
		s.word = append(s.word, wordMark...)
		return dst
	}
	return s.add(dst, r)
}

func endsWord(r rune) bool { return r == '▁' || unicode.IsSpace(r) }

// add adds a character of a word.
func (s *Segmenter) add(dst []int32, r rune) []int32 {
	if len(s.word) >= mostWord {
		dst = s.flush(dst)
		s.inside = true
	}
	s.word = utf8.AppendRune(s.word, r)
	return dst
}

// fold is the NFKC lower-case form of one character as a rune and flags, or 0 when not known yet.
type fold uint32

const (
	// foldTogether means that the character must be normalized with its neighbors.
	foldTogether fold = 1 << 31
	// foldInside means that the character does not begin a stretch. It stays unchanged unless its
	// combining class, in bits 16 to 23, is lower than the class of the previous character.
	foldInside fold = 1 << 30
	// foldSeveral means that the character becomes several characters, or ends a word. The rune is
	// their index in Segmenter.several.
	foldSeveral fold = 1 << 29
	foldKnown   fold = 1 << 28
)

func (f fold) rune() rune   { return rune(f & 0xffff) }
func (f fold) class() uint8 { return uint8(f >> 16) }

func (s *Segmenter) fold(r rune) fold {
	i := uint32(r)
	switch {
	case i < foldedBlocks:
	case i >= 0xFF00 && i <= 0xFFFF:
		i -= 0xFF00 - foldedBlocks
	case i >= 0x3400 && i <= 0x9FFF || i >= 0xAC00 && i <= 0xD7A3:
		return fold(r) | foldKnown
	default:
		return foldTogether
	}
	if s.folds[i] == 0 {
		s.folds[i] = s.newFold(r)
	}
	return s.folds[i]
}

func (s *Segmenter) newFold(r rune) fold {
	const form = norm.NFKC
	text := form.String(string(r))
	first, n := utf8.DecodeRuneInString(text)
	begins := form.PropertiesString(string(r)).BoundaryBefore() && form.PropertiesString(text).BoundaryBefore()
	last, _ := utf8.DecodeLastRuneInString(text)
	f := foldKnown | fold(form.PropertiesString(string(last)).CCC())<<16
	switch {
	case !begins && form.QuickSpanString("a"+string(r)) == len("a"+string(r)) && unicode.ToLower(r) == r:
		return f | foldInside | fold(r)
	case !begins, n != len(text) && strings.Contains(text, " "):
		return foldTogether
	case n != len(text) || r == 'İ' || endsWord(first):
		s.several = append(s.several, []byte(text))
		return f | foldSeveral | fold(len(s.several)-1)
	}
	return f | fold(unicode.ToLower(first))
}

// flush appends the pieces of the word and empties it.
func (s *Segmenter) flush(dst []int32) []int32 {
	word := s.word
	inside := s.inside
	s.word, s.inside = s.word[:0], false
	if len(word) == 0 || !inside && len(word) == len(wordMark) {
		return dst
	}
	nodes, fine, cells := s.table.nodes, s.table.fine, s.cells[:len(word)+1]
	for i := range cells {
		cells[i].cost = unreached
	}
	cells[0].cost = 0
	for i := 0; i < len(word); {
		r, size := rune(word[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(word[i:])
		}
		var f first
		if int(r) < len(s.firsts) {
			f = s.firsts[r]
		}
		if f.cost == 0 {
			f = s.first(r, word[i:i+size])
		}
		cost, node := cells[i].cost, f.node
		i += size
		if sum, to := cost+f.cost, &cells[i]; sum < to.cost {
			*to = cell{sum, f.piece, uint32(size)}
		}
		if node == leafBit {
			continue
		}
		for j := i; j < len(word); j++ {
			base := node >> baseShift & (1<<baseBits - 1)
			c := uint32(word[j])
			if node = nodes.node(base ^ c); node&(leafBit|0xff) != c || c == 0 {
				break
			}
			if node&hasLeaf == 0 {
				continue
			}
			leaf := nodes.node(node >> baseShift & (1<<baseBits - 1))
			piece := leaf >> costBits & (1<<pieceBits - 1)
			if int(piece) >= len(fine) { // only in a table that was not verified
				break
			}
			sum := cost + uint64(leaf&(1<<costBits-1)<<fineBits|uint32(fine[piece]))
			if to := &cells[j+1]; sum < to.cost {
				*to = cell{sum, piece, uint32(j + 1 - i + size)}
			}
		}
	}
	start := len(dst)
	for i := uint32(len(word)); i > 0; i -= cells[i].size {
		p := int32(cells[i].piece)
		if p == s.table.unknown && len(dst) > start && dst[len(dst)-1] == p {
			continue
		}
		dst = append(dst, p)
	}
	slices.Reverse(dst[start:])
	return dst
}

// first looks up a character and caches the result.
func (s *Segmenter) first(r rune, text []byte) first {
	nodes, fine := s.table.nodes, s.table.fine
	f := first{node: nodes.node(0), piece: uint32(s.table.unknown), cost: s.table.dearest}
	for _, c := range text {
		base := f.node >> baseShift & (1<<baseBits - 1)
		if f.node = nodes.node(base ^ uint32(c)); f.node&(leafBit|0xff) != uint32(c) || c == 0 {
			f.node = leafBit
			break
		}
	}
	if f.node != leafBit && f.node&hasLeaf != 0 {
		leaf := nodes.node(f.node >> baseShift & (1<<baseBits - 1))
		if piece := leaf >> costBits & (1<<pieceBits - 1); int(piece) < len(fine) {
			f.piece, f.cost = piece, uint64(leaf&(1<<costBits-1)<<fineBits|uint32(fine[piece]))
		}
	}
	if int(r) < len(s.firsts) {
		s.firsts[r] = f
	}
	return f
}
