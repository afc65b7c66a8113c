package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"sheaf"
	"sheaf/index/vfs/manifest"
	"sheaf/internal/lru"
)

// view returns b as a string without copying: the string shares the memory of b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// View is a snapshot of a catalog. It is safe for concurrent use and implements rank.Facts. Documents, chunks and texts
// are shared, and the caller must not change them; other results belong to the caller. Errors wrap sheaf.ErrNotFound or
// sheaf.ErrCorrupt. Methods that return no error record faults for Err.
type View struct {
	catalog  *Catalog
	manifest manifest.Manifest
	payload  payload
	segments []*segment // oldest first
	refs     atomic.Int32
	caches

	mu    sync.Mutex
	fault error // the first fault

	pending func() (map[sheaf.ID]string, error)
	live    func() ([][]bool, error)
}

// caches hold recently used data of a View.
type caches struct {
	records   lru.Cache[sheaf.ID, *outlinedRecord]
	texts     lru.Cache[sheaf.ID, sourceText]
	links     lru.Cache[sheaf.ID, []sheaf.ID] // every query needs them; the size of an entry grows with its links
	backlinks lru.Cache[sheaf.ID, []sheaf.ID]
	names     lru.Cache[calledBy, *sameName]
	folders   lru.Cache[string, int] // sizes of folders, by tree, ":" and folder
}

func newView(c *Catalog, m manifest.Manifest, p payload, segments []*segment) *View {
	v := &View{catalog: c, manifest: m, payload: p, segments: segments}
	v.records.Limit(104 << 20) // bytes: about 150,000 sections
	v.texts.Limit(20 << 20)    // bytes
	v.links.Limit(64 << 10)
	v.backlinks.Limit(512)
	v.names.Limit(4 << 10)
	v.folders.Limit(4 << 10)
	v.refs.Store(1)
	v.pending = sync.OnceValues(func() (pending map[sheaf.ID]string, err error) {
		err = v.readList(kindPending, p.Pending, &pending)
		return pending, err
	})
	v.live = sync.OnceValues(v.findLive)
	return v
}

// Close releases the view. Do not use the view afterwards.
func (v *View) Close() {
	if v.refs.Add(-1) == 0 {
		for _, s := range v.segments {
			s.release()
		}
	}
}

// Generation returns the number of the catalog's state in this view. It grows with every update.
func (v *View) Generation() uint64 { return v.manifest.Generation }

// Settings returns the settings of the collection.
func (v *View) Settings() Settings { return v.payload.Settings }

// Docs returns the number of documents.
func (v *View) Docs() int { return v.payload.Docs }

// Chunks returns the number of chunks of all documents.
func (v *View) Chunks() int { return v.payload.Chunks }

// SourceBytes returns the size of all source files in bytes.
func (v *View) SourceBytes() int64 { return v.payload.Bytes }

// Pending returns the documents that still need work, such as vectors, each with the reason. Do not change the map.
func (v *View) Pending() map[sheaf.ID]string {
	pending, err := v.pending()
	v.note(err)
	return pending
}

// ListFaults returns one error for each of three lists: skipped files, pending documents, and the copy of the settings.
// An error is nil if the file of the list can be read.
func (v *View) ListFaults() (skipped, pending, settings error) {
	_, skipped = v.Skipped()
	_, pending = v.pending()
	return skipped, pending, v.readList(kindSettings, v.payload.Copy, new(Settings))
}

// DiskBytes returns the size of the segment files in bytes.
func (v *View) DiskBytes() int64 {
	var n int64
	for _, s := range v.segments {
		n += s.r.Size()
	}
	return n
}

// find returns the segment with the newest entry of a document, and its state. Without an entry, or if the entry is a
// tombstone, both are nil.
func (v *View) find(id sheaf.ID) (*segment, *state, error) {
	for _, s := range slices.Backward(v.segments) {
		i, err := s.find(id)
		if err != nil {
			return nil, nil, translate(err)
		}
		if i < 0 {
			continue
		}
		st, err := s.state(i)
		if err != nil || st.tombstone() {
			return nil, nil, translate(err)
		}
		return s, &st, nil
	}
	return nil, nil, nil
}

