package segment

import (
	"fmt"
	"slices"

	"sheaf/index/engine/postings"
	"sheaf/index/engine/vector"
	"sheaf/internal/offheap"
)

const maxChunks = postings.MaxOrdinal

// Builder collects chunks in memory. [Flush] writes them as a segment. Begin begins a chunk; Tokens, Mark and Vectors
// add to this chunk. Call Forget at the end, because most memory of a builder is outside the garbage collector. A
// Builder is not safe for concurrent use.
type Builder struct {
	fields []string

	texts  []occurrences        // by field
	names  names                // of terms
	sorted offheap.List[uint32] // terms of the last flush, sorted by name

	labels  offheap.Texts // IDs of chunks and documents
	ids     offheap.List[string]
	docs    offheap.List[string]
	lengths []offheap.List[uint32] // [field][ordinal]
	dead    map[uint32]struct{}
	known   int                 // number of chunks in byID and byDoc: see addToMaps
	byID    map[string]uint32   // remaining chunks
	byDoc   map[string][]uint32 // bounds of runs of ordinals

	columns map[string]uint32 // value to its index in runs
	runs    []runs
	key     []byte
	vectors map[string]*vector.Buffer
	heap    int64 // bytes owned by the garbage collector: columns, byID and byDoc
}

// runs is a set of ordinals. bounds has the start and end of each run of adjacent ordinals: start, end, start, end ...
type runs struct{ bounds []uint32 }

func (r *runs) add(ordinal uint32) {
	n := len(r.bounds)
	switch {
	case n > 0 && r.bounds[n-1] > ordinal: // already there
	case n > 0 && r.bounds[n-1] == ordinal:
		r.bounds[n-1]++
	default:
		r.bounds = append(r.bounds, ordinal, ordinal+1)
	}
}

// NewBuilder returns an empty builder for chunks with these text fields, at most MaxFields. The caller must not change
// the parameter fields.
func NewBuilder(fields []string) *Builder {
	b := &Builder{fields: fields}
	b.Forget()
	return b
}

// Reset empties b, but keeps the terms and their numbers, because later chunks use most of them again. It releases the
// memory of the occurrences.
func (b *Builder) Reset() {
	b.free()
	b.known, b.heap = 0, 0
	clear(b.byID)
	clear(b.byDoc)
	clear(b.dead)
	clear(b.columns)
	clear(b.runs)
	b.runs = b.runs[:0]
}

// free releases the memory that b has outside the garbage-collected heap.
func (b *Builder) free() {
	for f := range b.texts {
		b.texts[f].free()
		b.lengths[f].Free()
	}
	b.labels.Free()
	b.ids.Free()
	b.docs.Free()
	for _, v := range b.vectors {
		v.Free()
	}
}

// Forget empties b and releases its memory.
func (b *Builder) Forget() {
	b.free()
	b.names.free()
	b.sorted.Free()
	*b = Builder{
		fields:  b.fields,
		byID:    map[string]uint32{},
		byDoc:   map[string][]uint32{},
		dead:    map[uint32]struct{}{},
		columns: map[string]uint32{},
		vectors: map[string]*vector.Buffer{},
		texts:   make([]occurrences, len(b.fields)),
		lengths: make([]offheap.List[uint32], len(b.fields)),
	}
}

// Begin begins a chunk and returns its ordinal. If an earlier chunk has the same ID and was not removed, Flush fails
// later. If the builder has too many chunks, occurrences or terms, the error is ErrTooLarge.
func (b *Builder) Begin(id, doc string) (uint32, error) {
	if len(b.ids.Items) >= maxChunks || len(b.names.list.Items) > maxTerms {
		return 0, ErrTooLarge
	}
	for f := range b.texts {
		if b.texts[f].count() > maxOccurrences {
			return 0, ErrTooLarge
		}
	}
	n := len(b.docs.Items)
	b.key = append(b.key[:0], id...)
	b.ids.Add(b.labels.Add(b.key))
	switch { // chunks of a document are usually adjacent
	case doc == id:
		b.docs.Add(b.ids.Items[n])
	case n > 0 && b.docs.Items[n-1] == doc:
		b.docs.Add(b.docs.Items[n-1])
	default:
		b.key = append(b.key[:0], doc...)
		b.docs.Add(b.labels.Add(b.key))
	}
	for f := range b.lengths {
		b.lengths[f].Add(0)
	}
	return uint32(n), nil
}

// addToMaps adds all chunks to the maps byID and byDoc, which only removals need. Few loads remove their own chunks.
func (b *Builder) addToMaps() {
	for ; b.known < len(b.ids.Items); b.known++ {
		i := b.known
		id, doc := b.ids.Items[i], b.docs.Items[i]
		b.byID[id] = uint32(i)
		members := runs{b.byDoc[doc]}
		members.add(uint32(i))
		b.byDoc[doc] = members.bounds
		b.heap += 90
	}
}

// Term returns the number of a term in this builder, valid until Forget. text must not be empty.
func (b *Builder) Term(text []byte) uint32 {
	term, _ := b.names.number(text)
	return term
}

// A Token is one occurrence of a term in a text.
type Token struct {
	// Term is the number of the term. For a form (see FormMark), FormToken is added to the number.
	Term     uint32
	Position uint32
}

// FormToken marks a token that is a form. Forms have counts but no positions, and do not add to the field's length.
const FormToken = 1 << 31

// Tokens adds tokens to a field of the current chunk. Positions must not decrease within a field.
func (b *Builder) Tokens(field int, tokens []Token) {
	last := len(b.ids.Items) - 1
	b.texts[field].add(uint32(last), tokens)
	n := &b.lengths[field].Items[last]
	for _, t := range tokens {
		*n += 1 - t.Term>>31
	}
}

