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
// tombstones (marks of deleted documents). If refile is true, it makes the tables of all documents from their records.
// Otherwise it takes them from the segments. It returns the number of entries. Without entries it creates no file.
func writeSegment(fsys vfs.FS, path string, segments []*segment, changes []Encoded, keepTombstones, refile bool) (int,
	error) {
	file, err := sectionfile.Create(fsys, path, kindSegment, format)
	if err != nil {
		return 0, err
	}
	w := &segmentWriter{file: file, tables: tables{labels: labelSet{}}}
	file.Begin(sectionData)
	moved := make([][]int, len(segments)) // for each segment and entry: its place in the new segment, from 1, or 0
	for k, s := range segments {
		moved[k] = make([]int, s.n)
	}
	walk, err := newWalk(segments, "")
	for err == nil && (walk.ok || len(changes) > 0) {
		var e Encoded
		place := new(int)
		if len(changes) == 0 || walk.ok && view(walk.bytes()) < changes[0].id {
			if e, err = walk.segment().entry(walk.key(), walk.number(), refile); err != nil {
				break
			}
			place = &moved[walk.newest][walk.number()]
		} else {
			e, changes = changes[0], changes[1:]
		}
		if keepTombstones || !e.tombstone() {
			w.add(&e)
			*place = w.ids.n
		}
		if walk.ok && view(walk.bytes()) == e.id {
			err = walk.next()
		}
	}
	for k := 0; k < len(segments) && err == nil && !refile; k++ {
		err = w.tables.addFrom(segments[k], moved[k])
	}
	if err != nil || w.ids.n == 0 {
		return 0, errors.Join(err, file.Abort())
	}
	if err := w.finish(); err != nil {
		return 0, fmt.Errorf("write catalog segment: %w", err)
	}
	return w.ids.n, nil
}

// addFrom adds the items of a segment's tables. moved has the new place of each document, from 1, or 0 for a document
// that is left out.
func (t *tables) addFrom(s *segment, moved []int) error {
	for _, table := range []struct {
		from *keyTable
		to   *[]keyItem
	}{{&s.names, &t.names}, {&s.targets, &t.targets}} {
		items, err := table.from.all()
		if err != nil {
			return err
		}
		for _, item := range items {
			if place := moved[item.doc]; place > 0 {
				item.doc = place - 1
				*table.to = append(*table.to, item)
			}
		}
	}
	labels, err := decodeLabels(s.labels, s.n)
	for _, l := range labels {
		for _, doc := range l.docs {
			if place := moved[doc]; place > 0 {
				t.labels[l.labelKey] = append(t.labels[l.labelKey], place-1)
			}
		}
	}
	return err
}

// entry returns the entry number i (a document or tombstone) in the form that an update adds. The record and the packed
// text share the memory of the segment. Unless file is true, the entry has no names for the tables.
func (s *segment) entry(id string, i int, file bool) (Encoded, error) {
	st, err := s.state(i)
	if err != nil || st.tombstone() {
		return Encoded{id: id}, err
	}
	e := Encoded{id: id, file: st.file, hasText: st.text > 0, chunks: st.chunks, aliases: st.aliases}
	err = s.decode(sheaf.ID(id), &st, func(b []byte) bool {
		e.record = b
		if !file {
			return true
		}
		r := newRecord(sheaf.ID(id), &st)
		ok := decodeRecord(b, r)
		e = newEncoded(id, r, b)
		return ok
	})
	if err == nil && e.hasText {
		e.text, _, e.textSize, err = s.packedText(&st)
	}
	return e, err
}
