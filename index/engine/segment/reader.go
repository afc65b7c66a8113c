package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
	"unsafe"

	"sheaf/index/engine/postings"
	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
)

// These constants belong to the lengths of a field. A length takes one byte if nearly all lengths are short, otherwise
// two. The largest number in a byte or in two bytes marks a longer length. If few chunks have the field, the file only
// lists the lengths above 0.
const (
	// LongByte and LongWord mark lengths that do not fit into one or two bytes.
	LongByte = 1<<8 - 1
	LongWord = 1<<16 - 1
)

// Reader is an open segment. Open reads only a few pages, even of a large file. Every other byte is verified when it
// is first used. A Reader is safe for concurrent use until Close.
type Reader struct {
	file     *sectionfile.Reader
	run      bool // its lists are those of a run
	meta     *meta
	sections map[string]*sectionfile.Paged
	postings *sectionfile.Paged
	terms    *table
	ids      *table
	docs     *table
	columns  *table
	ranks    *sectionfile.Paged
	vectors  []*VectorIndex
}

// Open opens a segment file. The caller must close the reader.
func Open(fs vfs.FS, path string) (*Reader, error) {
	return openKind(fs, path, kind)
}

func openKind(fs vfs.FS, path, kind string) (*Reader, error) {
	file, err := sectionfile.Open(fs, path, kind, Version)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file, run: kind == runKind, sections: map[string]*sectionfile.Paged{}}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *Reader) open() error {
	for _, name := range r.file.Names() {
		section, err := r.file.Paged(name)
		if err != nil {
			return err
		}
		r.sections[name] = section
	}
	section, err := r.section(sectionMeta)
	if err != nil {
		return err
	}
	data, err := section.All()
	if err != nil {
		return err
	}
	if r.meta, err = decodeMeta(data); err != nil {
		return section.Corrupt(0, "%v", err)
	}
	for _, t := range []struct {
		name string
		kind tableKind
		to   **table
	}{{sectionTerms, tableOfTerms, &r.terms}, {sectionIDs, tableOfNumbers, &r.ids}, {sectionDocs, tableOfRuns, &r.docs},
		{sectionColumns, tableOfBytes, &r.columns}} {
		section, err := r.section(t.name)
		if err != nil {
			return err
		}
		if *t.to, err = openTable(section, t.kind); err != nil {
			return err
		}
	}
	if !r.run {
		r.terms.letters = r.meta.letters
	}
	r.postings, r.ranks = r.sections[sectionPostings], r.sections[sectionRanks]
	switch {
	case r.postings == nil:
		return r.file.Corrupt(sectionPostings, 0, "the section is missing")
	case r.ranks == nil || r.ranks.Len() < rankBlocks(r.meta.chunks)*rankHeader || r.ids.count != r.meta.chunks:
		return r.file.Corrupt(sectionRanks, 0, "want those of %d chunks", r.meta.chunks)
	}
	for _, f := range r.meta.fields {
		section := r.sections[sectionLengths+f.Name]
		size := r.meta.chunks * f.width
		if section == nil || section.Len() < size || (section.Len()-size)%8 != 0 {
			return r.file.Corrupt(sectionLengths+f.Name, 0, "want %d lengths", r.meta.chunks)
		}
	}
	for _, f := range r.meta.vectors {
		index, err := r.openVectors(f)
		if err != nil {
			return err
		}
		r.vectors = append(r.vectors, index)
	}
	return nil
}

func (r *Reader) section(name string) (*sectionfile.Paged, error) {
	section := r.sections[name]
	if section == nil {
		return nil, r.file.Corrupt(name, 0, "the section is missing")
	}
	return section, nil
}

// Close unmaps the file. After Close, slices that r returned must not be used.
func (r *Reader) Close() error { return r.file.Close() }

// Chunks returns the number of chunks. Ordinals are below this number.
func (r *Reader) Chunks() int { return r.meta.chunks }

// Documents returns how many documents the chunks belong to.
func (r *Reader) Documents() int { return r.meta.documents }

// Fields returns the text fields, with statistics over all chunks.
func (r *Reader) Fields() []Field { return r.meta.fields }

// VectorFields returns the vector fields.
func (r *Reader) VectorFields() []*VectorIndex { return r.vectors }

// VectorField returns the vector field with this name, or nil.
func (r *Reader) VectorField(name string) *VectorIndex {
	if at := slices.IndexFunc(r.vectors, func(v *VectorIndex) bool { return v.field.Name == name }); at >= 0 {
		return r.vectors[at]
	}
	return nil
}

// Field returns the index of a text field, or -1.
func (r *Reader) Field(name string) int {
	for i, f := range r.meta.fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.file.Size() }

