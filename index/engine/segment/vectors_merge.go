package segment

import (
	"fmt"
	"slices"

	"sheaf/index/engine/vector"
)

// vectors merges the vector fields. It copies rows and codes unchanged.
func (m *merger) vectors() error {
	for _, name := range m.vectorFields() {
		if err := m.vectorField(name); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) vectorFields() []string {
	var names []string
	for _, in := range m.inputs {
		for _, v := range in.Reader.vectors {
			if !slices.Contains(names, v.field.Name) {
				names = append(names, v.field.Name)
			}
		}
	}
	return names
}

type vectorSource struct {
	*input
	set *vector.Set
}

// each calls yield with every row whose chunk was not deleted, and with the new ordinal of this chunk.
func (s *vectorSource) each(m *merger, yield func(row int, owner uint32)) error {
	for row := range s.set.Count {
		if err := m.breathe(); err != nil {
			return err
		}
		if to := s.newOrdinal(s.set.Owner(row)); to != dropped {
			yield(row, to)
		}
	}
	return nil
}

func (m *merger) vectorField(name string) error {
	var sources []vectorSource
	var parts []vector.Part
	for _, in := range m.inputs {
		v := in.Reader.VectorField(name)
		if v == nil {
			continue
		}
		set, err := v.Set()
		if err != nil {
			return err
		}
		if len(sources) > 0 && sources[0].set.Encoder != set.Encoder {
			return fmt.Errorf("merge: vector field %q has %d dimensions in one segment and %d in another", name,
				sources[0].set.Encoder.Dims(), set.Encoder.Dims())
		}
		part := vector.Part{Set: set}
		if in.Deleted != nil {
			part.Live = NewBitset(in.Reader.Chunks())
			Bitset(part.Live).Fill(in.Reader.Chunks())
			Bitset(part.Live).AndNot(in.Deleted)
		}
		sources, parts = append(sources, vectorSource{in, set}), append(parts, part)
	}
	depth, err := vector.Measure(m.callPause, parts, 0)
	if err != nil {
		return err
	}
	owners, err := m.copyVectors(name, sources)
	if err != nil {
		return err
	}
	m.file.section(sectionOwners+name, owners.Owners)
	m.file.section(sectionFirsts+name, owners.Firsts)
	m.file.meta.vectors = append(m.file.meta.vectors, VectorField{Name: name, Dims: sources[0].set.Encoder.Dims(),
		Passages: len(owners.Owners) / vector.OwnerBytes, Owned: owners.Owned, Depth: depth})
	return nil
}

// copyVectors writes the rows, the codes and the scales of all vectors of remaining chunks. It returns the owner of
// each written row: the ordinal of its chunk.
func (m *merger) copyVectors(name string, sources []vectorSource) (vector.OwnerList, error) {
	var owners vector.OwnerList
	encoder := sources[0].set.Encoder
	size := encoder.RowBytes()
	m.file.begin(sectionVectors + name)
	for _, s := range sources {
		if _, err := s.Reader.VectorField(name).rows.All(); err != nil {
			return owners, err
		}
		if err := s.each(m, func(row int, owner uint32) {
			m.file.write(s.set.Rows[row*size : (row+1)*size])
			owners.Add(owner)
		}); err != nil {
			return owners, err
		}
	}
	m.file.begin(sectionCodes + name)
	codes := newCodeWriter(m.file, encoder)
	var scales []byte
	for _, s := range sources {
		if err := s.each(m, func(row int, _ uint32) {
			codes.add(s.set, row)
			scales = append(scales, s.set.Scales[row*vector.ScaleBytes:(row+1)*vector.ScaleBytes]...)
		}); err != nil {
			return owners, err
		}
	}
	codes.finish()
	m.file.section(sectionScales+name, scales)
	return owners, nil
}