// Column returns the number of a value of a column, for use with Mark. The number is valid until Reset.
func (b *Builder) Column(name string, v Value) uint32 {
	b.key = appendValue(appendColumn(b.key[:0], name), v)
	n, ok := b.columns[string(b.key)]
	if !ok {
		n = uint32(len(b.runs))
		b.columns[string(b.key)] = n
		b.runs = append(b.runs, runs{})
		b.heap += int64(len(b.key)) + 96
	}
	return n
}

// Mark gives the current chunk a value of a column. The parameter column is the number of the value, which the method
// Column returned.
func (b *Builder) Mark(column uint32) {
	r := &b.runs[column]
	before := cap(r.bounds)
	r.add(uint32(len(b.ids.Items) - 1))
	b.heap += int64(cap(r.bounds)-before) * 4
}

// Vectors adds the passages of the current chunk to a vector field. It fails if their numbers of dimensions differ from
// those of earlier passages of the field.
func (b *Builder) Vectors(name string, passages [][]float32) error {
	for _, p := range passages {
		v := b.vectors[name]
		if (v == nil || v.Len() == 0 && v.Dims() != len(p)) && len(p) >= 1 && len(p) <= vector.MaxDims {
			v = vector.NewBuffer(len(p))
			b.vectors[name] = v
		}
		if v == nil || len(p) != v.Dims() {
			return fmt.Errorf("vector field %q: a passage has %d dimensions, must be those of others, within 1..%d", name,
				len(p), vector.MaxDims)
		}
		v.Add(uint32(len(b.ids.Items)-1), p)
	}
	return nil
}

// RemoveChunk removes the earlier chunk with this ID, if there is one.
func (b *Builder) RemoveChunk(id string) {
	b.addToMaps()
	if ordinal, ok := b.byID[id]; ok {
		b.dead[ordinal] = struct{}{}
		delete(b.byID, id)
	}
}

// RemoveDocument removes every earlier chunk of a document.
func (b *Builder) RemoveDocument(doc string) {
	b.addToMaps()
	bounds := b.byDoc[doc]
	for i := 0; i < len(bounds); i += 2 {
		for ordinal := bounds[i]; ordinal < bounds[i+1]; ordinal++ {
			b.dead[ordinal] = struct{}{}
			if id := b.ids.Items[ordinal]; b.byID[id] == ordinal {
				delete(b.byID, id)
			}
		}
	}
	delete(b.byDoc, doc)
}

// Len returns how many chunks are not removed.
func (b *Builder) Len() int { return len(b.ids.Items) - len(b.dead) }

// TermBytes returns the approximate memory of the terms, in bytes.
func (b *Builder) TermBytes() int64 { return b.names.bytes() + b.sorted.Bytes() }

// Empty reports whether no chunk has begun since Reset.
func (b *Builder) Empty() bool { return len(b.ids.Items) == 0 }

// Bytes returns roughly how much memory the builder takes, in bytes, with the memory that Flush will need.
func (b *Builder) Bytes() int64 {
	return b.offHeapBytes() + b.flushing() + garbage*b.heap
}

// garbage is the factor for memory on the garbage-collected heap, which grows to twice the live memory.
const garbage = 2

func (b *Builder) offHeapBytes() int64 {
	n := b.names.bytes() + b.sorted.Bytes() + b.labels.Bytes() + b.ids.Bytes() + b.docs.Bytes()
	for f := range b.texts {
		n += int64(b.texts[f].count())*4 + b.lengths[f].Bytes()
	}
	for _, v := range b.vectors {
		n += v.Bytes()
		if len(b.dead) > 0 { // then the remaining ones are copied
			n += v.Bytes()
		}
	}
	return n
}

// These are the bytes of memory that Flush needs, besides those that the method flushing adds:
//   - flushTerm for the dictionary entry of each term
//   - flushChunk for the identifiers of each chunk, with their order and ranks
const (
	flushTerm  = 24
	flushChunk = 48
)

// flushing returns roughly how many bytes of memory Flush needs, besides the memory of the builder. Each field with
// text adds four bytes for each term and for each chunk.
func (b *Builder) flushing() int64 {
	occurrences, fields := int64(0), int64(0)
	for f := range b.texts {
		if n := int64(b.texts[f].count()); n > 0 {
			occurrences += n
			fields++
		}
	}
	made := madeBytes * min(occurrences, max(occurrences/rounds, roundOccurrences)+occurrences/16)
	terms := int64(len(b.names.list.Items))*(flushTerm+4*fields) + b.names.texts.Bytes()/2
	chunks := int64(len(b.ids.Items))*(flushChunk+4*fields) + b.labels.Bytes()
	return max(made+terms, chunks)
}

// sortTerms sorts the new terms and merges them into the list sorted.
func (b *Builder) sortTerms() {
	list := b.names.list.Items
	known := len(b.sorted.Items)
	var memory offheap.List[sortName]
	defer memory.Free()
	memory.Resize(len(list) - known)
	added := memory.Items
	for i := range added {
		added[i] = sortNameOf(list[known+i], uint32(known+i))
	}
	slices.SortFunc(added, b.names.compare)
	b.sorted.Grow(len(added))
	sorted := b.sorted.Items[:len(list)]
	b.sorted.Items = sorted
	for at := len(sorted); len(added) > 0; {
		at--
		last := added[len(added)-1]
		if known > 0 && list[sorted[known-1]] > list[last.number] {
			known--
			sorted[at] = sorted[known]
			continue
		}
		sorted[at] = last.number
		added = added[:len(added)-1]
	}
}
