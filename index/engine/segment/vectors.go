package segment

import (
	"context"
	"sync/atomic"

	"sheaf/index/engine/vector"
	"sheaf/index/vfs/sectionfile"
)

// The passages of a vector field are the five sections of a vector.Set; see doc/formats/vectors.md.

// vectorPart is a part of the vectors of a field. The writer adds base to the ordinal of each owner.
type vectorPart struct {
	set  *vector.Set
	base uint32
}

// vectors writes a vector field. The parts have the same dimensions and are written one after another.
func (w *fileWriter) vectors(name string, depth vector.Depth, parts []vectorPart) {
	one := parts[0].set
	if w.err != nil {
		return
	}
	if len(parts) > 1 || parts[0].base > 0 {
		one = &vector.Set{Encoder: one.Encoder}
		var owners vector.OwnerList
		for _, p := range parts {
			one.Count += p.set.Count
			one.Scales = append(one.Scales, p.set.Scales...)
			for row := range p.set.Count {
				owners.Add(p.base + p.set.Owner(row))
			}
		}
		one.Owners, one.Firsts, one.Owned = owners.Owners, owners.Firsts, owners.Owned
	}
	w.begin(sectionVectors + name)
	for _, p := range parts {
		w.write(p.set.Rows)
	}
	w.begin(sectionCodes + name)
	if len(parts) == 1 {
		w.write(parts[0].set.Codes)
	} else {
		codes := newCodeWriter(w, one.Encoder)
		for _, p := range parts {
			for row := range p.set.Count {
				codes.add(p.set, row)
			}
		}
		codes.finish()
	}
	w.section(sectionScales+name, one.Scales)
	w.section(sectionOwners+name, one.Owners)
	w.section(sectionFirsts+name, one.Firsts)
	w.meta.vectors = append(w.meta.vectors,
		VectorField{Name: name, Dims: one.Encoder.Dims(), Passages: one.Count, Owned: one.Owned, Depth: depth})
}

// codeWriter puts the codes of several sets into shared groups of GroupRows codes.
type codeWriter struct {
	file  *fileWriter
	group []byte
	code  []uint64
	n     int // number of codes in the group
}

func newCodeWriter(w *fileWriter, e *vector.Encoder) *codeWriter {
	return &codeWriter{file: w, group: make([]byte, vector.GroupRows*e.Words()*8), code: make([]uint64, e.Words())}
}

func (c *codeWriter) add(s *vector.Set, row int) {
	c.code = vector.Code(c.code[:0], s.Codes, row, len(c.code))
	vector.PutCode(c.group, c.n, c.code)
	if c.n++; c.n == vector.GroupRows {
		c.finish()
	}
}

// finish writes the last group, padded with zeros. If the group is empty, it does nothing.
func (c *codeWriter) finish() {
	if c.n > 0 {
		c.file.write(c.group)
		clear(c.group)
		c.n = 0
	}
}

// VectorIndex finds the chunks nearest to a vector in one vector field. It is safe for concurrent use.
type VectorIndex struct {
	field  VectorField
	set    vector.Set
	rows   *sectionfile.Paged
	others []*sectionfile.Paged // codes, scales, owners and firsts
	ready  atomic.Bool
}

func (r *Reader) openVectors(field VectorField) (*VectorIndex, error) {
	e := vector.NewEncoder(field.Dims)
	v := &VectorIndex{field: field, set: vector.Set{Encoder: e, Count: field.Passages, Chunks: r.meta.chunks,
		Owned: field.Owned, Depth: field.Depth}}
	for _, s := range []struct {
		name string
		to   *[]byte
		size int
	}{
		{sectionVectors, &v.set.Rows, field.Passages * e.RowBytes()},
		{sectionCodes, &v.set.Codes, vector.CodeBytes(field.Dims, field.Passages)},
		{sectionScales, &v.set.Scales, field.Passages * vector.ScaleBytes},
		{sectionOwners, &v.set.Owners, field.Passages * vector.OwnerBytes},
		{sectionFirsts, &v.set.Firsts, -1},
	} {
		g := r.sections[s.name+field.Name]
		if g == nil || s.size >= 0 && g.Len() != s.size {
			return nil, r.file.Corrupt(s.name+field.Name, 0, "want %d bytes, for %d passages of %d dimensions", s.size,
				field.Passages, field.Dims)
		}
		*s.to = g.Bytes()
		if v.rows == nil {
			v.rows = g
			continue
		}
		v.others = append(v.others, g)
	}
	v.set.Verify = func(rows []uint32) error { return v.rows.Records(rows, e.RowBytes()) }
	return v, nil
}

// Field returns the name, the dimensions and the counts of the vector field.
func (v *VectorIndex) Field() VectorField { return v.field }

// Set returns the vectors. It verifies everything except the rows; a row is verified when it is read.
func (v *VectorIndex) Set() (*vector.Set, error) {
	if v.ready.Load() {
		return &v.set, nil
	}
	for _, g := range v.others {
		if _, err := g.All(); err != nil {
			return nil, err
		}
	}
	if err := v.set.Check(); err != nil {
		return nil, v.rows.Corrupt(0, "%v", err)
	}
	v.ready.Store(true)
	return &v.set, nil
}

// Search appends to dst the k best of the allowed chunks, as [vector.Set.Search] does. A nil allowed means all chunks.
func (v *VectorIndex) Search(ctx context.Context, dst []vector.Neighbor, query []float32, allowed Bitset, k int,
	o vector.Options) ([]vector.Neighbor, error) {
	set, err := v.Set()
	if err != nil {
		return dst, err
	}
	return set.Search(ctx, dst, query, allowed, k, o)
}

// Count returns how many allowed chunks have passages. A nil allowed means all chunks.
func (v *VectorIndex) Count(allowed Bitset) (int, error) {
	if allowed == nil {
		return v.field.Owned, nil
	}
	set, err := v.Set()
	if err != nil {
		return 0, err
	}
	count, last := 0, uint32(1<<32-1)
	for row := range set.Count {
		if owner := set.Owner(row); owner != last {
			if last = owner; allowed.Has(owner) {
				count++
			}
		}
	}
	return count, nil
}
