package catalog

import (
	"errors"
	"fmt"
	"slices"

	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
)

// writeSegment writes the current entries of segments, oldest first, and of changes, which are
// newer than all segments, and returns their number. It keeps tombstones if keepTombstones is set.
// Without entries it creates no file.
func writeSegment(fsys vfs.FS, path string, segments []*segment, changes []Encoded, keepTombstones bool) (int, error) {
	file, err := sectionfile.Create(fsys, path, kindSegment, format)
	if err != nil {
		return 0, err
	}
	w := &segmentWriter{file: file, tables: tables{labels: labelSet{}}}
	file.Begin(sectionData)
	walk, err := newWalk(segments, "")
	m := merging{segmentWriter: w, walk: walk, changes: changes, keepTombstones: keepTombstones}
	for _, s := range segments {
		m.numbers = append(m.numbers, slices.Repeat([]int{-1}, s.n))
	}
	if err == nil {
		err = m.run()
	}
	if err != nil {
		return 0, errors.Join(err, file.Abort())
	}
	if w.ids.n == 0 {
		return 0, file.Abort()
	}
	if err := w.finish(); err != nil {
		return 0, fmt.Errorf("write catalog segment: %w", err)
	}
	return w.ids.n, nil
}

// merging writes the entries of segments and changes to one segment.
type merging struct {
	*segmentWriter
	*walk
	changes        []Encoded
	keepTombstones bool
	// numbers maps each segment's documents to their numbers in the new segment; -1 for dropped documents.
	numbers [][]int
}

func (m *merging) run() error {
	for m.ok || len(m.changes) > 0 {
		if len(m.changes) == 0 || m.ok && view(m.bytes()) < m.changes[0].id {
			if err := m.step(); err != nil {
				return err
			}
			continue
		}
		e := &m.changes[0]
		if m.keepTombstones || !e.tombstone() {
			m.add(e)
		}
		if m.ok && view(m.bytes()) == e.id {
			if err := m.next(); err != nil {
				return err
			}
		}
		m.changes = m.changes[1:]
	}
	for k := range m.segments {
		if err := m.takeTables(k); err != nil {
			return err
		}
	}
	return nil
}

// step adds the current ID of the walk, or its whole block.
func (m *merging) step() error {
	copied, err := m.copyBlock()
	if err != nil || copied {
		return err
	}
	s := m.segment()
	err = m.take(func(e *Encoded, st *state) (err error) {
		if !st.tombstone() {
			if e.record, err = s.encoded(st); err != nil {
				return err
			}
		}
		m.add(e)
		return nil
	})
	if err != nil {
		return err
	}
	return m.next()
}

// copyBlock adds the documents of a block without packing it again, and moves the walk past it. The
// walk must be at the beginning of the block. It does nothing and reports false when another ID
// comes between the documents, or when blocks would become small.
func (m *merging) copyBlock() (bool, error) {
	s, c := m.segment(), &m.cursors[m.newest]
	st, err := s.state(c.at)
	if err != nil || st.tombstone() || st.start != 0 || len(m.raw) > 0 && len(m.raw) < blockTarget/2 {
		return false, err
	}
	last := c.at
	for i := c.at + 1; i < s.n; i++ {
		next, err := s.state(i)
		if err != nil {
			return false, err
		}
		if next.block == st.block {
			last = i
		} else if !next.tombstone() {
			break
		}
	}
	if alone, err := m.alone(last); !alone || err != nil {
		return false, err
	}
	packed, _, size, err := s.packed(s.blocks, int(st.block))
	if err != nil || size < blockTarget/2 {
		return false, err
	}
	m.flush()
	block := uint32(len(m.blocks) / blockBytes)
	m.blocks = m.block(m.blocks, packedBlock{packed, size})
	for c.at <= last {
		if err := m.take(func(e *Encoded, st *state) error {
			moved := *st
			if moved.text = 0; !st.tombstone() {
				moved.block = block
			}
			m.enter(e, &moved)
			return nil
		}); err != nil {
			return false, err
		}
		if err := c.next(); err != nil {
			return false, err
		}
	}
	m.choose()
	return true, nil
}

// alone reports whether no other source has an ID up to number last of the current segment.
func (m *merging) alone(last int) (bool, error) {
	if len(m.segments) == 1 && len(m.changes) == 0 {
		return true, nil
	}
	id, err := m.segment().ids.id(last)
	if err != nil || len(m.changes) > 0 && m.changes[0].id <= id {
		return false, err
	}
	for k := range m.cursors {
		if c := &m.cursors[k]; k != m.newest && c.at < c.list.n && view(c.key) <= id {
			return false, nil
		}
	}
	return true, nil
}

// take numbers the current entry of the walk and passes it to add without its record, or drops it.
func (m *merging) take(add func(*Encoded, *state) error) error {
	s, i := m.segment(), m.number()
	st, err := s.state(i)
	if err != nil || st.tombstone() && !m.keepTombstones {
		return err
	}
	m.numbers[m.newest][i] = m.ids.n
	e := Encoded{id: m.key(), file: st.file, chunks: st.chunks, aliases: st.aliases, hasText: st.text > 0}
	if e.hasText {
		if e.text, e.textSize, err = s.packedText(&st); err != nil {
			return err
		}
	}
	return add(&e, &st)
}

// takeTables adds the table entries of the documents that were taken from segment k.
func (m *merging) takeTables(k int) (err error) {
	s, t, number := m.segments[k], &m.tables, m.numbers[k]
	if t.names, err = s.names.all(t.names, number); err != nil {
		return err
	}
	if t.targets, err = s.targets.all(t.targets, number); err != nil {
		return err
	}
	return decodeLabels(s.labels, s.n, func(l label) {
		for _, doc := range l.docs {
			if n := number[doc]; n >= 0 {
				t.labels.add(l.kind, l.name, n)
			}
		}
	})
}
