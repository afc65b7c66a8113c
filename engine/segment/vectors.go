package segment

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
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
	floats, err := v.floats(rows)
	if err != nil {
		return err
	}
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
		yield(owner, index, floats[i*v.field.Dims:(i+1)*v.field.Dims])
	}
	return nil
}

// floats are the rows as numbers, without copying: sections are aligned, and the
// format has the byte order of every machine that Sheaf runs on.
func (v *VectorIndex) floats(rows []byte) ([]float32, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	start := unsafe.Pointer(unsafe.SliceData(rows))
	if uintptr(start)%4 != 0 {
		return nil, v.rows.corrupt(0, "vectors begin at an odd address")
	}
	return unsafe.Slice((*float32)(start), len(rows)/4), nil
}

// Search appends to dst the best chunks of allowed (nil allows all), each with the
// dot product of its best passage and query, which has the field's number of
// dimensions: k of them, best first and equal scores in any order, and more when
// those after them score the same as the last.
func (v *VectorIndex) Search(dst []Neighbor, query []float32, allowed Bitset, k int) ([]Neighbor, error) {
	top := nearest{list: dst, start: len(dst), k: k}
	top.limit = top.start + 2*k + 256
	best := Neighbor{}
	any := false
	err := v.Each(func(ordinal uint32, index int, passage []float32) {
		if allowed != nil && !allowed.Has(ordinal) {
			return
		}
		score := dot(query, passage)
		if any && best.Ordinal == ordinal {
			if score > best.Score {
				best.Score, best.Passage = score, index
			}
			return
		}
		if any {
			top.add(best)
		}
		best, any = Neighbor{ordinal, score, index}, true
	})
	if any {
		top.add(best)
	}
	top.cut()
	return top.list, err
}

// nearest keeps the best of many neighbors: it gathers twice as many as are wanted
// and more, and then drops the worse ones at once.
type nearest struct {
	list   []Neighbor
	start  int // of those found in this segment
	k      int
	limit  int // length at which the worse ones are dropped
	least  float32
	bounds bool // least is the score that a neighbor needs
}

func (t *nearest) add(n Neighbor) {
	if t.bounds && n.Score < t.least {
		return
	}
	if t.list = append(t.list, n); len(t.list) >= t.limit {
		t.cut()
		t.limit = max(t.limit, t.start+2*(len(t.list)-t.start))
	}
}

func (t *nearest) cut() {
	found := t.list[t.start:]
	slices.SortFunc(found, func(a, b Neighbor) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	if len(found) <= t.k {
		return
	}
	end := t.k
	t.least, t.bounds = found[end-1].Score, true
	for end < len(found) && found[end].Score == t.least {
		end++
	}
	t.list = t.list[:t.start+end]
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
