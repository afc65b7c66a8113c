package static

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// character is a cache entry: a character with its normalization.
type character struct {
	text   uint32 // its bytes, the lowest first
	folded uint32 // the bytes of its NFKC in lower case; wordMark for white space, 0 for invalid UTF-8
	head   uint32 // the node of folded in the trie, with the size of folded instead of the label
	facts  uint32 // the bits below, the size of text in bytes, and in the highest byte the last combining class
}

const (
	single uint32 = 1 << iota // its NFKC in lower case is one character
	starts                    // it does not combine with a character before it, so it starts a group
	stable                    // it is its own NFKC, whatever is before it
	inert                     // it does not combine with a character after it
	space

	sizeShift, classShift = 8, 24
)

func (c character) size() int { return int(c.facts >> sizeShift & 0xff) }

// character returns the first character of text. The capacity of text must be at least 4, so callers pad texts.
func (s *Segmenter) character(text []byte) character {
	text = text[:4]
	key := binary.LittleEndian.Uint32(text) & (characterMask[text[0]>>4] | 0xff)
	c := &s.characters[key*0x9e3779b1>>(32-characterBits)]
	if c.text != key {
		*c = s.describe(key)
	}
	return *c
}

// characterMask maps the first 4 bits of a character outside ASCII to a mask of the character's bytes.
var characterMask = [16]uint32{12: 1<<16 - 1, 13: 1<<16 - 1, 14: 1<<24 - 1, 15: 1<<32 - 1}

// describe returns the character whose bytes are in text, with its normalization.
func (s *Segmenter) describe(text uint32) character {
	raw := binary.LittleEndian.AppendUint32(nil, text)
	_, size := utf8.DecodeRune(raw)
	raw = raw[:size]
	c := character{text: text, facts: uint32(size) << sizeShift}
	normal, p := norm.NFKC.Bytes(raw), norm.NFKC.Properties(raw)
	c.facts |= uint32(p.TrailCCC()) << classShift
	if norm.NFKC.Properties(normal).BoundaryBefore() {
		c.facts |= starts
	}
	if norm.NFKC.QuickSpan(raw) == size {
		c.facts |= stable
	}
	if p.BoundaryAfter() {
		c.facts |= inert
	}
	r, size := utf8.DecodeRune(normal)
	if size < len(normal) || r == utf8.RuneError && size == 1 {
		return c
	}
	if text != dotted {
		c.facts |= single
	}
	if r = unicode.ToLower(r); r == '▁' || unicode.IsSpace(r) {
		c.facts |= space
		r = '▁'
	}
	node := s.table.nodes.node(0)
	for i, b := range []byte(string(r)) {
		node = s.table.nodes.child(node, b)
		c.folded |= uint32(b) << (8 * i)
	}
	c.head = node&^0xff | uint32(utf8.RuneLen(r))
	return c
}
