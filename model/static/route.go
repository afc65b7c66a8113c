package static

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// The tables of an [encoder].
const (
	englishTable = iota
	othersTable
	tables
)

// block is a text, or a part of a text, for one table.
type block struct {
	text    string
	foreign int // bytes outside ASCII
	parts   [tables]part
}

// part is the result of one table for a block.
type part struct {
	pieces  []int32
	read    int // bytes of the block
	english int // the sum of the pieces' language numbers: above 0 for English
	unseen  int // pieces of the other table that training did not see
}

func (b *block) reset(text string) {
	b.text, b.foreign = text, foreignBytes(text)
	for i := range b.parts {
		p := &b.parts[i]
		*p = part{pieces: p.pieces[:0]}
	}
}

// part returns the result of a table for a block.
func (e *encoder) part(b *block, table int) *part {
	p := &b.parts[table]
	e.read(b, table, len(b.text))
	return p
}

// read reads a block up to byte end, which must be white space, or to its end.
func (e *encoder) read(b *block, table, end int) {
	p := &b.parts[table]
	text, first := b.text[p.read:end], len(p.pieces)
	p.read = end
	switch {
	case text == "":
	case table == othersTable:
		p.pieces = e.segmenter.Encode(p.pieces, text)
		numbers := e.others.english
		for _, id := range p.pieces[first:] {
			p.english += int(int8(numbers[id]))
			if !e.others.saw(id) {
				p.unseen++
			}
		}
	default:
		p.pieces = e.tokenizer.Encode(p.pieces, text)
		if e.others != nil {
			numbers, sum := e.others.first, 0
			for _, id := range p.pieces[first:] {
				sum += int(int8(numbers[id]))
			}
			p.english += sum
		}
	}
}

// clearlyEnglish reports whether the pieces of the English table alone show that a text is in
// English. For most other texts it reads only the start.
func (e *encoder) clearlyEnglish(text []*block) bool {
	size, foreign := 0, 0
	for _, b := range text {
		size, foreign = size+len(b.text), foreign+b.foreign
	}
	if foreign*mostForeign > size {
		return false
	}
	english, pieces := 0, 0
	for _, b := range text {
		p := &b.parts[englishTable]
		if p.read == 0 && len(b.text) > 2*beginning {
			if n := strings.IndexByte(b.text[beginning:], ' '); n >= 0 {
				if e.read(b, englishTable, beginning+n); english+p.english < -doubt {
					return false
				}
			}
		}
		e.part(b, englishTable)
		english, pieces = english+p.english, pieces+len(p.pieces)
		if english < -doubt && pieces > beginning/4 {
			return false
		}
	}
	return english > clearPiece*pieces+clearText
}

// table chooses the table for a text, given in blocks. It chooses the English table in three cases:
// the pieces do not occur much more often in other languages, training saw at most half of them, or
// the text has no words, only numbers, signs and letters.
func (e *encoder) table(text ...*block) int {
	if e.others == nil || e.clearlyEnglish(text) || !slices.ContainsFunc(text, hasWord) {
		return englishTable
	}
	english, pieces, unseen := 0, 0, 0
	for _, b := range text {
		p := e.part(b, othersTable)
		english, pieces, unseen = english+p.english, pieces+len(p.pieces), unseen+p.unseen
	}
	if english > -max(favor, favorPiece*(pieces-favorFrom)) || 2*unseen >= pieces ||
		english > -favorWords && e.wholeWords(text) {
		return englishTable
	}
	return othersTable
}

// language reports whether a text is in English, by the mean and the sum of its pieces' language numbers. known
// is false when they are too small to decide.
func (e *encoder) language(b *block) (english, known bool) {
	p := e.part(b, othersTable)
	sure := max(sureText, surePiece*len(p.pieces))
	return p.english > 0, max(p.english, -p.english) > sure
}

// wholeWords reports whether all words of a text are pieces of the English table.
func (e *encoder) wholeWords(text []*block) bool {
	v := e.model.vocab
	for _, b := range text {
		if b.foreign > 0 {
			return false
		}
		for _, id := range e.part(b, englishTable).pieces {
			if id == v.unknown || bytes.HasPrefix(v.piece(id), []byte(continuation)) {
				return false
			}
		}
	}
	return true
}

// hasWord reports whether a block has two neighboring letters, or anything outside ASCII.
func hasWord(b *block) bool {
	if b.foreign > 0 {
		return true
	}
	letters := 0
	for i := range len(b.text) {
		if c := b.text[i] | 0x20; c < 'a' || c > 'z' {
			letters = 0
		} else if letters++; letters == 2 {
			return true
		}
	}
	return false
}

// Language numbers are 8 times the logarithm of how much more often a piece occurs in English. The
// numbers below have the same unit. doc/languages.md says how often the choice is right.
const (
	// In doubt, a text is English. Short texts are often names and titles, long texts code and
	// lists of links. Names and code in other languages lose little.
	favor, favorPiece, favorFrom = 8, 2, 30
	favorWords                   = 32     // for texts whose words are all pieces of the English table
	mostForeign                  = 4      // an English text has at most one of this many bytes outside ASCII
	clearPiece                   = 1      // a clearly English text has more than this per piece,
	clearText                    = 60     // and more than this in total
	sureText, surePiece          = 32, 10 // a text of known language has more than both
	beginning                    = 48     // most other texts show within this many bytes that they are not English,
	doubt                        = 16     // with a sum below minus this
)

// add adds the rows of pieces to dst, weight times each.
func (e *encoder) add(dst []float32, table int, pieces []int32, weight float32) {
	scales, rows, add, size := e.model.scale, e.model.rows, addRow, e.model.dims
	if table == othersTable {
		scales, rows, add, size = e.others.scale, e.others.rows, addHalves, e.others.dims/2
	}
	for _, id := range pieces {
		scale := weight * math.Float32frombits(binary.LittleEndian.Uint32(scales[4*id:]))
		add(dst, rows[int(id)*size:][:size], scale)
	}
}

// foreignBytes counts the bytes of text outside ASCII.
func foreignBytes(text string) int {
	n := 0
	for ; len(text) >= 8; text = text[8:] {
		n += bits.OnesCount64(load64(text) & 0x8080808080808080)
	}
	for i := range len(text) {
		n += int(text[i] >> 7)
	}
	return n
}
