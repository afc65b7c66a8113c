package segment

import (
	"fmt"
	"slices"

	"sheaf/engine/postings"
	"sheaf/engine/vector"
)

const maxChunks = postings.MaxOrdinal

// Builder gathers chunks in memory for [Flush] to write as a segment.
// A chunk is begun with Begin; Tokens, Mark and Vectors add to the chunk that
// was begun last. Not safe for concurrent use.
type Builder struct {
	fields []string

	texts     []occurrences // by field
	names     names         // of terms
	termBytes int64
	sorted    []uint32 // the terms that the last flush knew, by name

	ids     []string
	docs    []string
	lengths [][]uint32 // [field][ordinal]
	dead    map[uint32]struct{}
	known   int                 // the chunks that byID and byDoc have: see know
	byID    map[string]uint32   // those that are left
	byDoc   map[string][]uint32 // ordinals as bounds of runs

	columns map[string]uint32 // number in runs
	runs    []runs
	key     []byte
	vectors map[string]*vector.Buffer
	bytes   int64 // of everything but texts and terms
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
	for f := range b.fields {
		b.texts[f].reset()
		b.lengths[f] = b.lengths[f][:0]
	}
	clear(b.ids)
	clear(b.docs)
	b.ids, b.docs, b.known = b.ids[:0], b.docs[:0], 0
	clear(b.byID)
	clear(b.byDoc)
	clear(b.dead)
	clear(b.columns)
	clear(b.runs)
	b.runs = b.runs[:0]
	for _, v := range b.vectors {
		v.Reset()
	}
	b.bytes = 0
}

// Forget makes b empty and gives its memory back.
func (b *Builder) Forget() {
	*b = Builder{
		fields:  b.fields,
		byID:    map[string]uint32{},
		byDoc:   map[string][]uint32{},
		dead:    map[uint32]struct{}{},
		columns: map[string]uint32{},
		vectors: map[string]*vector.Buffer{},
		texts:   make([]occurrences, len(b.fields)),
		lengths: make([][]uint32, len(b.fields)),
	}
}

// Begin begins a chunk and returns its ordinal. One with the same ID that was added
// before must have been removed: Flush fails otherwise. The error is ErrTooLarge: for too
// many chunks or occurrences, or too many terms since Forget.
func (b *Builder) Begin(id, doc string) (uint32, error) {
	if len(b.ids) >= maxChunks || len(b.names.list) > maxTerms {
		return 0, ErrTooLarge
	}
	for f := range b.texts {
		if b.texts[f].count() > maxOccurrences {
			return 0, ErrTooLarge
		}
	}
	b.ids, b.docs = append(b.ids, id), append(b.docs, doc)
	for f := range b.lengths {
		b.lengths[f] = append(b.lengths[f], 0)
	}
	b.bytes += int64(len(id)+len(doc)) + 40 + int64(4*len(b.fields))
	return uint32(len(b.ids) - 1), nil
}

// know makes byID and byDoc have all chunks that were begun. Most loads remove nothing
// of their own, and do without.
func (b *Builder) know() {
	for ; b.known < len(b.ids); b.known++ {
		i := b.known
		b.byID[b.ids[i]] = uint32(i)
		members := runs{b.byDoc[b.docs[i]]}
		members.add(uint32(i))
		b.byDoc[b.docs[i]] = members.bounds
		b.bytes += 90
	}
}

// Term is the number of a term of tokens inside this builder,
// valid until Forget. It is not empty.
func (b *Builder) Term(text []byte) uint32 {
	term, added := b.names.number(text)
	if added {
		b.termBytes += int64(len(text)) + nameBytes
	}
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
	last := len(b.ids) - 1
	b.texts[field].add(uint32(last), tokens)
	for _, t := range tokens {
		b.lengths[field][last] += 1 - t.Term>>31
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
		b.bytes += int64(len(b.key)) + 96
	}
	return n
}

// Mark gives a value of a column to the chunk that was begun last.
func (b *Builder) Mark(column uint32) {
	r := &b.runs[column]
	before := cap(r.bounds)
	r.add(uint32(len(b.ids) - 1))
	b.bytes += int64(cap(r.bounds)-before) * 4
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
			return fmt.Errorf("vector field %q: a passage has %d dimensions, must be those of others, within 1..%d", name, len(p), vector.MaxDims)
		}
		v.Add(uint32(len(b.ids)-1), p)
		b.bytes += int64(vector.Padded(len(p))*9/8) + 8
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
			if b.byID[b.ids[ordinal]] == ordinal {
				delete(b.byID, b.ids[ordinal])
			}
		}
	}
	delete(b.byDoc, doc)
}

// Len is the number of chunks that the segment will have.
func (b *Builder) Len() int { return len(b.ids) - len(b.dead) }

// TermBytes is about how much memory the terms take.
func (b *Builder) TermBytes() int64 { return b.termBytes }

// Empty reports whether nothing was begun since Reset.
func (b *Builder) Empty() bool { return len(b.ids) == 0 }

// Bytes is about how much memory the builder takes.
func (b *Builder) Bytes() int64 {
	n := 0
	for f := range b.texts {
		n += b.texts[f].count()
	}
	return b.termBytes + b.bytes + int64(n)*occurrenceBytes
}

// sortTerms puts all terms into sorted: those that came since the last time are
// sorted and merged with the others.
func (b *Builder) sortTerms() {
	list := b.names.list
	known := len(b.sorted)
	added := make([]sortName, 0, len(list)-known)
	for t := known; t < len(list); t++ {
		added = append(added, sortNameOf(list[t], uint32(t)))
	}
	slices.SortFunc(added, b.names.compare)
	b.sorted = slices.Grow(b.sorted, len(added))[:len(list)]
	for at := len(b.sorted); len(added) > 0; {
		at--
		last := added[len(added)-1]
		if known > 0 && list[b.sorted[known-1]] > list[last.number] {
			known--
			b.sorted[at] = b.sorted[known]
			continue
		}
		b.sorted[at] = last.number
		added = added[:len(added)-1]
	}
}
