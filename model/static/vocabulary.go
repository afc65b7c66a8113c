// Package static turns text into vectors with a table of token vectors. The vector of a text is the sum of the vectors
// of its pieces, at unit length. The package has the tokenizers and the embedder. The caller provides the table.
package static

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Vocabulary is a fixed set of word pieces, numbered from 0 in the order of its file. It is safe for concurrent use.
type Vocabulary struct {
	text     []byte // all pieces, one after another
	ends     []byte // [pieces]uint32, little endian: piece i is text[ends[i-1]:ends[i]]
	slots    []byte // [mask+1]uint32, little endian, open addressing: piece number + 1, or 0
	mask     uint32
	longest  int // bytes of the longest piece, without its mark
	unknown  int32
	numbered int
}

// continuation is the mark before a piece that continues a word, in a file of a vocabulary.
const continuation = "##"

// ParseVocabulary reads a vocabulary: one piece per line, "##" before pieces that continue a word, and [UNK] for
// words without pieces. Errors name the line.
func ParseVocabulary(file []byte) (*Vocabulary, error) {
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	if len(lines) > 1<<24 {
		return nil, fmt.Errorf("vocabulary: %d pieces: at most %d are allowed", len(lines), 1<<24)
	}
	v := &Vocabulary{unknown: -1, numbered: len(lines)}
	size := 1 << bits.Len(uint(len(lines)*2))
	v.slots, v.mask = make([]byte, 4*size), uint32(size-1)
	for i, line := range lines {
		piece := bytes.TrimSuffix(line, []byte("\r"))
		if len(piece) == 0 {
			return nil, fmt.Errorf("vocabulary: line %d is empty", i+1)
		}
		if string(piece) == "[UNK]" {
			v.unknown = int32(i)
		}
		seed, body := seedFirst, piece
		if rest, ok := bytes.CutPrefix(piece, []byte(continuation)); ok && len(rest) > 0 {
			seed, body = seedContinuation, rest
		}
		h := seed
		for _, c := range body {
			h = step(h, c)
		}
		for slot := finish(h) & v.mask; ; slot = (slot + 1) & v.mask {
			n := v.slot(slot)
			if n == 0 {
				binary.LittleEndian.PutUint32(v.slots[4*slot:], uint32(i+1))
				break
			}
			if string(v.piece(int32(n-1))) == string(piece) {
				return nil, fmt.Errorf("vocabulary: line %d: piece %q stands on line %d already", i+1, piece, n)
			}
		}
		v.longest = max(v.longest, len(body))
		v.text = append(v.text, piece...)
		v.ends = binary.LittleEndian.AppendUint32(v.ends, uint32(len(v.text)))
	}
	if v.unknown < 0 {
		return nil, fmt.Errorf("vocabulary: no [UNK] among its %d pieces", len(lines))
	}
	return v, nil
}

// Len returns the number of pieces.
func (v *Vocabulary) Len() int { return v.numbered }

func (v *Vocabulary) piece(id int32) []byte {
	start := uint32(0)
	if id > 0 {
		start = binary.LittleEndian.Uint32(v.ends[4*(id-1):])
	}
	end := binary.LittleEndian.Uint32(v.ends[4*id:])
	if start > end || int(end) > len(v.text) {
		return nil // bytes of an unverified model
	}
	return v.text[start:end]
}

// slot returns the content of slot i: the number of a piece plus 1, or 0 for an empty slot. A number that is too large,
// in a damaged file, reads as 0.
func (v *Vocabulary) slot(i uint32) uint32 {
	n := binary.LittleEndian.Uint32(v.slots[4*i:])
	if n > uint32(v.numbered) {
		return 0
	}
	return n
}

// seedFirst is the seed of the hash of a piece at the start of a word. seedContinuation is the seed for a piece inside
// a word. The hash reads byte by byte, so one pass gives the hashes of all prefixes.
const (
	seedFirst        uint32 = 2166136261
	seedContinuation uint32 = 0x9e3779b9
)

func step(h uint32, c byte) uint32 { return (h ^ uint32(c)) * 16777619 }

func finish(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2c1b3c6d
	return h ^ h>>13
}

// find returns the number of the piece with this text and hash, or -1. goesOn says that the piece continues a word.
func (v *Vocabulary) find(body []byte, h uint32, goesOn bool) int32 {
	slot := finish(h) & v.mask
	for range v.mask + 1 {
		n := v.slot(slot)
		slot = (slot + 1) & v.mask
		if n == 0 {
			return -1
		}
		piece := v.piece(int32(n - 1))
		if goesOn {
			if len(piece) == len(body)+len(continuation) && piece[0] == '#' && piece[1] == '#' &&
				string(piece[2:]) == string(body) {
				return int32(n - 1)
			}
		} else if string(piece) == string(body) {
			return int32(n - 1)
		}
	}
	return -1
}
