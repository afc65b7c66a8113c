package vector

import (
	"encoding/binary"
	"math"

	"sheaf/internal/offheap"
)

// Buffer collects encoded vectors in memory, in the layout of a Set. Call Free at the end. Not safe for concurrent use.
type Buffer struct {
	encoder *Encoder
	rows    offheap.List[byte]
	codes   offheap.List[byte] // whole groups
	scales  offheap.List[byte]
	owners  offheap.List[uint32]
	code    []uint64 // of the last added vector
}

// NewBuffer returns a buffer for vectors of dims dimensions.
func NewBuffer(dims int) *Buffer { return &Buffer{encoder: NewEncoder(dims)} }

// Dims returns the number of dimensions of the vectors.
func (b *Buffer) Dims() int { return b.encoder.dims }

// Len returns the number of vectors.
func (b *Buffer) Len() int { return len(b.owners.Items) }

// Bytes returns the memory of the vectors in bytes.
func (b *Buffer) Bytes() int64 {
	return b.rows.Bytes() + b.codes.Bytes() + b.scales.Bytes() + b.owners.Bytes()
}

// Free empties b and releases its memory. Sets that share the memory become invalid.
func (b *Buffer) Free() {
	b.rows.Free()
	b.codes.Free()
	b.scales.Free()
	b.owners.Free()
}

// Add adds v, a passage of the chunk with the ordinal owner. Owners must not decrease from call to call.
func (b *Buffer) Add(owner uint32, v []float32) {
	b.rows.Grow(b.encoder.RowBytes())
	var scale float32
	b.rows.Items, b.code, scale = b.encoder.Encode(b.rows.Items, b.code[:0], v)
	b.add(owner, scale)
}

// add adds the owner, the scale and the code of the next vector. The code is in b.code.
func (b *Buffer) add(owner uint32, scale float32) {
	i := b.Len()
	if i%GroupRows == 0 {
		at, size := len(b.codes.Items), GroupRows*len(b.code)*8
		b.codes.Grow(size)
		b.codes.Items = b.codes.Items[:at+size]
		clear(b.codes.Items[at:])
	}
	PutCode(b.codes.Items, i, b.code)
	b.scales.Grow(ScaleBytes)
	b.scales.Items = AppendScale(b.scales.Items, scale)
	b.owners.Add(owner)
}

// Set returns the vectors as a set that can be searched. chunks is the number of chunks of the segment. The owners that
// the caller passed to b must be below chunks. The set shares the memory of b and is valid until the next Add or Free.
func (b *Buffer) Set(chunks int) *Set {
	s := &Set{Encoder: b.encoder, Chunks: chunks, Count: b.Len(), Rows: b.rows.Items, Codes: b.codes.Items,
		Scales: b.scales.Items}
	var owners OwnerList
	for _, owner := range b.owners.Items {
		owners.Add(owner)
	}
	s.Owners, s.Firsts, s.Owned = owners.Owners, owners.Firsts, owners.Owned
	return s
}

// Kept returns a buffer with the same vectors in the same order, and with new owners from remap. It omits vectors for
// which remap returns false.
func (b *Buffer) Kept(remap func(owner uint32) (to uint32, ok bool)) *Buffer {
	e := b.encoder
	size := e.RowBytes()
	out := &Buffer{encoder: e}
	for i, owner := range b.owners.Items {
		to, ok := remap(owner)
		if !ok {
			continue
		}
		out.rows.Grow(size)
		out.rows.Items = append(out.rows.Items, b.rows.Items[i*size:(i+1)*size]...)
		out.code = Code(out.code[:0], b.codes.Items, i, e.Words())
		out.add(to, math.Float32frombits(binary.LittleEndian.Uint32(b.scales.Items[i*ScaleBytes:])))
	}
	return out
}

// AppendScale appends the stored form of a row's scale to b.
func AppendScale(b []byte, scale float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(scale))
}

// OwnerList builds the fields Owners and Firsts of a Set, row by row.
type OwnerList struct {
	Owners, Firsts []byte // as in Set
	Owned          int
	last           uint32
}

// Add adds the owner of the next row. Owners must not decrease from call to call, and must be below 1<<24.
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
