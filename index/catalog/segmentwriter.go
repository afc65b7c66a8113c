package catalog

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/index/vfs/sectionfile"
)

// entry is a document or a tombstone that is written to a segment.
type entry struct {
	id       string
	file     FileState
	record   []byte // encoded; nil for a tombstone
	text     []packedBlock
	textSize int
	hasText  bool
	chunks   int
	aliases  bool // the document has aliases

	// Table entries of a new document; documents from other segments bring theirs with the tables.
	names   []keyItem
	targets []keyItem
	tags    []string
	props   []string
	warned  bool
}

// packedBlock is a compressed block and its unpacked size.
type packedBlock struct {
	packed []byte
	size   uint32
}

// maxRecord limits a document's encoded description: a block has it and what came before it.
const maxRecord = maxUnpacked / 2

func (e *entry) tombstone() bool { return e.record == nil }

// Encoded is a Record in its stored form. It takes a fraction of the memory, and the goroutines
// that made the records can make it.
type Encoded struct{ entry entry }

// ID returns the ID of the record's document.
func (e *Encoded) ID() sheaf.ID { return sheaf.ID(e.entry.id) }

// Encode encodes a record for an update; the result shares no memory with it. It fails with
// sheaf.ErrInvalid for a record that the catalog cannot keep.
func Encode(r *Record) (Encoded, error) {
	e, err := entryOf(r)
	return Encoded{e}, err
}

// entriesOf encodes the changes of an update, sorted by ID; of equal IDs the last counts.
func entriesOf(u Update) ([]entry, error) {
	entries := make([]entry, 0, len(u.Put)+len(u.Encoded)+len(u.Delete))
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
	for i := range u.Encoded {
		entries = append(entries, u.Encoded[i].entry)
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
	e := entry{id: string(doc.ID), file: r.File, record: encodeRecord(r), hasText: r.HasText, chunks: len(doc.Chunks),
		aliases: len(doc.Aliases) > 0}
	if len(e.record) > maxRecord {
		return entry{}, sheaf.Invalidf("document %q: its chunks and links take %d bytes to describe: at most %d can be kept",
			doc.ID, len(e.record), maxRecord)
	}
	if r.HasText {
		e.text, e.textSize = packText(r.Text), len(r.Text)
	}
	e.describe(doc)
	return e, nil
}

// describe fills in a document's table entries.
func (e *entry) describe(doc *sheaf.Document) {
	e.names, e.targets = nameKeys(doc), targetKeys(doc)
	for _, tag := range doc.Tags {
		e.tags = append(e.tags, strings.Clone(strings.ToLower(tag))) // otherwise the string keeps the document's text in memory
	}
	for _, p := range doc.Properties {
		e.props = append(e.props, strings.Clone(strings.ToLower(p.Name)))
	}
	e.warned = len(doc.Warnings) > 0
}

// valid returns an error when the catalog cannot keep a record.
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

// add appends an entry; entries come in order of ID. finish returns the first error of writing.
func (w *segmentWriter) add(e *entry) {
	st := state{file: e.file, block: noBlock, chunks: e.chunks, aliases: e.aliases}
	if !e.tombstone() {
		st.block, st.start = uint32(len(w.blocks)/blockBytes), uint32(len(w.raw))
		w.raw = binary.AppendUvarint(w.raw, uint64(len(e.record)))
		w.raw = append(w.raw, e.record...)
	}
	w.enter(e, &st)
	if len(w.raw) >= blockTarget {
		w.flush()
	}
}

// enter appends an entry whose record already has its place, as st says.
func (w *segmentWriter) enter(e *entry, st *state) {
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
	w.states = appendState(w.states, st)
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
}

// flush packs the filled block.
func (w *segmentWriter) flush() {
	if len(w.raw) == 0 {
		return
	}
	w.blocks = w.block(w.blocks, packedBlock{pack(recordPacker(), w.raw), uint32(len(w.raw))})
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
	w.file.Section(sectionStates, w.states)
	w.ids.write(w.file)
	w.file.Section(sectionBlocks, w.blocks)
	w.file.Section(sectionTexts, w.texts)
	w.file.Section(sectionPieces, w.pieces)
	w.file.Section(sectionNames, encodeKeys(w.names))
	w.file.Section(sectionTargets, encodeKeys(w.targets))
	w.file.Section(sectionLabels, w.labels.encode())
	_, err := w.file.Close()
	return err
}
