package catalog

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/index/vfs/sectionfile"
)

// Encoded is the stored form of a document, or a tombstone. It takes a fraction of the memory of a Record. Goroutines
// can encode records concurrently, before one update adds them.
type Encoded struct {
	id       string
	file     FileState
	record   []byte // nil for a tombstone
	text     []packedBlock
	textSize int
	hasText  bool
	chunks   int
	aliases  bool // the document has aliases
	filedNames
}

// filedNames lists the names under which the tables find a document.
type filedNames struct {
	names, targets []keyItem // doc is not set
	labels         []labelKey
}

type packedBlock struct {
	packed []byte
	size   uint32
}

// maxRecord limits the encoded description of a document, because one block holds the record and the records before it.
const maxRecord = maxUnpacked / 2

func (e *Encoded) tombstone() bool { return e.record == nil }

// ID returns the ID of the record's document.
func (e *Encoded) ID() sheaf.ID { return sheaf.ID(e.id) }

// entriesOf encodes the changes of an update, sorted by ID. For several changes of the same ID, the last one counts.
func entriesOf(u Update) ([]Encoded, error) {
	entries := make([]Encoded, 0, len(u.Put)+len(u.Encoded)+len(u.Delete))
	for _, id := range u.Delete {
		entries = append(entries, Encoded{id: string(id)})
	}
	for i := range u.Put {
		e, err := Encode(&u.Put[i])
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	entries = append(entries, u.Encoded...)
	slices.SortStableFunc(entries, func(a, b Encoded) int { return strings.Compare(a.id, b.id) })
	last := entries[:0]
	for i, e := range entries {
		if i+1 == len(entries) || entries[i+1].id != e.id {
			last = append(last, e)
		}
	}
	return last, nil
}

// Encode encodes a record for an update. The result shares no memory with the record. If the catalog cannot keep the
// record, the error wraps sheaf.ErrInvalid.
func Encode(r *Record) (Encoded, error) {
	doc := &r.Document
	switch {
	case doc.Tree == "" || strings.Contains(doc.Tree, ":"):
		return Encoded{}, sheaf.Invalidf("document %q: tree name %q: must not be empty or hold a colon", doc.ID, doc.Tree)
	case doc.ID != sheaf.DocumentID(doc.Tree, doc.Path):
		return Encoded{}, sheaf.Invalidf("document %q: the ID must be that of tree %q and path %q", doc.ID, doc.Tree,
			doc.Path)
	case !r.HasText && !filepath.IsLocal(filepath.FromSlash(doc.Path)):
		return Encoded{}, sheaf.Invalidf("document %q: path %q: must be below the folder of the tree", doc.ID, doc.Path)
	}
	e := newEncoded(string(doc.ID), r, encodeRecord(r))
	if len(e.record) > maxRecord {
		return Encoded{}, sheaf.Invalidf("document %q: the record of its chunks and links has %d bytes: at most %d "+
			"are allowed", e.id, len(e.record), maxRecord)
	}
	if r.HasText {
		e.textSize = len(r.Text)
		for piece := range slices.Chunk(r.Text, pieceBytes) {
			e.text = append(e.text, packedBlock{pack(textPacker(), piece), uint32(len(piece))})
		}
	}
	return e, nil
}

// newEncoded returns the stored form of a record, given its encoding. It does not set the stored text.
func newEncoded(id string, r *Record, encoded []byte) Encoded {
	doc := &r.Document
	return Encoded{id: id, file: r.File, record: encoded, hasText: r.HasText, chunks: len(doc.Chunks),
		aliases: len(doc.Aliases) > 0, filedNames: filingOf(doc)}
}

// filingOf returns the names under which the tables find a document. They share no memory with doc.
func filingOf(doc *sheaf.Document) filedNames {
	f := filedNames{names: nameKeys(doc), targets: targetKeys(doc)}
	label := func(kind byte, name string) {
		f.labels = append(f.labels, labelKey{kind, strings.Clone(strings.ToLower(name))})
	}
	for _, tag := range doc.Tags {
		label(labelTag, tag)
	}
	for _, p := range doc.Properties {
		label(labelProperty, p.Name)
	}
	if len(doc.Warnings) > 0 {
		label(labelWarning, "")
	}
	return f
}

// tables are the tables of a segment that find documents by names, links and labels.
type tables struct {
	names, targets []keyItem
	labels         labelSet
}

// add adds document number doc to the tables, under its names.
func (t *tables) add(doc int, f *filedNames) {
	for _, item := range f.names {
		t.names = append(t.names, keyItem{item.key, doc, item.kind})
	}
	for _, item := range f.targets {
		t.targets = append(t.targets, keyItem{item.key, doc, item.kind})
	}
	for _, l := range f.labels {
		t.labels[l] = append(t.labels[l], doc)
	}
}

type segmentWriter struct {
	file   *sectionfile.Writer
	ids    idWriter
	states []byte
	blocks []byte
	texts  []byte
	pieces []byte
	raw    []byte // the block that is being filled
	tables tables
}

// add appends an entry to the segment. The caller must add entries in order of ID. finish returns the errors of
// writing.
func (w *segmentWriter) add(e *Encoded) {
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
	w.tables.add(w.ids.n, &e.filedNames)
	w.ids.add(e.id)
	if len(w.raw) >= blockTarget {
		w.flush()
	}
}

func (w *segmentWriter) flush() {
	if len(w.raw) == 0 {
		return
	}
	w.blocks = w.block(w.blocks, packedBlock{pack(recordPacker(), w.raw), uint32(len(w.raw))})
	w.raw = w.raw[:0]
}

// block writes a block to the data section. It appends a description of the block to list, and returns list.
func (w *segmentWriter) block(list []byte, b packedBlock) []byte {
	le := binary.LittleEndian
	list = le.AppendUint64(list, uint64(w.file.Offset()))
	list = le.AppendUint32(list, uint32(len(b.packed)))
	list = le.AppendUint32(list, b.size)
	list = le.AppendUint32(list, sectionfile.Checksum(b.packed))
	_, _ = w.file.Write(b.packed)
	return list
}

func (w *segmentWriter) finish() error {
	w.flush()
	w.file.Section(sectionStates, w.states)
	w.file.Section(sectionIDs, w.ids.data)
	w.file.Section(sectionGroups, w.ids.groups)
	w.file.Section(sectionBlocks, w.blocks)
	w.file.Section(sectionTexts, w.texts)
	w.file.Section(sectionPieces, w.pieces)
	w.file.Section(sectionNames, encodeKeys(w.tables.names))
	w.file.Section(sectionTargets, encodeKeys(w.tables.targets))
	w.file.Section(sectionLabels, w.tables.labels.encode())
	_, err := w.file.Close()
	return err
}