// MergeBytes returns roughly how many bytes of memory a merge needs for r, without vectors. It counts the lengths and
// new ordinals of chunks, and the growing tables of dictionaries, identifiers and columns.
func (r *Reader) MergeBytes() int64 {
	n := int64(r.meta.chunks) * int64(4*len(r.meta.fields)+12)
	for _, t := range []*table{r.terms, r.ids, r.docs, r.columns} {
		n += 2 * int64(t.bytes.Len())
	}
	return n
}

// Parts returns how many bytes of the file each section takes. Sections of one kind for several fields count together.
// Positions count separately from the rest of the postings, as "positions".
func (r *Reader) Parts() map[string]int64 {
	parts := map[string]int64{"positions": r.meta.positions}
	for name, section := range r.sections {
		kind, _, _ := strings.Cut(name, ".")
		parts[kind] += int64(section.Len())
	}
	parts[sectionPostings] -= r.meta.positions
	return parts
}

// Lengths are the lengths of one field of every chunk.
type Lengths struct {
	chunks int
	short  []byte // one byte a chunk; nil with two bytes
	words  []byte // two bytes a chunk
	long   []byte // ordinal and length of chunks with longer lengths, 4 bytes each
}

// Lengths returns the lengths of the field with this index.
func (r *Reader) Lengths(field int) (Lengths, error) {
	f := r.meta.fields[field]
	data, err := r.sections[sectionLengths+f.Name].All()
	if err != nil {
		return Lengths{}, err
	}
	size := f.width * r.meta.chunks
	switch f.width {
	case 0:
		return Lengths{chunks: r.meta.chunks, long: data}, nil
	case 1:
		return Lengths{chunks: r.meta.chunks, short: data[:size], long: data[size:]}, nil
	}
	return Lengths{chunks: r.meta.chunks, words: data[:size], long: data[size:]}, nil
}

// Plain returns the lengths by ordinal as they are in the file. If each length has one byte, words is nil. If each
// length has two bytes, little endian, bytes is nil. If few chunks have the field, both slices are nil. LongByte and
// LongWord mark longer lengths, which only Of returns.
func (l *Lengths) Plain() (bytes, words []byte) { return l.short, l.words }

// Of returns the number of terms in the field of a chunk.
func (l *Lengths) Of(ordinal uint32) uint32 {
	if l.short != nil {
		if n := l.short[ordinal]; n < LongByte {
			return uint32(n)
		}
	} else if l.words != nil {
		if n := binary.LittleEndian.Uint16(l.words[2*ordinal:]); n < LongWord {
			return uint32(n)
		}
	}
	return l.longOf(ordinal)
}

// All returns the chunks that have the field, as ordinals with the number of terms, in no particular order.
func (l *Lengths) All() iter.Seq2[uint32, uint32] {
	return func(yield func(ordinal, n uint32) bool) {
		for i, n := range l.short {
			if n > 0 && n < LongByte && !yield(uint32(i), uint32(n)) {
				return
			}
		}
		for i := range len(l.words) / 2 {
			n := binary.LittleEndian.Uint16(l.words[2*i:])
			if n > 0 && n < LongWord && !yield(uint32(i), uint32(n)) {
				return
			}
		}
		for at := 0; at < len(l.long); at += 8 {
			ordinal, n := binary.LittleEndian.Uint32(l.long[at:]), binary.LittleEndian.Uint32(l.long[at+4:])
			if ordinal >= uint32(l.chunks) || !yield(ordinal, n) { // the first only in a segment with a fault that Check finds
				return
			}
		}
	}
}

func (l *Lengths) longOf(ordinal uint32) uint32 {
	n := len(l.long) / 8
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(l.long[8*i:]) >= ordinal })
	if i < n && binary.LittleEndian.Uint32(l.long[8*i:]) == ordinal {
		return binary.LittleEndian.Uint32(l.long[8*i+4:])
	}
	if l.short == nil && l.words == nil {
		return 0
	}
	return LongByte // only in a segment with a fault that Check finds
}

// ID appends the identifier of a chunk to dst.
func (r *Reader) ID(dst []byte, ordinal uint32) ([]byte, error) {
	rank, err := r.Rank(ordinal)
	if err != nil {
		return dst, err
	}
	c := tableCursor{key: dst[len(dst):]}
	c.reset(r.ids)
	if !c.seekEntry(int(rank)) {
		return dst, r.fault(c.err, sectionIDs)
	}
	return append(dst, c.key...), nil
}

