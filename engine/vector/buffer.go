package vector

import (
	"encoding/binary"
	"math"
	"slices"
)

// Buffer gathers vectors in memory, encoded and laid out as a Set has them. Not
// safe for concurrent use.
type Buffer struct {
	encoder *Encoder
	rows    []byte
	codes   []byte // whole groups
	scales  []byte
	owners  []uint32
	code    []uint64 // of the vector that was added last
}

// NewBuffer returns a buffer for vectors of dims dimensions.
func NewBuffer(dims int) *Buffer { return &Buffer{encoder: NewEncoder(dims)} }

// Dims is the number of dimensions of its vectors.
func (b *Buffer) Dims() int { return b.encoder.dims }

// Len is the number of vectors.
func (b *Buffer) Len() int { return len(b.owners) }

// Reset makes b empty and keeps its memory for the vectors that come.
func (b *Buffer) Reset() {
	b.rows, b.codes, b.scales, b.owners = b.rows[:0], b.codes[:0], b.scales[:0], b.owners[:0]
}

// Add adds a passage of a chunk; owner never falls.
func (b *Buffer) Add(owner uint32, v []float32) {
	if size := b.encoder.RowBytes(); cap(b.rows)-len(b.rows) < size {
		b.rows = slices.Grow(b.rows, max(len(b.rows)/2, size)) // append alone copies them twice as often
	}
	var scale float32
	b.rows, b.code, scale = b.encoder.Encode(b.rows, b.code[:0], v)
	b.codes = appendCode(b.codes, len(b.owners), b.code)
	b.scales = AppendScale(b.scales, scale)
	b.owners = append(b.owners, owner)
}

// appendCode puts the code of vector i, the next one, into codes.
func appendCode(codes []byte, i int, code []uint64) []byte {
	if i%GroupRows == 0 {
		at, size := len(codes), GroupRows*len(code)*8
		codes = append(codes, make([]byte, size)...)
		clear(codes[at:])
	}
	PutCode(codes, i, code)
	return codes
}

// Set arranges the vectors to be searched. Owners become what remap makes of them,
// in the same order, below chunks; those for which it says false are left out. A
// nil remap changes nothing: then the set shares the memory of b, and is valid
// until the next Add or Reset.
func (b *Buffer) Set(chunks int, remap func(owner uint32) (to uint32, ok bool)) *Set {
	s := &Set{Encoder: b.encoder, Chunks: chunks, Count: b.Len(), Rows: b.rows, Codes: b.codes, Scales: b.scales}
	if remap != nil {
		b = b.copyOf(remap)
		s.Count, s.Rows, s.Codes, s.Scales = b.Len(), b.rows, b.codes, b.scales
	}
	var owners OwnerList
	for _, owner := range b.owners {
		owners.Add(owner)
	}
	s.Owners, s.Firsts, s.Owned = owners.Owners, owners.Firsts, owners.Owned
	return s
}

// copyOf is a buffer of the vectors that remap keeps, under their new owners.
func (b *Buffer) copyOf(remap func(owner uint32) (to uint32, ok bool)) *Buffer {
	e := b.encoder
	size := e.RowBytes()
	out := &Buffer{encoder: e}
	for i, owner := range b.owners {
		to, ok := remap(owner)
		if !ok {
			continue
		}
		out.code = Code(out.code[:0], b.codes, i, e.Words())
		out.codes = appendCode(out.codes, out.Len(), out.code)
		out.rows = append(out.rows, b.rows[i*size:(i+1)*size]...)
		out.scales = append(out.scales, b.scales[i*ScaleBytes:(i+1)*ScaleBytes]...)
		out.owners = append(out.owners, to)
	}
	return out
}

// AppendScale appends the scale of a row.
func AppendScale(b []byte, scale float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(scale))
}

// OwnerList makes the owners of a set, and what is derived from them.
type OwnerList struct {
	Owners, Firsts []byte // those of Set
	Owned          int
	last           uint32
}

// Add adds the owner of the next row; owners never fall and are below 1<<24.
func (l *OwnerList) Add(owner uint32) {
	rows := len(l.Owners) / OwnerBytes
	if rows == 0 || owner != l.last {
		l.Owned++
		l.last = owner
	}
	for len(l.Firsts)/FirstBytes <= int(owner)/FirstEvery {
		l.Firsts = binary.LittleEndian.AppendUint32(l.Firsts, uint32(rows))
	}
	l.Owners = append(l.Owners, byte(owner), byte(owner>>8), byte(owner>>16))
}
