package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/vfs"
	"sheaf/vfs/sectionfile"
)

// entry is a document or a tombstone on its way into a segment.
type entry struct {
	id       string
	file     FileState
	record   []byte // encoded; nil for a tombstone
	text     []packedBlock
	textSize int
	hasText  bool
	chunks   int
	aliases  bool // it has some

	// What a new document brings; what comes from other segments brings it
	// with their tables.
	names   []keyItem
	targets []keyItem
	tags    []string
	props   []string
	warned  bool
}

// packedBlock is a compressed block and the size it has unpacked.
type packedBlock struct {
	packed []byte
	size   uint32
}

// maxRecord is how long a document's encoded description may be: a block holds
// it and what came before it.
const maxRecord = maxUnpacked / 2

func (e *entry) tombstone() bool { return e.record == nil }

// entriesOf encodes the changes of an update, sorted by ID, the last of equal
// IDs.
func entriesOf(u Update) ([]entry, error) {
	entries := make([]entry, 0, len(u.Put)+len(u.Delete))
	for _, id := range u.Delete {
		entries = append(entries, entry{id: string(id)})
	}
	for i := range u.Put {
		e, err := entryOf(&u.Put[i])
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.id, b.id) })
	last := entries[:0]
	for i, e := range entries {
		if i+1 == len(entries) || entries[i+1].id != e.id {
			last = append(last, e)
		}
	}
	return last, nil
}

// entryOf encodes a document.
func entryOf(r *Record) (entry, error) {
	if err := valid(r); err != nil {
		return entry{}, err
	}
	doc := &r.Document
	e := entry{id: string(doc.ID), file: r.File, record: encodeRecord(r), hasText: r.HasText, chunks: len(doc.Chunks), aliases: len(doc.Aliases) > 0}
	if len(e.record) > maxRecord {
		return entry{}, sheaf.Invalidf("document %q: its chunks and links take %d bytes to describe: at most %d can be kept", doc.ID, len(e.record), maxRecord)
	}
	if r.HasText {
		e.text, e.textSize = packText(r.Text), len(r.Text)
	}
	e.describe(doc)
	return e, nil
}

// describe fills in what the tables say of a document.
func (e *entry) describe(doc *sheaf.Document) {
	e.names, e.targets = nameKeys(doc), targetKeys(doc)
	for _, tag := range doc.Tags {
		e.tags = append(e.tags, strings.ToLower(tag))
	}
	for _, p := range doc.Properties {
		e.props = append(e.props, strings.ToLower(p.Name))
	}
	e.warned = len(doc.Warnings) > 0
}

// valid returns an error when a record cannot be kept.
func valid(r *Record) error {
	doc := &r.Document
	switch {
	case doc.Tree == "" || strings.Contains(doc.Tree, ":"):
		return sheaf.Invalidf("document %q: tree name %q: must not be empty or hold a colon", doc.ID, doc.Tree)
	case doc.ID != sheaf.DocumentID(doc.Tree, doc.Path):
		return sheaf.Invalidf("document %q: the ID must be that of tree %q and path %q", doc.ID, doc.Tree, doc.Path)
	case !r.HasText && !filepath.IsLocal(filepath.FromSlash(doc.Path)):
		return sheaf.Invalidf("document %q: path %q: must lie below the tree's folder", doc.ID, doc.Path)
	}
	return nil
}

// segmentWriter writes a segment file.
type segmentWriter struct {
	file    *sectionfile.Writer
	ids     idWriter
	states  []byte
	blocks  []byte
	texts   []byte
	pieces  []byte
	raw     []byte // the block that is being filled
	names   []keyItem
	targets []keyItem
	labels  labelSet
}

// add appends an entry; they come in order of ID. The first error of writing
// sticks, and finish returns it.
func (w *segmentWriter) add(e *entry) {
	st := state{file: e.file, block: noBlock, chunks: e.chunks, aliases: e.aliases}
	if !e.tombstone() {
		st.block, st.start = uint32(len(w.blocks)/blockBytes), uint32(len(w.raw))
		w.raw = binary.AppendUvarint(w.raw, uint64(len(e.record)))
		w.raw = append(w.raw, e.record...)
	}
	if e.hasText {
		le := binary.LittleEndian
		w.texts = le.AppendUint32(w.texts, uint32(len(w.pieces)/blockBytes))
		w.texts = le.AppendUint32(w.texts, 0)
		w.texts = le.AppendUint64(w.texts, uint64(e.textSize))
		st.text = uint32(len(w.texts) / textBytes)
		for _, p := range e.text {
			w.pieces = w.block(w.pieces, p)
		}
	}
	w.states = appendState(w.states, &st)
	for _, item := range e.names {
		w.names = append(w.names, keyItem{item.key, w.ids.n, item.kind})
	}
	for _, item := range e.targets {
		w.targets = append(w.targets, keyItem{item.key, w.ids.n, item.kind})
	}
	for _, tag := range e.tags {
		w.labels.add(labelTag, tag, w.ids.n)
	}
	for _, name := range e.props {
		w.labels.add(labelProperty, name, w.ids.n)
	}
	if e.warned {
		w.labels.add(labelWarning, "", w.ids.n)
	}
	w.ids.add(e.id)
	if len(w.raw) >= blockTarget {
		w.flush()
	}
}

