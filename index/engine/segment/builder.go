package segment

import (
	"fmt"
	"slices"

	"sheaf/index/engine/postings"
	"sheaf/index/engine/vector"
	"sheaf/internal/offheap"
)

const maxChunks = postings.MaxOrdinal

// Builder gathers chunks in memory for [Flush] to write as a segment.
// A chunk is begun with Begin; Tokens, Mark and Vectors add to the chunk that
// was begun last. Forget ends it: most of its memory is not the garbage collector's.
// Not safe for concurrent use.
type Builder struct {
	fields []string

	texts  []occurrences        // by field
	names  names                // of terms
	sorted offheap.List[uint32] // the terms that the last flush knew, by name

	labels  offheap.Texts // of chunks and documents
	ids     offheap.List[string]
	docs    offheap.List[string]
	lengths []offheap.List[uint32] // [field][ordinal]
	dead    map[uint32]struct{}
	known   int                 // the chunks that byID and byDoc have: see know
	byID    map[string]uint32   // those that are left
	byDoc   map[string][]uint32 // ordinals as bounds of runs

	columns map[string]uint32 // number in runs
	runs    []runs
	key     []byte
	vectors map[string]*vector.Buffer
	heap    int64 // bytes of what the garbage collector owns: columns, and what know makes
}

// runs are ordinals as bounds of runs: start, end, start, end ...
type runs struct{ bounds []uint32 }

func (r *runs) add(ordinal uint32) {
	n := len(r.bounds)
	switch {
	case n > 0 && r.bounds[n-1] > ordinal: // there already
	case n > 0 && r.bounds[n-1] == ordinal:
		r.bounds[n-1]++
	default:
		r.bounds = append(r.bounds, ordinal, ordinal+1)
	}
}

// NewBuilder makes an empty builder for chunks with these text fields, at most
// MaxFields. The caller must not change the list.
func NewBuilder(fields []string) *Builder {
	b := &Builder{fields: fields}
	b.Forget()
	return b
}

// Reset makes b empty. It keeps the terms with their numbers for the chunks that come,
// which have most of them; the memory of occurrences is free for any builder.
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

// free gives back the memory of chunks that is not the garbage collector's.
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

// Forget makes b empty and gives its memory back.
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

// Begin begins a chunk and returns its ordinal. One with the same ID that was added
// before must have been removed: Flush fails otherwise. The error is ErrTooLarge: for too
// many chunks or occurrences, or too many terms since Forget.
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
	switch { // chunks of a document come one after another, mostly
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

// know makes byID and byDoc have all chunks that were begun. Most loads remove nothing
// of their own, and do without.
func (b *Builder) know() {
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

// Term is the number of a term of tokens inside this builder,
// valid until Forget. It is not empty.
func (b *Builder) Term(text []byte) uint32 {
	term, _ := b.names.number(text)
	return term
}

// A Token is an occurrence of a term.
type Token struct {
	// Term is its number, plus FormToken when it is that of a form, which begins
	// with FormMark.
	Term     uint32
	Position uint32
}

// FormToken marks a token that is a form: its occurrences are counted, but have no
// position and no part in the length of the field.
const FormToken = 1 << 31

// Tokens adds tokens to a field of the chunk that was begun last. Positions never fall
// within a field.
func (b *Builder) Tokens(field int, tokens []Token) {
	last := len(b.ids.Items) - 1
	b.texts[field].add(uint32(last), tokens)
	n := &b.lengths[field].Items[last]
	for _, t := range tokens {
		*n += 1 - t.Term>>31
	}
}

// Column is the number of a value of a column inside this builder, which Mark takes,
// valid until Reset.
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

// Mark gives a value of a column to the chunk that was begun last.
func (b *Builder) Mark(column uint32) {
	r := &b.runs[column]
	before := cap(r.bounds)
	r.add(uint32(len(b.ids.Items) - 1))
	b.heap += int64(cap(r.bounds)-before) * 4
}

// Vectors adds the passages of the chunk that was begun last to a vector field.
// All passages of a field have the same number of dimensions.
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

// RemoveChunk removes a chunk that was added before, if there is one.
func (b *Builder) RemoveChunk(id string) {
	b.know()
	if ordinal, ok := b.byID[id]; ok {
		b.dead[ordinal] = struct{}{}
		delete(b.byID, id)
	}
}

// RemoveDocument removes every chunk of a document that was added before.
func (b *Builder) RemoveDocument(doc string) {
	b.know()
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

// Len is the number of chunks that the segment will have.
func (b *Builder) Len() int { return len(b.ids.Items) - len(b.dead) }

// TermBytes is about how much memory the terms take.
func (b *Builder) TermBytes() int64 { return b.names.bytes() + b.sorted.Bytes() }

// Empty reports whether nothing was begun since Reset.
func (b *Builder) Empty() bool { return len(b.ids.Items) == 0 }

// Bytes is about how much memory the builder takes, with what Flush takes beside it.
func (b *Builder) Bytes() int64 {
	return b.held() + b.flushing() + garbage*b.heap
}

// garbage is how many times its size something takes of the machine that is the garbage
// collector's: its heap grows to twice what lives in it.
const garbage = 2

// held is the memory that b takes which is not the garbage collector's.
func (b *Builder) held() int64 {
	n := b.names.bytes() + b.sorted.Bytes() + b.labels.Bytes() + b.ids.Bytes() + b.docs.Bytes()
	for f := range b.texts {
		n += int64(b.texts[f].count())*4 + b.lengths[f].Bytes()
	}
	for _, v := range b.vectors {
		n += v.Bytes()
		if len(b.dead) > 0 { // then those that are left are copied
			n += v.Bytes()
		}
	}
	return n
}

// What Flush takes for a term, beside four bytes for each field with text: what the
// dictionary has of it with about half its name; for a chunk, beside four bytes a
// field when builders are joined: its identifiers with their order and ranks.
const (
	flushTerm  = 24
	flushChunk = 48
)

// flushing is about how much memory Flush takes beside that of the builder.
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

// sortTerms puts all terms into sorted: those that came since the last time are
// sorted and merged with the others.
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
