package static

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Segmenter cuts text into the pieces of a [Unigram] as SentencePiece does (Kudo, 2018). It applies NFKC and lower
// case, puts "▁" before every word, and finds the cheapest cut. It is not safe for concurrent use.
type Segmenter struct {
	table      *Unigram
	text       []byte // the current block
	normal     []byte // a part of text, normalized
	iter       norm.Iter
	word       []byte        // normalized, with its mark
	heads      []uint32      // of the word's characters
	inside     bool          // the word was cut after its first mostWord bytes and continues
	cells      []cell        // one for each byte of the word, and one after it
	recent     []recentPiece // recent words, each at the position of its hash
	characters []character   // recent characters, each at the position of its hash
}

// cell is the best way to cut a word up to one of its bytes.
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
	wordMark      = "▁"
	mostWord      = 8 << 10 // longer words are cut after this many bytes
	blockToFold   = 4 << 10 // how much of a long word is normalized at a time
	mostGroup     = 30      // bytes; longer groups are not simple, because NFKC divides groups of more than 30 marks
	mostRecent    = 5
	recentBytes   = 24
	segmentBits   = 13
	characterBits = 13
	unreached     = 1<<64 - 1
	dotted        = 0xb0c4             // İ, the only character with two in lower case
	padding       = "\x00\x00\x00\x00" // so that character can read 4 bytes
)

// NewSegmenter returns a segmenter for u.
func NewSegmenter(u *Unigram) *Segmenter { return &Segmenter{table: u} }

// Encode appends the numbers of the pieces of text to dst. It drops invalid UTF-8. Adjacent unknown characters are one
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

// start allocates memory before the first text.
func (s *Segmenter) start() {
	if s.recent == nil {
		s.recent = make([]recentPiece, 1<<segmentBits)
		s.characters = make([]character, 1<<characterBits)
		s.characters[0] = s.describe(0)
		s.word = make([]byte, 0, mostWord+utf8.UTFMax)
		s.cells = make([]cell, mostWord+utf8.UTFMax+1)
	}
}

// goesOn appends the pieces of a text that begins inside a word, so without "▁" before its first word.
func (s *Segmenter) goesOn(dst []int32, text string) []int32 {
	s.start()
	s.inside = true
	return s.flush(s.block(dst, text))
}

// blank lists the bytes of white space in ASCII.
var blank = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// cut appends the pieces of raw, which has no ASCII white space.
func (s *Segmenter) cut(dst []int32, raw string) []int32 {
	dst = s.add(dst, s.character([]byte(wordMark+padding)))
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

// block appends the pieces of a text. The text starts and ends at boundaries of NFKC normalization. block normalizes
// one group at a time: a character that starts a group, and the characters that combine with it. Most groups are
// simple: each of their characters is normalized alone.
func (s *Segmenter) block(dst []int32, raw string) []int32 {
	s.text = append(append(s.text[:0], raw...), padding...)
	next := s.character(s.text)
	for i := 0; i < len(raw); {
		c, start := next, i
		i += c.size()
		next = s.character(s.text[i:])
		simple := c.facts&single != 0
		if simple && next.facts&starts != 0 {
			dst = s.add(dst, c)
			continue
		}
		for last := c.facts; next.facts&starts == 0; next = s.character(s.text[i:]) {
			simple = simple && next.facts&single != 0 && next.facts&stable|c.facts&inert != 0 &&
				next.facts>>classShift >= last>>classShift
			last = next.facts
			i += next.size()
		}
		group := s.text[start:i]
		if !simple || len(group) > mostGroup {
			group = s.normalize(group)
		}
		for ; len(group) > 0; group = group[c.size():] {
			c = s.character(group)
			if dst = s.add(dst, c); c.text == dotted {
				dst = s.add(dst, s.character([]byte("\u0307"+padding)))
			}
		}
	}
	return dst
}

// normalize returns the NFKC of text, with padding after it.
func (s *Segmenter) normalize(text []byte) []byte {
	s.normal = s.normal[:0]
	for s.iter.Init(norm.NFKC, text); !s.iter.Done(); {
		s.normal = append(s.normal, s.iter.Next()...)
	}
	return append(s.normal, padding...)[:len(s.normal)]
}

// add adds c to the current word. If c is white space or the word is full, add begins a new word for c. Before that,
// add appends the pieces of the old word to dst.
func (s *Segmenter) add(dst []int32, c character) []int32 {
	size := int(c.head & 0xff)
	switch {
	case size == 0:
		return dst
	case c.facts&space != 0:
		dst = s.flush(dst)
	case len(s.word) >= mostWord:
		dst = s.flush(dst)
		s.inside = true
	}
	end := len(s.word) + size
	binary.LittleEndian.PutUint32(s.word[len(s.word):cap(s.word)], c.folded)
	s.word, s.heads = s.word[:end], append(s.heads, c.head)
	s.cells[end].cost = unreached
	return dst
}

// flush appends the pieces of the current word to dst, and begins a new word.
func (s *Segmenter) flush(dst []int32) []int32 {
	word, heads, inside := s.word, s.heads, s.inside
	s.word, s.heads, s.inside = word[:0], heads[:0], false
	if len(word) == 0 || !inside && len(word) == len(wordMark) {
		return dst
	}
	word = append(word, 0) // no piece continues here
	table, cells, i := s.table, s.cells[:len(word)], 0
	cells[0].cost = 0
	for _, node := range heads {
		before, size := cells[i].cost, int(node&0xff)
		if sum := before + table.dearest; sum < cells[i+size].cost {
			cells[i+size] = cell{sum, uint32(table.unknown), uint32(size)}
		}
		for j := i + size; node&leafBit == 0; j++ {
			if node&hasLeaf != 0 {
				leaf := table.nodes.node(base(node))
				piece := leaf >> costBits & (1<<pieceBits - 1)
				if int(piece) >= len(table.fine) { // only in a table that was not verified
					break
				}
				sum := before + uint64(leaf&(1<<costBits-1)<<fineBits|uint32(table.fine[piece]))
				if to := &cells[j]; sum < to.cost {
					*to = cell{sum, piece, uint32(j - i)}
				}
			}
			node = table.nodes.child(node, word[j])
		}
		i += size
	}
	start := len(dst)
	for i := uint32(i); i > 0; i -= cells[i].size {
		p := int32(cells[i].piece)
		if p == s.table.unknown && len(dst) > start && dst[len(dst)-1] == p {
			continue
		}
		dst = append(dst, p)
	}
	slices.Reverse(dst[start:])
	return dst
}
