package catalog

import (
	"errors"
	"fmt"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
)

// writeSegment writes a segment with the newest entry of each ID in segments and changes. The segments are in order of
// age, the oldest first. The changes are newer, and in order of ID. Unless keepTombstones is true, writeSegment omits
// tombstones (marks of deleted documents). It returns the number of entries. Without entries it creates no file.
func writeSegment(fsys vfs.FS, path string, segments []*segment, changes []Encoded, keepTombstones bool) (int, error) {
	file, err := sectionfile.Create(fsys, path, kindSegment, format)
	if err != nil {
		return 0, err
	}
	w := &segmentWriter{file: file, tables: tables{labels: labelSet{}}}
	file.Begin(sectionData)
	walk, err := newWalk(segments, "")
	for err == nil && (walk.ok || len(changes) > 0) {
		var e Encoded
		if len(changes) == 0 || walk.ok && view(walk.bytes()) < changes[0].id {
			if e, err = walk.segment().entry(walk.key(), walk.number()); err != nil {
				break
			}
		} else {
			e, changes = changes[0], changes[1:]
		}
		if keepTombstones || !e.tombstone() {
			w.add(&e)
		}
		if walk.ok && view(walk.bytes()) == e.id {
			err = walk.next()
		}
	}
	if err != nil || w.ids.n == 0 {
		return 0, errors.Join(err, file.Abort())
	}
	if err := w.finish(); err != nil {
		return 0, fmt.Errorf("write catalog segment: %w", err)
	}
	return w.ids.n, nil
}

// entry returns the entry number i (a document or tombstone) in the form that an update adds. The record and the packed
// text share the memory of the segment.
func (s *segment) entry(id string, i int) (Encoded, error) {
	st, err := s.state(i)
	if err != nil || st.tombstone() {
		return Encoded{id: id}, err
	}
	var e Encoded
	r := newRecord(sheaf.ID(id), &st)
	err = s.decode(sheaf.ID(id), &st, func(b []byte) bool {
		ok := decodeRecord(b, r)
		e = newEncoded(id, r, b)
		return ok
	})
	if err == nil && e.hasText {
		e.text, _, e.textSize, err = s.packedText(&st)
	}
	return e, err
}
