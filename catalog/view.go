package catalog

import (
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
	"sheaf/vfs/manifest"
)

// view is b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// View is a snapshot of a catalog. It is safe for concurrent use, and meets
// rank.Facts. What its methods return belongs to the caller, but for documents
// and chunks, which are shared and must not be changed. Errors wrap
// sheaf.ErrNotFound or sheaf.ErrCorrupt.
type View struct {
	catalog    *Catalog
	manifest   manifest.Manifest
	generation uint64
	payload    payload
	segments   []*segment // oldest first
	refs       atomic.Int32

	mu      sync.Mutex
	records map[sheaf.ID]*Record // decoded lately
	faults  []error

	folders func() map[string]int
	names   func() *nameIndex
	graph   func() *linkGraph
}

// maxDecoded bounds how many decoded documents a view keeps.
const maxDecoded = 512

func newView(c *Catalog, m manifest.Manifest, p payload, segments []*segment) *View {
	v := &View{catalog: c, manifest: m, payload: p, segments: segments, records: map[sheaf.ID]*Record{}}
	v.refs.Store(1)
	v.folders = sync.OnceValue(v.countFolders)
	v.names = sync.OnceValue(v.indexNames)
	v.graph = sync.OnceValue(v.buildGraph)
	return v
}

func (v *View) retain() { v.refs.Add(1) }

// Close ends the use of the view.
func (v *View) Close() {
	if v.refs.Add(-1) == 0 {
		for _, s := range v.segments {
			s.release()
		}
	}
}

// Generation is the number of the snapshot; it grows with every update.
func (v *View) Generation() uint64 { return v.generation }

// Settings are what the collection was made with.
func (v *View) Settings() Settings { return v.payload.Settings }

// Docs is the number of documents, Chunks that of their chunks, SourceBytes the
// size of their files.
func (v *View) Docs() int { return v.payload.Docs }

// Chunks is the number of chunks of all documents.
func (v *View) Chunks() int { return v.payload.Chunks }

// SourceBytes is the size of all source files.
func (v *View) SourceBytes() int64 { return v.payload.Bytes }

// Pending are the documents of which something is still to be done (vectors to
// be made, say), with the reason.
func (v *View) Pending() map[sheaf.ID]string { return v.payload.Pending }

// DiskBytes is the size of the catalog's own files.
func (v *View) DiskBytes() int64 {
	var n int64
	for _, s := range v.segments {
		n += s.r.Size()
	}
	return n
}

// find is where a document stands: its newest entry, unless that is a tombstone.
func (v *View) find(id sheaf.ID) (*segment, int, error) {
	for _, s := range slices.Backward(v.segments) {
		if err := s.verify(); err != nil {
			return nil, 0, translate(err)
		}
		if i := s.find(id); i >= 0 {
			if s.tombstone(i) {
				return nil, 0, nil
			}
			return s, i, nil
		}
	}
	return nil, 0, nil
}

// File is the state of a document's file when it was indexed.
func (v *View) File(doc sheaf.ID) (FileState, bool, error) {
	s, i, err := v.find(doc)
	if err != nil || s == nil {
		return FileState{}, false, err
	}
	return s.file(i), true, nil
}

// all yields every document once, in order of ID: the newest entries, without
// tombstones.
func (v *View) all(yield func(s *segment, i int) bool) error {
	next := make([]int, len(v.segments))
	for _, s := range v.segments {
		if err := s.verify(); err != nil {
			return translate(err)
		}
	}
	for {
		best := -1
		for k, s := range v.segments {
			if next[k] < s.n && (best < 0 || s.id(next[k]) <= v.segments[best].id(next[best])) {
				best = k // of equal IDs the newest
			}
		}
		if best < 0 {
			return nil
		}
		s, i := v.segments[best], next[best]
		id := s.id(i)
		for k, t := range v.segments {
			if next[k] < t.n && t.id(next[k]) == id {
				next[k]++
			}
		}
		if !s.tombstone(i) && !yield(s, i) {
			return nil
		}
	}
}

// Files yields every document with the state of its file, in order of ID. When
// the catalog is corrupt it ends early; Check says so.
func (v *View) Files() iter.Seq2[sheaf.ID, FileState] {
	return func(yield func(sheaf.ID, FileState) bool) {
		v.note(v.all(func(s *segment, i int) bool { return yield(sheaf.ID(strings.Clone(s.id(i))), s.file(i)) }))
	}
}

// note keeps an error of a method that cannot return it, for Err.
func (v *View) note(err error) {
	if err == nil {
		return
	}
	v.mu.Lock()
	v.faults = append(v.faults, err)
	v.mu.Unlock()
}

// noteFault keeps an error other than that something does not exist.
func (v *View) noteFault(err error) {
	if !errors.Is(err, sheaf.ErrNotFound) {
		v.note(err)
	}
}

// Err is the first fault that a method without an error met, or nil.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.faults) == 0 {
		return nil
	}
	return v.faults[0]
}

// Record returns all that the catalog keeps of a document, without its text. It
// is shared and must not be changed.
func (v *View) Record(doc sheaf.ID) (*Record, error) {
	v.mu.Lock()
	r := v.records[doc]
	v.mu.Unlock()
	if r != nil {
		return r, nil
	}
	s, i, err := v.find(doc)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("document %q: %w", doc, sheaf.ErrNotFound)
	}
	if r, err = s.record(i); err != nil {
		return nil, translate(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.records) >= maxDecoded {
		clear(v.records)
	}
	v.records[doc] = r
	return r, nil
}

