package catalog

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/s2"

	"sheaf"
	"sheaf/vfs"
	"sheaf/vfs/sectionfile"
)

// A segment file holds documents and tombstones, sorted by ID, in four sections:
//
//	ids      the IDs, one after another
//	offsets  [n+1]uint32: where each ID begins
//	states   [n]stateBytes: see entry
//	records  the encoded documents, and texts that have no source file
const (
	sectionIDs     = "ids"
	sectionOffsets = "offsets"
	sectionStates  = "states"
	sectionRecords = "records"

	// A state is, little endian: size 8, modification time 8, hash 16,
	// offset 8 and length 4 and checksum 4 of the record, length 4 and
	// checksum 4 of the compressed text, number of chunks 4, whether there
	// is a text 4. A record of length 0 is a tombstone.
	stateBytes = 64
)

// entry is a document or a tombstone in a segment. Its slices may belong to a
// mapped file.
type entry struct {
	id      string
	file    FileState
	record  []byte
	text    []byte // compressed
	hasText bool
	chunks  int
}

func (e *entry) tombstone() bool { return len(e.record) == 0 }

// segment is an open segment file, shared by views.
type segment struct {
	name    string
	r       *sectionfile.Reader
	refs    atomic.Int32
	n       int
	ids     []byte
	offsets []byte
	states  []byte
	records []byte
	verify  func() error
}

func openSegment(fsys vfs.FS, path string) (*segment, error) {
	r, err := sectionfile.Open(fsys, path, kindSegment, format)
	if err != nil {
		return nil, err
	}
	s := &segment{name: filepath.Base(path), r: r}
	s.refs.Store(1)
	for name, to := range map[string]*[]byte{sectionIDs: &s.ids, sectionOffsets: &s.offsets, sectionStates: &s.states, sectionRecords: &s.records} {
		data, ok := r.Section(name)
		if !ok {
			s.release()
			return nil, r.Corrupt(name, 0, "the section is missing")
		}
		*to = data
	}
	s.n = len(s.states) / stateBytes
	if len(s.states)%stateBytes != 0 || len(s.offsets) != 4*(s.n+1) {
		s.release()
		return nil, r.Corrupt(sectionStates, 0, "%d bytes of states and %d of offsets do not fit", len(s.states), len(s.offsets))
	}
	s.verify = sync.OnceValue(func() error {
		for _, name := range []string{sectionIDs, sectionOffsets, sectionStates} {
			if err := r.Verify(name); err != nil {
				return err
			}
		}
		for i := range s.n {
			if a, b := s.offset(i), s.offset(i+1); a > b || b > len(s.ids) || i > 0 && s.id(i-1) >= s.id(i) {
				return r.Corrupt(sectionOffsets, 4*i, "the IDs are not in order")
			}
		}
		return nil
	})
	return s, nil
}

func (s *segment) retain() { s.refs.Add(1) }

func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.r.Close() // nothing was written, so nothing can be lost
	}
}

func (s *segment) offset(i int) int { return int(binary.LittleEndian.Uint32(s.offsets[4*i:])) }

// id is valid while the segment is open.
func (s *segment) id(i int) string { return view(s.ids[s.offset(i):s.offset(i+1)]) }

// find is the index of a document or tombstone, or -1. The segment must have
// been verified.
func (s *segment) find(id sheaf.ID) int {
	i := sort.Search(s.n, func(i int) bool { return s.id(i) >= string(id) })
	if i < s.n && s.id(i) == string(id) {
		return i
	}
	return -1
}

func (s *segment) state(i int) []byte { return s.states[i*stateBytes : (i+1)*stateBytes] }

func (s *segment) file(i int) FileState {
	b := s.state(i)
	f := FileState{Size: int64(binary.LittleEndian.Uint64(b)), ModTime: int64(binary.LittleEndian.Uint64(b[8:]))}
	copy(f.Hash[:], b[16:32])
	return f
}

func (s *segment) tombstone(i int) bool { return binary.LittleEndian.Uint32(s.state(i)[40:]) == 0 }

func (s *segment) chunks(i int) int { return int(binary.LittleEndian.Uint32(s.state(i)[56:])) }

