package static

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// These are the tables from which an [encoder] can choose for a text.
const (
	englishTable = iota
	othersTable
	tables
)

// block is a part of the text, with the results that each table gives for it.
type block struct {
	text  string
	parts [tables]part
	start int // for a long block: the language number of its beginning
	long  bool
}

// part is the result of one table for a block: pieces and language numbers.
type part struct {
	pieces  []int32
	read    int       // how many bytes of the block the table has read
	english int       // the sum of the pieces' language numbers: above 0 for English
	unseen  int       // pieces that training did not see; only for othersTable
	sum     []float32 // of the pieces' rows; empty before the first use
}

// begin starts a new text and drops the old one. The parameter text is only the first block of words; the method grow
// adds the others.
func (e *encoder) begin(text string) {
	e.text, e.size, e.foreign = e.text[:0], 0, 0
	e.grow(text)
}

// grow adds a block of words to the end of the text.
func (e *encoder) grow(text string) {
	e.text = slices.Grow(e.text, 1)[:len(e.text)+1]
	b := &e.text[len(e.text)-1]
	b.text, b.long = text, false
	for k, p := range b.parts {
		b.parts[k] = part{pieces: p.pieces[:0], sum: p.sum[:0]}
	}
	e.size, e.foreign = e.size+len(text), e.foreign+foreignBytes(text)
}

// drop removes the second block of the text: the first words of the body. The first block is the heading.
func (e *encoder) drop() {
	b, last := e.text[1], len(e.text)-1
	e.text = append(append(e.text[:1], e.text[2:]...), b)[:last] // grow uses the memory of b again
	e.size, e.foreign = e.size-len(b.text), e.foreign-foreignBytes(b.text)
}

// part returns the result of a table for a block. It computes the result if needed.
func (e *encoder) part(b *block, table int) *part {
	if table == englishTable {
		e.readStart(b)
	}
	e.read(b, table, len(b.text))
	return &b.parts[table]
}

// readStart reads the start of a block with the English table, to detect the language. It skips blocks of at most
// 2*beginning bytes, and blocks that this table has read before.
func (e *encoder) readStart(b *block) {
	p := &b.parts[englishTable]
	if p.read > 0 || len(b.text) <= 2*beginning {
		return
	}
	if n := strings.IndexByte(b.text[beginning:], ' '); n >= 0 {
		e.read(b, englishTable, beginning+n)
		b.start, b.long = p.english, true
	}
}

// read reads a block with a table, englishTable or othersTable, up to byte end of the block's text. It adds the pieces,
// and their language numbers, to the block's part of this table. The caller must pass a byte end where the text ends or
// has white space.
func (e *encoder) read(b *block, table, end int) {
	p := &b.parts[table]
	text, first := b.text[p.read:end], len(p.pieces)
	p.read = end
	switch {
	case text == "":
		return
	case table == othersTable:
		p.pieces = e.segmenter.Encode(p.pieces, text)
	default:
		p.pieces = e.tokenizer.Encode(p.pieces, text)
	}
	if e.others == nil {
		return
	}
	numbers := e.others.first
	if table == othersTable {
		numbers = e.others.english
	}
	for _, id := range p.pieces[first:] {
		p.english += int(int8(numbers[id]))
		if table == othersTable && !e.others.saw(id) {
			p.unseen++
		}
	}
}

// clearlyEnglish reports whether the pieces of the English table alone show that the text is in English. For a text in
// another language, it mostly reads only the start.
func (e *encoder) clearlyEnglish() bool {
	if e.foreign*mostForeign > e.size {
		return false
	}
	english, pieces := 0, 0
	for i := range e.text {
		b := &e.text[i]
		if e.readStart(b); b.long && english+b.start < -doubt {
			return false
		}
		p := e.part(b, englishTable)
		english, pieces = english+p.english, pieces+len(p.pieces)
		if english < -doubt && pieces > beginning/4 {
			return false
		}
	}
	return english > clearPiece*pieces+clearText
}

