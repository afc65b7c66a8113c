package segment

import (
	"encoding/binary"
	"math"
	"slices"
)

// The passages of a vector field are rows of float32 in one section, and the
// ordinal of the chunk of each row, never falling, in another.

// vectorWriter writes the passages of one vector field.
type vectorWriter struct {
	file   *fileWriter
	name   string
	dims   int
	owners []byte
	row    []byte
	count  int
}

func (w *fileWriter) beginVectors(name string, dims int) *vectorWriter {
	w.begin(sectionVectors + name)
	return &vectorWriter{file: w, name: name, dims: dims}
}

func (v *vectorWriter) add(owner uint32, passage []float32) {
	v.row = v.row[:0]
	for _, x := range passage {
		v.row = binary.LittleEndian.AppendUint32(v.row, math.Float32bits(x))
	}
	v.file.write(v.row)
	var o [ordinalBytes]byte
	put24(o[:], owner)
	v.owners = append(v.owners, o[:]...)
	v.count++
}

func (v *vectorWriter) end() {
	v.file.section(sectionOwners+v.name, v.owners)
	v.file.meta.vectors = append(v.file.meta.vectors, VectorField{Name: v.name, Dims: v.dims, Passages: v.count})
}

// Neighbor is a chunk found by a vector.
type Neighbor struct {
	Ordinal uint32
	Score   float32
	Passage int // index of the best passage of the chunk
}

// VectorIndex finds the chunks of one vector field that are nearest to a vector.
// It is safe for concurrent use.
type VectorIndex struct {
	field  VectorField
	rows   *guarded
	owners *guarded
	chunks int
}

func (r *Reader) openVectors(field VectorField) (*VectorIndex, error) {
	rows, owners := r.sections[sectionVectors+field.Name], r.sections[sectionOwners+field.Name]
	if rows == nil || owners == nil || len(rows.data) != field.Dims*field.Passages*4 || len(owners.data) != ordinalBytes*field.Passages {
		return nil, r.file.Corrupt(sectionVectors+field.Name, 0, "want %d passages of %d dimensions", field.Passages, field.Dims)
	}
	return &VectorIndex{field: field, rows: rows, owners: owners, chunks: r.meta.chunks}, nil
}

// Field describes the vector field.
func (v *VectorIndex) Field() VectorField { return v.field }

// Each calls yield with every passage, its chunk's ordinal and its index among
// the chunk's passages. passage is valid during the call.
func (v *VectorIndex) Each(yield func(ordinal uint32, index int, passage []float32)) error {
	rows, err := v.rows.all()
	if err != nil {
		return err
	}
	owners, err := v.owners.all()
	if err != nil {
		return err
	}
	passage := make([]float32, v.field.Dims)
	last, index := uint32(1<<32-1), 0
	for i := range v.field.Passages {
		owner := get24(owners[ordinalBytes*i:])
		if int(owner) >= v.chunks {
			return v.owners.corrupt(ordinalBytes*i, "chunk %d of %d", owner, v.chunks)
		}
		if owner == last {
			index++
		} else {
			last, index = owner, 0
		}
		row := rows[i*4*v.field.Dims:]
		for j := range passage {
			passage[j] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*j:]))
		}
		yield(owner, index, passage)
	}
	return nil
}

// Search appends to dst every chunk of allowed (nil allows all) that has a
// passage, with the dot product of its best passage and query, which has the
// field's number of dimensions. The best k are kept, equal scores in any order;
// more than k when the last of them are equal.
func (v *VectorIndex) Search(dst []Neighbor, query []float32, allowed Bitset, k int) ([]Neighbor, error) {
	start := len(dst)
	err := v.Each(func(ordinal uint32, index int, passage []float32) {
		if allowed != nil && !allowed.Has(ordinal) {
			return
		}
		score := dot(query, passage)
		if n := len(dst); n > start && dst[n-1].Ordinal == ordinal {
			if score > dst[n-1].Score {
				dst[n-1].Score, dst[n-1].Passage = score, index
			}
			return
		}
		dst = append(dst, Neighbor{ordinal, score, index})
	})
	if err != nil || len(dst)-start <= k {
		return dst, err
	}
	slices.SortFunc(dst[start:], func(a, b Neighbor) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	end := start + k
	for end < len(dst) && dst[end].Score == dst[end-1].Score {
		end++
	}
	return dst[:end], nil
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