// entry reads an entry and verifies its bytes.
func (s *segment) entry(i int) (entry, error) {
	b, le := s.state(i), binary.LittleEndian
	e := entry{id: s.id(i), file: s.file(i), chunks: s.chunks(i), hasText: le.Uint32(b[60:]) != 0}
	at, size, text := le.Uint64(b[32:]), uint64(le.Uint32(b[40:])), uint64(le.Uint32(b[48:]))
	if at > uint64(len(s.records)) || size+text > uint64(len(s.records))-at {
		return e, s.r.Corrupt(sectionStates, i*stateBytes, "the record of %s does not lie in the file", e.id)
	}
	e.record = s.records[at : at+size]
	e.text = s.records[at+size : at+size+text]
	if sum := sectionfile.Checksum(e.record); sum != le.Uint32(b[44:]) {
		return e, s.r.Corrupt(sectionRecords, int(at), "checksum of %s is %08x, its bytes have %08x", e.id, le.Uint32(b[44:]), sum)
	}
	if sum := sectionfile.Checksum(e.text); sum != le.Uint32(b[52:]) {
		return e, s.r.Corrupt(sectionRecords, int(at+size), "checksum of the text of %s is %08x, its bytes have %08x", e.id, le.Uint32(b[52:]), sum)
	}
	return e, nil
}

// entriesOf encodes the changes of an update, sorted by ID, the last of equal
// IDs.
func entriesOf(u Update) ([]entry, error) {
	entries := make([]entry, 0, len(u.Put)+len(u.Delete))
	for _, id := range u.Delete {
		entries = append(entries, entry{id: string(id)})
	}
	for i := range u.Put {
		r := &u.Put[i]
		if r.Document.ID == "" || r.Document.ID != sheaf.DocumentID(r.Document.Tree, r.Document.Path) {
			return nil, sheaf.Invalidf("document %q: the ID must be that of tree %q and path %q", r.Document.ID, r.Document.Tree, r.Document.Path)
		}
		if strings.Contains(r.Document.Tree, ":") || r.Document.Tree == "" {
			return nil, sheaf.Invalidf("document %q: tree name %q: must not be empty or hold a colon", r.Document.ID, r.Document.Tree)
		}
		e := entry{id: string(r.Document.ID), file: r.File, record: encodeRecord(r), hasText: r.HasText, chunks: len(r.Document.Chunks)}
		if r.HasText {
			e.text = s2.Encode(nil, r.Text)
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.id, b.id) })
	return lastOfEqual(entries), nil
}

// lastOfEqual keeps the last of neighbours with one ID.
func lastOfEqual(entries []entry) []entry {
	out := entries[:0]
	for i, e := range entries {
		if i+1 < len(entries) && entries[i+1].id == e.id {
			continue
		}
		out = append(out, e)
	}
	return out
}

// writeSegment writes entries, which are sorted and distinct.
func writeSegment(fsys vfs.FS, path string, entries []entry) error {
	w, err := sectionfile.Create(fsys, path, kindSegment, format)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	w.Begin(sectionRecords)
	states := make([]byte, 0, stateBytes*len(entries))
	for i := range entries {
		e := &entries[i]
		states = le.AppendUint64(states, uint64(e.file.Size))
		states = le.AppendUint64(states, uint64(e.file.ModTime))
		states = append(states, e.file.Hash[:]...)
		states = le.AppendUint64(states, uint64(w.Offset()))
		states = le.AppendUint32(states, uint32(len(e.record)))
		states = le.AppendUint32(states, sectionfile.Checksum(e.record))
		states = le.AppendUint32(states, uint32(len(e.text)))
		states = le.AppendUint32(states, sectionfile.Checksum(e.text))
		states = le.AppendUint32(states, uint32(e.chunks))
		hasText := uint32(0)
		if e.hasText {
			hasText = 1
		}
		states = le.AppendUint32(states, hasText)
		_, _ = w.Write(e.record) // the first error sticks, and Close returns it
		_, _ = w.Write(e.text)
	}
	w.Section(sectionStates, states)
	w.Begin(sectionIDs)
	offsets := make([]byte, 0, 4*len(entries)+4)
	for i := range entries {
		offsets = le.AppendUint32(offsets, uint32(w.Offset()))
		_, _ = w.Write([]byte(entries[i].id))
	}
	offsets = le.AppendUint32(offsets, uint32(w.Offset()))
	w.Section(sectionOffsets, offsets)
	if _, err := w.Close(); err != nil {
		return fmt.Errorf("write catalog segment: %w", err)
	}
	return nil
}

// mergeInto puts the entries of newer before those of segments, oldest first,
// and returns all that are current. Tombstones stay when keepTombstones is set.
func mergeInto(segments []*segment, newer []entry, keepTombstones bool) ([]entry, error) {
	total := len(newer)
	for _, s := range segments {
		total += s.n
	}
	all := make([]entry, 0, total)
	for _, s := range segments {
		if err := s.verify(); err != nil {
			return nil, err
		}
		for i := range s.n {
			e, err := s.entry(i)
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	all = append(all, newer...)
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.id, b.id) })
	all = lastOfEqual(all)
	if !keepTombstones {
		all = slices.DeleteFunc(all, func(e entry) bool { return e.tombstone() })
	}
	return all, nil
}
