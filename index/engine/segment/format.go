// Package segment is one immutable file of the engine. A segment has the chunks of one or several commits, with their
// posting lists, lengths, identifiers, columns and vectors. A [Builder] collects chunks in memory, and [Flush] writes
// them to a file. [Merge] joins several files into one. A [Reader] reads a file without copying it, and its Check
// verifies every byte.
//
// A chunk has an ordinal in its segment. Ordinals follow the order in which chunks were added. doc/formats/segment.md
// describes the format.
package segment

import (
	"encoding/binary"
	"errors"
	"math"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/vector"
)

const (
	kind = "segment"
	// Version is the version of the format.
	Version = 8
	// MaxFields is the largest number of text fields in a segment.
	MaxFields = 16
)

// FormMark is the first byte of a form in the dictionary. A form is the folded word of the text, if its stemmed term
// differs. Terms have no byte below 0x20, so forms come before all terms. A form has frequencies but no positions, and
// does not add to the length of a field.
const FormMark = 0x01

// ErrTooLarge means that a segment has no space for more chunks, terms or occurrences. Begin another segment.
var ErrTooLarge = errors.New("segment is full")

// These are the names of sections. After a name that ends with a dot, the name of a field follows.
const (
	sectionMeta     = "meta"
	sectionPostings = "postings"
	sectionTerms    = "terms"
	sectionLengths  = "lengths."
	sectionIDs      = "ids"
	sectionRanks    = "ranks"
	sectionDocs     = "documents"
	sectionColumns  = "columns"
	sectionVectors  = "vectors."
	sectionCodes    = "codes."
	sectionScales   = "scales."
	sectionOwners   = "owners."
	sectionFirsts   = "firsts."
)

// ordinalBytes is the number of bytes of an ordinal in a table of ordinals.
const ordinalBytes = 3

// Field is a text field of a segment with its statistics.
type Field struct {
	Name string
	bm25.Field
	width int // bytes of a length, 0 when lengths are listed
}

// VectorField is a vector field of a segment.
type VectorField struct {
	Name     string
	Dims     int
	Passages int
	// Owned is the number of chunks that have passages.
	Owned int
	// Depth says how many passages a search by vector compares exactly.
	Depth vector.Depth
}

// meta is the description of a segment, which the segment file stores.
type meta struct {
	chunks    int
	documents int
	fields    []Field
	vectors   []VectorField
	positions int64    // bytes of positions in the postings section
	letters   *letters // of the terms
}

func (m *meta) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(m.chunks))
	b = binary.AppendUvarint(b, uint64(m.documents))
	b = binary.AppendUvarint(b, uint64(m.positions))
	b = binary.AppendUvarint(b, uint64(len(m.fields)))
	for _, f := range m.fields {
		b = appendString(b, f.Name)
		b = binary.AppendUvarint(b, uint64(f.Chunks))
		b = binary.AppendUvarint(b, uint64(f.Tokens))
		b = binary.AppendUvarint(b, uint64(f.width))
	}
	b = binary.AppendUvarint(b, uint64(len(m.vectors)))
	for _, v := range m.vectors {
		b = appendString(b, v.Name)
		b = binary.AppendUvarint(b, uint64(v.Dims))
		for _, n := range []int{v.Passages, v.Owned, v.Depth.Ten, v.Depth.Hundred} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	b = append(b, byte(m.letters.pairs))
	return appendString(b, string(m.letters.order))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errMeta = errors.New("numbers that cannot be")

// decoder reads numbers and strings from the front of b. After a fault, bad is true, and later results have no meaning.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) number(most uint64) uint64 {
	v, ok := uvarint(&d.b)
	if !ok || v > most {
		d.bad = true
		return 0
	}
	return v
}

func (d *decoder) text() string {
	n := d.number(uint64(len(d.b)))
	if n > uint64(len(d.b)) {
		d.bad = true
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func decodeMeta(b []byte) (*meta, error) {
	d := decoder{b: b}
	m := &meta{}
	m.chunks = int(d.number(maxChunks))
	m.documents = int(d.number(maxChunks))
	m.positions = int64(d.number(math.MaxInt64))
	for range d.number(MaxFields) {
		f := Field{Name: d.text()}
		f.Chunks = int64(d.number(uint64(m.chunks)))
		f.Tokens = int64(d.number(math.MaxInt64 >> 16))
		f.width = int(d.number(2))
		m.fields = append(m.fields, f)
	}
	for range d.number(1 << 8) {
		v := VectorField{Name: d.text()}
		if v.Dims = int(d.number(vector.MaxDims)); v.Dims < 1 {
			d.bad = true
		}
		for _, n := range []*int{&v.Passages, &v.Owned, &v.Depth.Ten, &v.Depth.Hundred} {
			*n = int(d.number(math.MaxInt32))
		}
		m.vectors = append(m.vectors, v)
	}
	pairs, order := int(d.number(literal-1)), d.text()
	if d.bad || len(d.b) > 0 || pairs < 1 || len(order) > literal+15*pairs {
		return nil, errMeta
	}
	m.letters = makeLetters(pairs, []byte(order))
	return m, nil
}
