package vector

import (
	"encoding/binary"
	"math"
)

// Buffer gathers vectors in memory, encoded. Not safe for concurrent use.
type Buffer struct {
	encoder *Encoder
	rows    []byte
	codes   []uint64 // row after row
	scales  []float32
	owners  []uint32
}

// NewBuffer returns a buffer for vectors of dims dimensions.
func NewBuffer(dims int) *Buffer { return &Buffer{encoder: NewEncoder(dims)} }

// Dims is the number of dimensions of its vectors.
func (b *Buffer) Dims() int { return b.encoder.dims }

// Len is the number of vectors.
func (b *Buffer) Len() int { return len(b.owners) }

// Bytes is how much memory the vectors take.
func (b *Buffer) Bytes() int64 {
	return int64(cap(b.rows) + 8*cap(b.codes) + 4*cap(b.scales) + 4*cap(b.owners))
}

// Add adds a passage of a chunk; owner never falls.
func (b *Buffer) Add(owner uint32, v []float32) {
	var scale float32
	b.rows, b.codes, scale = b.encoder.Encode(b.rows, b.codes, v)
	b.scales = append(b.scales, scale)
	b.owners = append(b.owners, owner)
}

// Set arranges the vectors to be searched, in memory of its own. Owners become
// what remap makes of them, in the same order, below chunks; those for which it
// says false are left out. A nil remap changes nothing.
func (b *Buffer) Set(chunks int, remap func(owner uint32) (to uint32, ok bool)) *Set {
	e := b.encoder
	size, words := e.RowBytes(), e.Words()
	s := &Set{Encoder: e, Chunks: chunks, Codes: make([]byte, 0, CodeBytes(e.dims, b.Len())), Rows: make([]byte, 0, len(b.rows))}
	var owners OwnerList
	for i, owner := range b.owners {
		if remap != nil {
			to, ok := remap(owner)
			if !ok {
				continue
			}
			owner = to
		}
		if s.Count%GroupRows == 0 {
			s.Codes = s.Codes[:len(s.Codes)+GroupRows*words*8]
		}
		PutCode(s.Codes, s.Count, b.codes[i*words:(i+1)*words])
		s.Rows = append(s.Rows, b.rows[i*size:(i+1)*size]...)
		s.Scales = AppendScale(s.Scales, b.scales[i])
		owners.Add(owner)
		s.Count++
	}
	s.Owners, s.Firsts, s.Owned = owners.Owners, owners.Firsts, owners.Owned
	return s
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