// record decodes an entry.
func (s *segment) record(i int) (*Record, error) {
	e, err := s.entry(i)
	if err != nil {
		return nil, err
	}
	id := strings.Clone(e.id)
	r := &Record{File: e.file, HasText: e.hasText}
	r.Document.ID = sheaf.ID(id)
	r.Document.Tree, r.Document.Path, _ = strings.Cut(id, ":")
	if !decodeRecord(e.record, r) {
		return nil, s.r.Corrupt(sectionRecords, 0, "the record of %s cannot be read", id)
	}
	return r, nil
}

// Lookup finds the document or chunk called id: the whole id as a document
// first, then what stands before its last '#'. For a document without a root
// chunk, chunk is nil.
func (v *View) Lookup(id sheaf.ID) (*Record, *sheaf.Chunk, error) {
	r, err := v.Record(id)
	if err == nil {
		if len(r.Document.Chunks) > 0 && r.Document.Chunks[0].ID == id {
			return r, &r.Document.Chunks[0], nil
		}
		return r, nil, nil
	}
	hash := strings.LastIndexByte(string(id), '#')
	if hash < 0 {
		return nil, nil, err
	}
	if r, err = v.Record(id[:hash]); err != nil {
		return nil, nil, err
	}
	for i := range r.Document.Chunks {
		if c := &r.Document.Chunks[i]; c.ID == id {
			return r, c, nil
		}
	}
	return nil, nil, fmt.Errorf("chunk %q: %w in document %q", id, sheaf.ErrNotFound, id[:hash])
}

// Chunk describes the chunk called id; false when there is none.
func (v *View) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	_, c, err := v.Lookup(id)
	if err != nil || c == nil {
		v.noteFault(err)
		return sheaf.Chunk{}, false
	}
	return *c, true
}

// Document describes the document called id with its chunks; false when there is
// none.
func (v *View) Document(id sheaf.ID) (sheaf.Document, bool) {
	r, err := v.Record(id)
	if err != nil {
		v.noteFault(err)
		return sheaf.Document{}, false
	}
	return r.Document, true
}

// Date is the date of a document; false when it has none.
func (v *View) Date(doc sheaf.ID) (sheaf.Dated, bool) {
	r, err := v.Record(doc)
	if err != nil || r.Date.Source == 0 {
		return sheaf.Dated{}, false
	}
	return r.Date, true
}

// FolderSize is the number of documents that lie directly in a folder of a tree;
// "" is the tree's top.
func (v *View) FolderSize(tree, folder string) int { return v.folders()[tree+":"+folder] }

func (v *View) countFolders() map[string]int {
	counts := map[string]int{}
	v.note(v.all(func(s *segment, i int) bool {
		counts[folderOf(s.id(i))]++
		return true
	}))
	return counts
}

// folderOf is "tree:folder" of a document's ID. The result is a copy.
func folderOf(id string) string {
	colon := strings.IndexByte(id, ':')
	slash := max(colon+1, strings.LastIndexByte(id, '/'))
	return strings.Clone(id[:slash])
}

// Counted is a name with the number of documents that have it.
type Counted struct {
	Name string `json:"name"`
	Docs int    `json:"docs"`
}

// Tags counts the tags of all documents, without regard to case, most frequent
// first, then by name. Reading them decodes the beginning of every document.
func (v *View) Tags() ([]Counted, error) {
	counts := map[string]int{}
	err := v.heads(func(_ sheaf.ID, h head) {
		for _, tag := range h.tags {
			counts[strings.ToLower(tag)]++
		}
	})
	return counted(counts), err
}

// Properties counts the names of the properties of all documents, without regard
// to case, most frequent first, then by name.
func (v *View) Properties() ([]Counted, error) {
	counts := map[string]int{}
	var fault error
	err := v.all(func(s *segment, i int) bool {
		var e entry
		if e, fault = s.entry(i); fault != nil {
			return false
		}
		d := &decoder{b: e.record}
		decodeHead(d)
		var doc sheaf.Document
		decodeProperties(d, &doc)
		for _, p := range doc.Properties {
			counts[strings.ToLower(p.Name)]++
		}
		return true
	})
	return counted(counts), cmp.Or(err, translate(fault))
}

func counted(counts map[string]int) []Counted {
	list := make([]Counted, 0, len(counts))
	for name, n := range counts {
		list = append(list, Counted{name, n})
	}
	slices.SortFunc(list, func(a, b Counted) int { return cmp.Or(b.Docs-a.Docs, strings.Compare(a.Name, b.Name)) })
	return list
}

// heads yields the beginning of every document's record.
func (v *View) heads(yield func(id sheaf.ID, h head)) error {
	var fault error
	err := v.all(func(s *segment, i int) bool {
		var e entry
		if e, fault = s.entry(i); fault != nil {
			return false
		}
		yield(sheaf.ID(strings.Clone(e.id)), decodeHead(&decoder{b: e.record}))
		return true
	})
	if err == nil {
		err = translate(fault)
	}
	return err
}

// Check reads everything and returns one error for each fault, each wrapping
// sheaf.ErrCorrupt.
func (v *View) Check() []error {
	var faults []error
	for _, s := range v.segments {
		for _, err := range s.r.Check() {
			faults = append(faults, translate(err))
		}
		if err := s.verify(); err != nil {
			faults = append(faults, translate(err))
			continue
		}
		for i := range s.n {
			if s.tombstone(i) {
				continue
			}
			if _, err := s.record(i); err != nil {
				faults = append(faults, translate(err))
			}
		}
	}
	if _, err := v.Skipped(); err != nil {
		faults = append(faults, err)
	}
	return faults
}
