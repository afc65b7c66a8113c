package catalog

import (
	"errors"
	"fmt"
	"strings"

	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
)

// mergeSource is a segment that is being merged.
type mergeSource struct {
	*segment
	cursor idCursor
	number []int // its documents' numbers in the new segment; -1 for dropped documents
}

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
	if err := w.merge(segments, changes, keepTombstones); err != nil {
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

func (w *segmentWriter) merge(segments []*segment, changes []Encoded, keepTombstones bool) error {
	sources := make([]mergeSource, len(segments))
	for k, s := range segments {
		sources[k] = mergeSource{segment: s, cursor: idCursor{list: &s.ids}, number: make([]int, s.n)}
		if err := sources[k].cursor.seek(0); err != nil {
			return err
		}
	}
	for {
		first, newest, limit := least(sources, changes)
		if newest == nothing {
			break
		}
		if newest == change {
			first = strings.Clone(first)
			if e := &changes[0]; keepTombstones || !e.tombstone() {
				w.add(e)
			}
			changes = changes[1:]
		} else {
			copied, err := w.copyBlock(&sources[newest], limit, keepTombstones)
			if err != nil {
				return err
			}
			if copied {
				continue
			}
			first = strings.Clone(first) // the cursors move on
			if err := w.take(&sources[newest], keepTombstones); err != nil {
				return err
			}
		}
		for k := range sources {
			c := &sources[k].cursor
			if c.at == c.list.n || view(c.key) != first {
				continue
			}
			if k != newest {
				sources[k].number[c.at] = -1
			}
			if err := c.next(); err != nil {
				return err
			}
		}
	}
	for k := range sources {
		if err := w.takeTables(&sources[k]); err != nil {
			return err
		}
	}
	return nil
}

// Results of least that are not a source.
const (
	change  = -1
	nothing = -2
)

// bound is the first ID of the other sources, if any.
type bound struct {
	id  string
	set bool
}

// least returns the smallest remaining ID and its source, the newest if several have it. limit is
// the smallest ID of the others. Both are valid until their source moves on.
func least(sources []mergeSource, changes []Encoded) (first string, newest int, limit bound) {
	newest = nothing
	consider := func(id string, from int) {
		switch {
		case newest == nothing:
			first, newest = id, from
		case id < first:
			limit = bound{first, true}
			first, newest = id, from
		case !limit.set || id < limit.id:
			limit = bound{id, true}
		}
	}
	if len(changes) > 0 {
		consider(changes[0].id, change)
	}
	for k := len(sources) - 1; k >= 0; k-- {
		if c := &sources[k].cursor; c.at < c.list.n {
			consider(view(c.key), k)
		}
	}
	return first, newest, limit
}

// copyBlock adds the documents of a block without packing it again, if the source's cursor is at
// its beginning, and moves the cursor past it. It does nothing and reports false when another ID
// comes between the documents, or when blocks would become small.
func (w *segmentWriter) copyBlock(source *mergeSource, limit bound, keepTombstones bool) (bool, error) {
	c := &source.cursor
	st, err := source.state(c.at)
	if err != nil || st.tombstone() || st.start != 0 || len(w.raw) > 0 && len(w.raw) < blockTarget/2 {
		return false, err
	}
	last := c.at
	for i := c.at + 1; i < source.n; i++ {
		next, err := source.state(i)
		if err != nil {
			return false, err
		}
		if next.block == st.block {
			last = i
		} else if !next.tombstone() {
			break
		}
	}
	if limit.set {
		if id, err := source.ids.id(last); err != nil || id >= limit.id {
			return false, err
		}
	}
	packed, _, size, err := source.packed(source.blocks, int(st.block))
	if err != nil || size < blockTarget/2 {
		return false, err
	}
	w.flush()
	block := uint32(len(w.blocks) / blockBytes)
	w.blocks = w.block(w.blocks, packedBlock{packed, size})
	for c.at <= last {
		if err := w.takeAt(source, keepTombstones, func(e *Encoded, st *state) error {
			moved := *st
			if moved.text = 0; !st.tombstone() {
				moved.block = block
			}
			w.enter(e, &moved)
			return nil
		}); err != nil {
			return false, err
		}
		if err := c.next(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// take adds the current entry of a source's cursor.
func (w *segmentWriter) take(source *mergeSource, keepTombstones bool) error {
	return w.takeAt(source, keepTombstones, func(e *Encoded, st *state) (err error) {
		if !st.tombstone() {
			if e.record, err = source.encoded(st); err != nil {
				return err
			}
		}
		w.add(e)
		return nil
	})
}

// takeAt numbers the current entry of a source's cursor and passes it to add without its record, or
// drops it.
func (w *segmentWriter) takeAt(source *mergeSource, keepTombstones bool, add func(*Encoded, *state) error) error {
	i := source.cursor.at
	st, err := source.state(i)
	if err != nil {
		return err
	}
	if st.tombstone() && !keepTombstones {
		source.number[i] = -1
		return nil
	}
	source.number[i] = w.ids.n
	e := Encoded{id: string(source.cursor.key), file: st.file, chunks: st.chunks, aliases: st.aliases, hasText: st.text > 0}
	if e.hasText {
		if e.text, e.textSize, err = source.packedText(&st); err != nil {
			return err
		}
	}
	return add(&e, &st)
}

// takeTables adds the table entries of the documents that were taken from a source.
func (w *segmentWriter) takeTables(source *mergeSource) (err error) {
	t := &w.tables
	if t.names, err = source.names.all(t.names, source.number); err != nil {
		return err
	}
	if t.targets, err = source.targets.all(t.targets, source.number); err != nil {
		return err
	}
	return decodeLabels(source.labels, source.n, func(l label) {
		for _, doc := range l.docs {
			if n := source.number[doc]; n >= 0 {
				t.labels.add(l.kind, l.name, n)
			}
		}
	})
}