// table chooses the table for the text. It chooses the English table in each of these cases, otherwise the table of
// other languages:
//   - There is no other table.
//   - The text is clearly English, or has no words.
//   - The language numbers of the text do not clearly show another language: see favor.
//   - Training saw at most half of the text's pieces in the other table.
func (e *encoder) table() int {
	if e.others == nil || e.clearlyEnglish() || !e.hasWord() {
		return englishTable
	}
	english, pieces, unseen := 0, 0, 0
	for i := range e.text {
		p := e.part(&e.text[i], othersTable)
		english, pieces, unseen = english+p.english, pieces+len(p.pieces), unseen+p.unseen
	}
	if english > -max(favor, favorPiece*(pieces-favorFrom)) || 2*unseen >= pieces ||
		english > -favorWords && e.wholeWords() {
		return englishTable
	}
	return othersTable
}

// language reports whether a text of one block is in English. The sign of the sum of its language numbers decides.
// known is false if the sum is too near to 0.
func (e *encoder) language() (english, known bool) {
	p := e.part(&e.text[0], othersTable)
	sure := max(sureText, surePiece*len(p.pieces))
	return p.english > 0, max(p.english, -p.english) > sure
}

// wholeWords reports whether the text is ASCII and each of its words is one piece of the English table.
func (e *encoder) wholeWords() bool {
	v := e.model.vocab
	continues := func(id int32) bool {
		return id == v.unknown || bytes.HasPrefix(v.piece(id), []byte(continuation))
	}
	for i := range e.text {
		if slices.ContainsFunc(e.part(&e.text[i], englishTable).pieces, continues) {
			return false
		}
	}
	return e.foreign == 0
}

// hasWord reports whether the text has two neighboring letters, or anything outside ASCII.
func (e *encoder) hasWord() bool {
	if e.foreign > 0 {
		return true
	}
	for i := range e.text {
		letters := 0
		for _, c := range []byte(e.text[i].text) {
			if c |= 0x20; c < 'a' || c > 'z' {
				letters = 0
			} else if letters++; letters == 2 {
				return true
			}
		}
	}
	return false
}

// The language number of a piece is 8 * log(p / q). p is the frequency of the piece in English, q its frequency in
// other languages. The constants are limits for sums of language numbers, except those that count bytes or pieces.
// doc/languages.md says how often the choice of the table is right.
const (
	// With n pieces, a text gets the table of other languages only if sum <= -max(favor, favorPiece * (n - favorFrom)). So
	// in doubt a text gets the English table. Texts in doubt are often names, titles, code and lists of links, which lose
	// little with the English table.
	favor, favorPiece, favorFrom = 8, 2, 30
	favorWords                   = 32     // like favor, for texts whose words are all pieces of the English table
	mostForeign                  = 4      // in an English text, at most one byte in four is outside ASCII
	clearPiece, clearText        = 1, 60  // a text of n pieces is clearly English if sum > clearPiece * n + clearText
	sureText, surePiece          = 32, 10 // the language is known if |sum| > max(sureText, surePiece * n)
	beginning                    = 48     // how many bytes of a long block are read first, up to the next space
	doubt                        = 16     // a text is not clearly English if the sum of its first pieces is below -doubt
)

// add adds the vectors of pieces in a table to dst, each multiplied by weight.
func (e *encoder) add(dst []float32, table int, pieces []int32, weight float32) {
	if table == othersTable {
		addHalves(dst, e.others.rows, e.others.scale, pieces, weight)
	} else {
		addRows(dst, e.model.rows, e.model.scale, pieces, weight)
	}
}

// foreignBytes counts the bytes of text outside ASCII.
func foreignBytes(text string) int {
	n := 0
	for ; len(text) >= 8; text = text[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64([]byte(text[:8])) & 0x8080808080808080)
	}
	for i := range len(text) {
		n += int(text[i] >> 7)
	}
	return n
}