// File returns the size, time and hash of a document's file when it was indexed. The bool is false without such a
// document.
func (v *View) File(doc sheaf.ID) (FileState, bool, error) {
	s, st, err := v.find(doc)
	if err != nil || s == nil {
		return FileState{}, false, err
	}
	return st.file, true, nil
}

// Files yields every document with the state of its file, in order of ID. If the catalog is damaged, the sequence ends
// early, and Err returns the fault.
func (v *View) Files() iter.Seq2[sheaf.ID, FileState] {
	return func(yield func(sheaf.ID, FileState) bool) {
		for id, st := range v.existing("") {
			if !yield(sheaf.ID(strings.Clone(id)), st.file) {
				return
			}
		}
	}
}

// note records an error for Err. Methods that return no error call it.
func (v *View) note(err error) {
	if err == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fault = cmp.Or(v.fault, err)
}

// noteFault records an error for Err, unless the error means that something does not exist.
func (v *View) noteFault(err error) {
	if !errors.Is(err, sheaf.ErrNotFound) {
		v.note(err)
	}
}

// Err returns the first fault of the methods that return no error, or nil.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.fault
}

// outlinedRecord is a record with the outline of its document.
type outlinedRecord struct {
	Record
	outline *sheaf.Outline
}

// outlined returns the record of a document with its outline. The caller must not change them.
func (v *View) outlined(doc sheaf.ID) (*outlinedRecord, error) {
	if r, ok := v.records.Get(doc); ok {
		return r, nil
	}
	s, st, err := v.mustFind(doc)
	if err != nil {
		return nil, err
	}
	record, err := s.record(doc, st)
	if err != nil {
		return nil, translate(err)
	}
	r := &outlinedRecord{*record, sheaf.OutlineOf(&record.Document, record.Date)}
	v.records.Put(r.Document.ID, r, int64(recordSize(&r.Record)))
	return r, nil
}

// Record returns all that the catalog keeps of a document, without its text. The caller must not change the record.
func (v *View) Record(doc sheaf.ID) (*Record, error) {
	r, err := v.outlined(doc)
	if err != nil {
		return nil, err
	}
	return &r.Record, nil
}

// Outline returns the part of a document's record that ranking needs. If there is no such document, it returns nil. The
// caller must not change the shared result.
func (v *View) Outline(id sheaf.ID) *sheaf.Outline {
	r, err := v.outlined(id)
	if err != nil {
		v.noteFault(err)
		return nil
	}
	return r.outline
}

// Node returns the position of a chunk in its document. If there is no such chunk, it returns nil. The caller must not
// change the result.
func (v *View) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(v.Outline, id) }

// mustFind works like find, but without a document with this ID the error is sheaf.ErrNotFound.
func (v *View) mustFind(doc sheaf.ID) (*segment, *state, error) {
	s, st, err := v.find(doc)
	if err == nil && s == nil {
		err = fmt.Errorf("document %q: %w", doc, sheaf.ErrNotFound)
	}
	return s, st, err
}

// Head returns a record like Record, but the chunks may be missing. The run time of Head does not depend on the
// document's size, so it reveals nothing about a hidden document. Callers must not keep the record. Head also records
// faults for Err.
func (v *View) Head(doc sheaf.ID) (*Record, error) {
	if r, ok := v.records.Get(doc); ok {
		return &r.Record, nil
	}
	s, st, err := v.mustFind(doc)
	if err != nil {
		v.noteFault(err)
		return nil, err
	}
	r := newRecord(doc, st)
	if err := s.decode(doc, st, func(b []byte) bool {
		d := &decoder{b: b}
		decodeAbove(d, r)
		return !d.bad
	}); err != nil {
		v.note(translate(err))
		return nil, translate(err)
	}
	return r, nil
}