// flush packs the block that was filled.
func (w *segmentWriter) flush() {
	if len(w.raw) == 0 {
		return
	}
	w.blocks = w.block(w.blocks, packedBlock{pack(w.raw), uint32(len(w.raw))})
	w.raw = w.raw[:0]
}

// block writes a block to the data, and its entry to a list.
func (w *segmentWriter) block(list []byte, b packedBlock) []byte {
	le := binary.LittleEndian
	list = le.AppendUint64(list, uint64(w.file.Offset()))
	list = le.AppendUint32(list, uint32(len(b.packed)))
	list = le.AppendUint32(list, b.size)
	list = le.AppendUint32(list, sectionfile.Checksum(b.packed))
	_, _ = w.file.Write(b.packed)
	return list
}

// finish writes the tables and closes the file.
func (w *segmentWriter) finish() error {
	w.flush()
	w.file.Paged(sectionStates, w.states)
	w.ids.write(w.file)
	w.file.Paged(sectionBlocks, w.blocks)
	w.file.Paged(sectionTexts, w.texts)
	w.file.Paged(sectionPieces, w.pieces)
	w.file.Paged(sectionNames, encodeKeys(w.names))
	w.file.Paged(sectionTargets, encodeKeys(w.targets))
	w.file.Paged(sectionLabels, w.labels.encode())
	_, err := w.file.Close()
	return err
}

// mergeSource is a segment that is being merged.
type mergeSource struct {
	*segment
	cursor idCursor
	number []int // its documents' numbers in the new segment; -1 for those left out
}

// writeSegment writes the current ones among the entries of segments, oldest
// first, and of changes, which are newer than all of them, and returns how many
// there are. Tombstones stay when keepTombstones is set. Without any entry there
// is no file.
func writeSegment(fsys vfs.FS, path string, segments []*segment, changes []entry, keepTombstones bool) (int, error) {
	file, err := sectionfile.Create(fsys, path, kindSegment, format)
	if err != nil {
		return 0, err
	}
	w := &segmentWriter{file: file, labels: labelSet{}}
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

func (w *segmentWriter) merge(segments []*segment, changes []entry, keepTombstones bool) error {
	sources := make([]mergeSource, len(segments))
	for k, s := range segments {
		sources[k] = mergeSource{segment: s, cursor: idCursor{list: &s.ids}, number: make([]int, s.n)}
		if err := sources[k].cursor.seek(0); err != nil {
			return err
		}
	}
	for {
		first, newest, ok := "", -1, len(changes) > 0 // newest -1: a change
		if ok {
			first = changes[0].id
		}
		for k := len(sources) - 1; k >= 0; k-- {
			c := &sources[k].cursor
			if c.at < c.list.n && (!ok || view(c.key) < first) {
				first, newest, ok = view(c.key), k, true
			}
		}
		if !ok {
			break
		}
		if newest < 0 {
			if e := &changes[0]; keepTombstones || !e.tombstone() {
				w.add(e)
			}
			changes = changes[1:]
			first = strings.Clone(first)
		} else {
			first = strings.Clone(first) // the cursors move on
			if err := w.take(&sources[newest], first, keepTombstones); err != nil {
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

// take adds the entry that a source's cursor stands on.
func (w *segmentWriter) take(source *mergeSource, id string, keepTombstones bool) error {
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
	e := entry{id: id, file: st.file, chunks: st.chunks, aliases: st.aliases, hasText: st.text > 0}
	if !st.tombstone() {
		if e.record, err = source.encoded(&st); err != nil {
			return err
		}
	}
	if e.hasText {
		if e.text, e.textSize, err = source.packedText(&st); err != nil {
			return err
		}
	}
	w.add(&e)
	return nil
}

// takeTables adds what a source's tables say of the documents taken from it.
func (w *segmentWriter) takeTables(source *mergeSource) (err error) {
	if w.names, err = source.names.all(w.names, source.number); err != nil {
		return err
	}
	if w.targets, err = source.targets.all(w.targets, source.number); err != nil {
		return err
	}
	return decodeLabels(source.labels, source.n, func(l label) {
		for _, doc := range l.docs {
			if n := source.number[doc]; n >= 0 {
				w.labels.add(l.kind, l.name, n)
			}
		}
	})
}
