package segment

import (
	"encoding/binary"
	"math"
	"slices"
)

// The passages of a vector field are rows in one section, and the ordinal of the
// chunk of each row, never falling, in another. A row is a scale (float32) and a
// byte a dimension: a number is its byte times the scale. Of a vector of unit
// length that loses less than 0.004 in any dimension, and writing the numbers
// again, as merging does, loses nothing more.
const scaleBytes = 4

func rowBytes(dims int) int { return scaleBytes + dims }

// appendRow appends the row of a passage.
func appendRow(b []byte, passage []float32) []byte {
	// Without its sign, a float is ordered as its bits are.
	const noSign = 1<<31 - 1
	var largest uint32
	for _, x := range passage {
		largest = max(largest, math.Float32bits(x)&noSign)
	}
	scale := math.Float32frombits(largest) / 127
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(scale))
	if !(scale > 1e-30 && scale < math.MaxFloat32) {
		return append(b, make([]byte, len(passage))...)
	}
	b = slices.Grow(b, len(passage))
	for _, x := range passage {
		// Beside a number of this size there are no fractions: adding it
		// rounds, ties to even, and leaves the integer in the low bits.
		const round = 3 << 22
		b = append(b, byte(math.Float32bits(x/scale+round)))
	}
	return b
}

// dotRow is the dot product of a vector and a row.
func dotRow(query []float32, row []byte) float32 {
	scale := math.Float32frombits(binary.LittleEndian.Uint32(row))
	row = row[scaleBytes:]
	row = row[:len(query)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(query); i += 4 {
		q, r := query[i:i+4:i+4], row[i:i+4:i+4]
		s0 += q[0] * float32(int8(r[0]))
		s1 += q[1] * float32(int8(r[1]))
		s2 += q[2] * float32(int8(r[2]))
		s3 += q[3] * float32(int8(r[3]))
	}
	for ; i < len(query); i++ {
		s0 += query[i] * float32(int8(row[i]))
	}
	return (s0 + s1 + s2 + s3) * scale
}

// vectorWriter writes the passages of one vector field.
type vectorWriter struct {
	file   *fileWriter
	name   string
	dims   int
	owners []byte
	count  int
}

func (w *fileWriter) beginVectors(name string, dims int) *vectorWriter {
	w.begin(sectionVectors + name)
	return &vectorWriter{file: w, name: name, dims: dims}
}

// addRow adds the row of a passage.
func (v *vectorWriter) addRow(owner uint32, row []byte) {
	v.file.write(row)
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
	if rows == nil || owners == nil || len(rows.data) != rowBytes(field.Dims)*field.Passages || len(owners.data) != ordinalBytes*field.Passages {
		return nil, r.file.Corrupt(sectionVectors+field.Name, 0, "want %d passages of %d dimensions", field.Passages, field.Dims)
	}
	return &VectorIndex{field: field, rows: rows, owners: owners, chunks: r.meta.chunks}, nil
}

// Field describes the vector field.
func (v *VectorIndex) Field() VectorField { return v.field }

// Each calls yield with every passage, its chunk's ordinal and its index among
// the chunk's passages. passage is valid during the call.
func (v *VectorIndex) Each(yield func(ordinal uint32, index int, passage []float32)) error {
	passage := make([]float32, v.field.Dims)
	return v.each(func(ordinal uint32, index int, row []byte) {
		scale := math.Float32frombits(binary.LittleEndian.Uint32(row))
		for i, b := range row[scaleBytes:] {
			passage[i] = float32(int8(b)) * scale
		}
		yield(ordinal, index, passage)
	})
}

// each calls yield with every row.
func (v *VectorIndex) each(yield func(ordinal uint32, index int, row []byte)) error {
	rows, err := v.rows.all()
	if err != nil {
		return err
	}
	owners, err := v.owners.all()
	if err != nil {
		return err
	}
	size := rowBytes(v.field.Dims)
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
		yield(owner, index, rows[i*size:(i+1)*size])
	}
	return nil
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
	err := v.each(func(ordinal uint32, index int, row []byte) {
		if allowed != nil && !allowed.Has(ordinal) {
			return
		}
		score := dotRow(query, row)
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