// recordSize returns roughly how many bytes of memory a record takes, with its outline.
func recordSize(r *Record) int {
	const perChunk = int(unsafe.Sizeof(sheaf.Chunk{})+unsafe.Sizeof(sheaf.Node{})) + 16
	size := 1024 + len(r.Document.Chunks)*perChunk // includes properties, tags and aliases
	for i := range r.Document.Chunks {
		c := &r.Document.Chunks[i]
		size += len(c.ID) + len(c.Title) + len(c.Slug) + 16*len(c.Hierarchy) + 128*len(c.Links)
	}
	return size
}

// record decodes the record of a document. The strings of the record share a copy of its stored bytes. If they shared
// the block, the cache of records would keep the whole block in memory.
func (s *segment) record(id sheaf.ID, st *state) (*Record, error) {
	r := newRecord(sheaf.ID(strings.Clone(string(id))), st)
	return r, s.decode(id, st, func(b []byte) bool { return decodeRecord(bytes.Clone(b), r) })
}

// newRecord returns a record with only the fields that are stored outside its encoding.
func newRecord(id sheaf.ID, st *state) *Record {
	r := &Record{File: st.file, HasText: st.text > 0}
	r.Document.ID, r.Document.Tree, r.Document.Path = id, id.Tree(), id.Path()
	return r
}

// Chunk returns the chunk with an ID, or false. Chunk first takes the part of id before the last '#' as the document's
// ID, because most IDs name a section. Then it takes the whole id as the document's ID.
func (v *View) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if hash := strings.LastIndexByte(string(id), '#'); hash >= 0 {
		if doc := v.SharedDocument(id[:hash]); doc != nil {
			for i := range doc.Chunks {
				if doc.Chunks[i].ID == id {
					return doc.Chunks[i], true
				}
			}
		}
	}
	if doc := v.SharedDocument(id); doc != nil && len(doc.Chunks) > 0 && doc.Chunks[0].ID == id {
		return doc.Chunks[0], true
	}
	return sheaf.Chunk{}, false
}

// Document returns the document with an ID, with its chunks. If no document has this ID, it returns false.
func (v *View) Document(id sheaf.ID) (sheaf.Document, bool) {
	if doc := v.SharedDocument(id); doc != nil {
		return *doc, true
	}
	return sheaf.Document{}, false
}

// SharedDocument works like Document, but returns the cached document itself, which the caller must not change. Without
// such a document it returns nil.
func (v *View) SharedDocument(id sheaf.ID) *sheaf.Document {
	r, err := v.Record(id)
	if err != nil {
		v.noteFault(err)
		return nil
	}
	return &r.Document
}

// Date returns the date of a document. If the document has none, it returns false.
func (v *View) Date(doc sheaf.ID) (sheaf.Dated, bool) {
	if o := v.Outline(doc); o != nil {
		return o.Date, o.Date.Source != 0
	}
	return sheaf.Dated{}, false
}

// FolderSize returns the number of documents directly in a folder of a tree, not in subfolders. "" is the top folder.
func (v *View) FolderSize(tree, folder string) int {
	prefix := folderPrefix(tree, folder)
	n, ok := v.folders.Get(prefix)
	if ok {
		return n
	}
	for range v.InFolder(tree, folder) {
		n++
	}
	v.folders.Put(prefix, n, 1)
	return n
}

// folderPrefix returns the beginning of the IDs of all documents in a folder of a tree and in its subfolders.
func folderPrefix(tree, folder string) string {
	prefix := string(sheaf.DocumentID(tree, folder))
	if folder != "" {
		prefix += "/"
	}
	return prefix
}

