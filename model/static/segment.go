package static

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Segmenter cuts text into the pieces of a [Unigram] as SentencePiece does (Kudo, 2018). It applies NFKC and lower
// case, puts "▁" before every word, and finds the cheapest cut. It is not safe for concurrent use.
type Segmenter struct {
	table  *Unigram
	word   []byte // normalized, with its mark
	inside bool   // the word was cut after its first mostWord bytes and continues
	cells  []cell
	normal []byte        // a normalized block
	recent []recentPiece // recent words, each at the position of its hash
}

// cell is the best way to reach a byte of a word.
type cell struct {
	cost  uint64
	piece uint32
	size  uint32 // of the piece, in bytes
}

// recentPiece is a cache entry: a short word, as the text has it, with the numbers of its pieces.
type recentPiece struct {
	word   [3]uint64
	pieces [mostRecent]int32
	count  int32
}

const (
	wordMark    = "▁"
	mostWord    = 8 << 10 // longer words are cut after this many bytes
	blockToFold = 4 << 10 // how much of a long word is normalized at a time
	mostRecent  = 5
	recentBytes = 24
	segmentBits = 13
	unreached   = 1<<64 - 1
)

// NewSegmenter returns a segmenter for u.
func NewSegmenter(u *Unigram) *Segmenter { return &Segmenter{table: u} }

// Encode appends the numbers of the pieces of text to dst, without invalid UTF-8. Adjacent unknown characters are one
// piece.
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

func (s *Segmenter) start() {
	if s.recent == nil {
		s.recent = make([]recentPiece, 1<<segmentBits)
		s.word = make([]byte, 0, mostWord+utf8.UTFMax)
		s.cells = make([]cell, mostWord+utf8.UTFMax+1)
	}
}

// goesOn appends the pieces of a text that begins inside a word.
func (s *Segmenter) goesOn(dst []int32, text string) []int32 {
	s.start()
	s.word, s.inside = s.word[:0], true
	return s.flush(s.block(dst, text))
}

// blank lists the bytes of white space in ASCII.
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

// block appends the pieces of a text. The text starts and ends at boundaries of NFKC normalization.
func (s *Segmenter) block(dst []int32, raw string) []int32 {
	s.normal = norm.NFKC.AppendString(s.normal[:0], raw)
	for text := s.normal; len(text) > 0; {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case caseless(r): // for speed, before the slower cases
			dst = s.add(dst, r)
		case r == utf8.RuneError && n == 1:
		case r == '▁' || unicode.IsSpace(r):
			dst = s.flush(dst)
			s.word = append(s.word, wordMark...)
		case r == 'İ': // the only character with two in lower case
			dst = s.add(s.add(dst, 'i'), 0x307)
		default:
			dst = s.add(dst, unicode.ToLower(r))
		}
	}
	return dst
}

// caseless reports whether a normalized character is certainly neither white space nor upper case. It knows the scripts
// from Hebrew to Myanmar, and the scripts of Chinese and Japanese.
func caseless(r rune) bool { return 0x590 <= r && r < 0x10a0 || 0x3001 <= r && r < 0xa000 }

func (s *Segmenter) add(dst []int32, r rune) []int32 {
	if len(s.word) >= mostWord {
		dst = s.flush(dst)
		s.inside = true
	}
	s.word = utf8.AppendRune(s.word, r)
	return dst
}

// flush appends the pieces of the word and empties it.
func (s *Segmenter) flush(dst []int32) []int32 {
	word := s.word
	inside := s.inside
	s.word, s.inside = s.word[:0], false
	if len(word) == 0 || !inside && len(word) == len(wordMark) {
		return dst
	}
	table, cells := s.table, s.cells[:len(word)+1]
	for i := range cells {
		cells[i].cost = unreached
	}
	cells[0].cost = 0
	for i, size := 0, 0; i < len(word); i += size {
		if size = 1; word[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(word[i:])
		}
		before := cells[i].cost
		if sum := before + table.dearest; sum < cells[i+size].cost {
			cells[i+size] = cell{sum, uint32(table.unknown), uint32(size)}
		}
		node := table.nodes.node(0)
		for j := i; j < len(word); j++ {
			c := uint32(word[j])
			if node = table.nodes.node(base(node) ^ c); node&(leafBit|0xff) != c || c == 0 {
				break
			}
			if node&hasLeaf == 0 {
				continue
			}
			leaf := table.nodes.node(base(node))
			piece := leaf >> costBits & (1<<pieceBits - 1)
			if int(piece) >= len(table.fine) { // only in a table that was not verified
				break
			}
			sum := before + uint64(leaf&(1<<costBits-1)<<fineBits|uint32(table.fine[piece]))
			if to := &cells[j+1]; sum < to.cost {
				*to = cell{sum, piece, uint32(j + 1 - i)}
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