// Rank returns the rank of a chunk's identifier: its place, from 0, among the segment's identifiers in byte order.
func (r *Reader) Rank(ordinal uint32) (uint32, error) {
	if int(ordinal) >= r.meta.chunks {
		return 0, fmt.Errorf("chunk %d of %d", ordinal, r.meta.chunks)
	}
	return rankOf(r.ranks, int(ordinal), r.meta.chunks)
}

func (r *Reader) fault(err error, section string) error {
	if err == nil {
		err = r.file.Corrupt(section, 0, "an entry is missing")
	}
	return err
}

// cursors holds unused cursors for reuse. They already have memory for a key.
var cursors = sync.Pool{New: func() any { return &tableCursor{key: make([]byte, 0, 256)} }}

// Find returns the ordinal of the chunk with this identifier. If there is no such chunk, it returns false.
func (r *Reader) Find(id string) (ordinal uint32, ok bool, err error) {
	c := cursors.Get().(*tableCursor)
	defer cursors.Put(c)
	c.reset(r.ids)
	if !c.find(unsafe.Slice(unsafe.StringData(id), len(id))) { // find only reads the key
		return 0, false, c.err
	}
	ordinal, err = r.ordinalAt(c)
	return ordinal, err == nil, err
}

// ordinalAt returns the ordinal of the chunk whose identifier is the current key of c.
func (r *Reader) ordinalAt(c *tableCursor) (uint32, error) {
	if c.number >= int64(r.meta.chunks) {
		return 0, r.file.Corrupt(sectionIDs, 0, "entry %d is chunk %d of %d", c.at, c.number, r.meta.chunks)
	}
	return uint32(c.number), nil
}

// EachID calls f for every identifier, in the order of their bytes, with the ordinal of its chunk. id is valid only
// during the call. An error of f ends the walk.
func (r *Reader) EachID(f func(id []byte, ordinal uint32) error) error {
	var c tableCursor
	for c.reset(r.ids); c.next(); {
		ordinal, err := r.ordinalAt(&c)
		if err != nil {
			return err
		}
		if err := f(c.key, ordinal); err != nil {
			return err
		}
	}
	return c.err
}

// EachShared calls f for every identifier that is in both a and b, with its ordinals. It skips ranges of identifiers,
// so one look-up is enough if all identifiers of a come before those of b.
func EachShared(a, b *Reader, f func(inA, inB uint32)) error {
	x, y := tableCursor{}, tableCursor{}
	x.reset(a.ids)
	y.reset(b.ids)
	for ok := x.next(); ok && y.advance(x.key); ok = x.advance(y.key) {
		if !bytes.Equal(x.key, y.key) {
			continue
		}
		inA, err := a.ordinalAt(&x)
		inB, err2 := b.ordinalAt(&y)
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		f(inA, inB)
		if !y.next() {
			break
		}
	}
	return errors.Join(x.err, y.err)
}

// documents returns the table of documents. If this table equals the table of identifiers, the file has only the
// latter, and documents returns it.
func (r *Reader) documents() *table {
	if r.docs.count == 0 {
		return r.ids
	}
	return r.docs
}

// Document adds to a set the ordinals of a document's chunks. It reports whether there are any.
func (r *Reader) Document(set Bitset, doc string) (bool, error) {
	var c tableCursor
	c.reset(r.documents())
	if !c.find([]byte(doc)) {
		return false, c.err
	}
	if !c.eachRun(r.meta.chunks, set.setRange) {
		return false, c.table.bytes.Corrupt(0, "the chunks of %q", doc)
	}
	return true, nil
}

// A Term says where the posting lists of a dictionary term are.
type Term struct {
	mask  uint64    // the fields with the term
	lists []listRef // of these fields
}

// Clone returns a copy of t that stays valid when the walk over the terms moves on.
func (t *Term) Clone() Term { return Term{t.mask, slices.Clone(t.lists)} }

// None reports whether no field has the term.
func (t *Term) None() bool { return t.mask == 0 }

// Fields returns how many fields have the term.
func (t *Term) Fields() int { return bits.OnesCount64(t.mask) }

// list returns the reference to the list of a field, or nil if the field lacks the term.
func (t *Term) list(field int) *listRef {
	if t.mask>>field&1 == 0 {
		return nil
	}
	return &t.lists[bits.OnesCount64(t.mask&(1<<field-1))]
}

// listRef is the position of a posting list in the file.
type listRef struct {
	df                  int
	single              postings.Single
	at                  int
	postings, positions int
}

// DF returns how many chunks have the term in a field. It includes chunks that were deleted later.
func (t *Term) DF(field int) int {
	if l := t.list(field); l != nil {
		return l.df
	}
	return 0
}