// InFolder yields the documents directly in a folder of a tree, in order of ID. "" is the top folder. If the catalog is
// damaged, the sequence ends early, and Err returns the fault.
func (v *View) InFolder(tree, folder string) iter.Seq[sheaf.ID] {
	return func(yield func(sheaf.ID) bool) {
		prefix := folderPrefix(tree, folder)
		w, err := newWalk(v.segments, prefix)
		for last := ""; err == nil && w.ok; {
			id := w.key()
			if id <= last { // with IDs out of order, skipping might never end
				err = w.segment().ids.data.Corrupt(0, "the IDs are not in order: %q comes after %q", id, last)
				break
			}
			last = id
			name, inside := strings.CutPrefix(id, prefix)
			if !inside {
				break
			}
			if slash := strings.IndexByte(name, '/'); slash >= 0 {
				err = w.seek(prefix + name[:slash] + "0") // '0' follows '/'
				continue
			}
			var st state
			if st, err = w.segment().state(w.number()); err == nil {
				if !st.tombstone() && !yield(sheaf.ID(id)) {
					break
				}
				err = w.next()
			}
		}
		v.note(translate(err))
	}
}

// Holds reports whether a folder of a tree, or one of its subfolders, contains a document. "" is the top folder.
func (v *View) Holds(tree, folder string) bool {
	return v.begins(folderPrefix(tree, folder))
}

// begins reports whether any document's ID begins with prefix.
func (v *View) begins(prefix string) bool {
	for id := range v.existing(prefix) {
		return strings.HasPrefix(id, prefix)
	}
	return false
}

// Counted is a name with the number of documents that have it.
type Counted struct {
	Name string `json:"name"`
	Docs int    `json:"docs"`
}

// Properties returns the number of documents for each property name, ignoring case. The list is sorted by number,
// largest first, then by name.
func (v *View) Properties() ([]Counted, error) {
	counts := map[string]int{}
	err := v.labels(labelProperty, func(_ *segment, name string, docs []int) error {
		if len(docs) > 0 {
			counts[strings.Clone(name)] += len(docs)
		}
		return nil
	})
	list := make([]Counted, 0, len(counts))
	for name, n := range counts {
		list = append(list, Counted{name, n})
	}
	slices.SortFunc(list, func(a, b Counted) int { return cmp.Or(b.Docs-a.Docs, strings.Compare(a.Name, b.Name)) })
	return list, err
}

// Warned returns the documents that have warnings in their records, in order of ID.
func (v *View) Warned() ([]sheaf.ID, error) {
	var ids []sheaf.ID
	err := v.labels(labelWarning, func(s *segment, _ string, docs []int) error {
		for _, doc := range docs {
			id, err := s.ids.id(doc)
			if err != nil {
				return err
			}
			ids = append(ids, sheaf.ID(id))
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// labels calls visit for each label of this kind in each segment. docs has the numbers of the documents with the label.
// It lacks documents whose entries in the segment are not current. The name is valid while the view is open.
func (v *View) labels(kind byte, visit func(s *segment, name string, docs []int) error) error {
	live, err := v.live()
	if err != nil {
		return translate(err)
	}
	for k, s := range v.segments {
		labels, err := decodeLabels(s.labels, s.n)
		if err != nil {
			return translate(err)
		}
		for _, l := range labels {
			if l.kind != kind {
				continue
			}
			if live[k] != nil {
				l.docs = slices.DeleteFunc(l.docs, func(doc int) bool { return !live[k][doc] })
			}
			if err := visit(s, l.name, l.docs); err != nil {
				return translate(err)
			}
		}
	}
	return nil
}

// findLive returns one list for each segment. The list says of each entry, by number, whether the entry is current. A
// nil list means that all entries of the segment are current.
func (v *View) findLive() ([][]bool, error) {
	live := make([][]bool, len(v.segments))
	if len(v.segments) < 2 {
		return live, nil
	}
	for k, s := range v.segments {
		live[k] = make([]bool, s.n)
	}
	w, err := newWalk(v.segments, "")
	for ; err == nil && w.ok; err = w.next() {
		live[w.newest][w.number()] = true
	}
	return live, err
}