// Place returns where a posting list of t starts, which identifies the term in the segment. It takes the first list
// with several postings, among the fields whose bits are set in fields. ok is false if there is no such list.
func (t *Term) Place(fields uint64) (place uint64, ok bool) {
	rest := t.mask
	for i := range t.lists {
		if l := &t.lists[i]; rest&-rest&fields != 0 && l.df > 1 && l.postings > 0 {
			return uint64(l.at), true
		}
		rest &= rest - 1
	}
	return 0, false
}

// Terms walks through the dictionary in the order of bytes.
type Terms struct {
	reader *Reader
	cursor tableCursor
	offset uint64
	recent recentMasks
	term   Term
}

// Terms returns a walk. The walk is before the first term.
func (r *Reader) Terms() *Terms {
	t := new(Terms)
	t.Reset(r)
	return t
}

// Reset makes t a walk over the terms of r, before the first term.
func (t *Terms) Reset(r *Reader) {
	t.reader = r
	t.cursor.reset(r.terms)
}

// Next moves to the next term. It returns false at the end and after a fault.
func (t *Terms) Next() bool { return t.cursor.next() && t.decode() }

// Seek moves to the first term at or after key. It returns false without such a term, and after a fault.
func (t *Terms) Seek(key []byte) bool {
	// Places of lists are summed up from the beginning of the block.
	t.cursor.toBlock(key)
	same := 0
	for {
		reached, ok := t.cursor.skipToward(key, &same)
		if !ok || !t.decode() {
			return false
		}
		if reached {
			return true
		}
	}
}

// Key returns the current term, valid until the next move.
func (t *Terms) Key() []byte { return t.cursor.key }

// Term returns the posting lists of the current term, valid until the next move.
func (t *Terms) Term() *Term { return &t.term }

// Err returns the fault that ended the walk, or nil.
func (t *Terms) Err() error { return t.cursor.err }

func (t *Terms) decode() bool {
	d := decoder{b: t.cursor.rest}
	limit := uint64(t.reader.postings.Len())
	if t.cursor.at%tableBlock == 0 {
		t.offset, t.recent = d.number(limit), recentMasks{}
	}
	n := d.number(maxCode<<recentBits | 1<<recentBits - 1)
	code := n >> recentBits
	if n&(1<<recentBits-1) < recentCount {
		t.term.mask = t.recent.use(int(n & (1<<recentBits - 1)))
	} else {
		t.term.mask = t.recent.add(d.number(1<<len(t.reader.meta.fields) - 1))
	}
	d.bad = d.bad || t.term.mask == 0
	t.term.lists = grown(t.term.lists, bits.OnesCount64(t.term.mask))
	for i := range t.term.lists {
		l := &t.term.lists[i]
		*l = listRef{at: int(t.offset)}
		if i > 0 {
			code = d.number(maxCode)
		}
		l.df = int(code >> 1)
		if l.df == 1 {
			l.single.Ordinal = uint32(d.number(maxChunks))
			l.single.Frequency = 1
			if code&1 != 0 {
				l.single.Position = uint32(d.number(math.MaxUint32))
				continue
			}
			l.single.Frequency = uint32(d.number(math.MaxUint32))
		} else {
			l.postings = int(d.number(limit))
		}
		l.positions = int(d.number(limit))
		t.offset += uint64(l.postings + l.positions)
		if l.df == 0 || t.offset > limit {
			d.bad = true
		}
	}
	t.cursor.rest = d.b
	if d.bad {
		t.cursor.err = t.reader.file.Corrupt(sectionTerms, 0, "entry %d of %d", t.cursor.at, t.cursor.table.count)
		return false
	}
	return true
}

// Find moves to the term key. It returns false if the dictionary lacks the term, and after a fault.
func (t *Terms) Find(key []byte) bool {
	return t.Seek(key) && string(t.cursor.key) == string(key)
}

// List returns the verified posting list of a term in a field. If the parameter positions is set, the list includes the
// positions. If the field lacks the term, the list has no postings. Its slices are valid until Close of the reader.
func (r *Reader) List(t *Term, field int, positions bool) (postings.List, error) {
	ref := t.list(field)
	if ref == nil {
		return postings.List{}, nil
	}
	list := postings.List{DF: ref.df, Single: ref.single}
	var err error
	if list.Postings, err = r.postings.Slice(ref.at, ref.postings); err != nil {
		return postings.List{}, err
	}
	if positions {
		list.Positions, err = r.postings.Slice(ref.at+ref.postings, ref.positions)
	}
	return list, err
}

// Corrupt returns an error for an invalid posting list. The error wraps vfs.ErrCorrupt and names the file.
func (r *Reader) Corrupt(err error) error {
	return r.file.Corrupt(sectionPostings, 0, "%v", err)
}
