package segment

import (
	"context"
	"errors"
	"slices"
	"sync"

	"sheaf/index/engine/vector"
	"sheaf/index/vfs"
	"sheaf/internal/offheap"
)

// Flush writes the chunks of builders as one segment file and syncs the file. The chunks of a builder come after the
// chunks of the builder before. All builders must have the same fields. Identifiers must be unique, and at least one
// chunk must not be removed. Flush fails with ErrTooLarge if one segment cannot hold all chunks, and never changes the
// builders. It uses up to spare bytes more memory than Builder.Bytes reports. More memory makes it faster.
func Flush(fs vfs.FS, path string, spare int64, builders ...*Builder) error {
	return flush(fs, path, kind, spare, builders)
}

func flush(fs vfs.FS, path, kind string, spare int64, builders []*Builder) error {
	f := flusher{spare: spare}
	defer f.free()
	for _, b := range builders {
		if len(b.names.list.Items) > noTerm {
			return ErrTooLarge
		}
		f.add(b)
	}
	switch {
	case f.chunks == 0:
		return errors.New("flush a segment without chunks")
	case f.chunks > maxChunks:
		return ErrTooLarge
	}
	var err error
	if f.file, err = createFile(fs, path, kind); err != nil {
		return err
	}
	// Measuring only reads vectors, and takes about as long as the postings.
	fields := f.vectorFields()
	var measuring sync.WaitGroup
	measuring.Go(func() {
		for i := range fields {
			fields[i].measure(kind != runKind)
		}
	})
	lengths := f.lengths()
	f.postings(lengths)
	f.file.lengths(f.parts[0].fields, lengths)
	f.identifiers()
	f.columns()
	measuring.Wait()
	for _, v := range fields {
		f.file.fail(v.err)
		f.file.vectors(v.name, v.depth, v.parts)
	}
	return f.file.finish()
}

type flusher struct {
	parts  []flushPart
	chunks int // of the segment
	spare  int64
	file   *fileWriter

	byField   []offheap.List[uint32] // lengths
	ids, docs offheap.List[string]
	kept      []*vector.Buffer
}

func (f *flusher) free() {
	for i := range f.parts {
		f.parts[i].inversion.free()
	}
	for i := range f.byField {
		f.byField[i].Free()
	}
	f.ids.Free()
	f.docs.Free()
	for _, v := range f.kept {
		v.Free()
	}
}

// flushPart is a builder that Flush writes, with the new ordinals of its chunks.
type flushPart struct {
	*Builder
	base  uint32 // ordinal of its first chunk
	live  int    // number of remaining chunks
	remap []uint32

	inversion *inversion
}

const dropped = 1<<32 - 1

func (f *flusher) add(b *Builder) {
	p := flushPart{Builder: b, base: uint32(f.chunks)}
	p.remap, p.live = b.remap()
	if p.live == 0 {
		return
	}
	f.chunks += p.live
	f.parts = append(f.parts, p)
}

// remap returns the new ordinals of the chunks that are not removed, and the number of these chunks. If none was
// removed, the new ordinals are nil.
func (b *Builder) remap() (remap []uint32, live int) {
	if len(b.dead) == 0 {
		return nil, len(b.ids.Items)
	}
	remap = make([]uint32, len(b.ids.Items))
	for i := range remap {
		if _, dead := b.dead[uint32(i)]; dead {
			remap[i] = dropped
			continue
		}
		remap[i] = uint32(live)
		live++
	}
	return remap, live
}

// newOrdinal returns the ordinal of a chunk in the segment, or the constant dropped for a removed chunk.
func (p *flushPart) newOrdinal(ordinal uint32) uint32 {
	if p.remap != nil {
		if ordinal = p.remap[ordinal]; ordinal == dropped {
			return dropped
		}
	}
	return p.base + ordinal
}

// live returns the data of all chunks that are not removed, as one slice. The parameter dataOf returns the data of one
// builder, by ordinal. live copies the data to out. For a single builder without removed chunks, live returns the
// builder's own slice instead.
func live[T any](f *flusher, out *offheap.List[T], dataOf func(*Builder) []T) []T {
	if p := &f.parts[0]; len(f.parts) == 1 && p.remap == nil {
		return dataOf(p.Builder)
	}
	out.Grow(f.chunks)
	for i := range f.parts {
		out.Items = appendLive(out.Items, dataOf(f.parts[i].Builder), f.parts[i].remap)
	}
	return out.Items
}

// appendLive appends to out the elements of list whose chunks are not removed. remap comes from the method remap.
func appendLive[T any](out, list []T, remap []uint32) []T {
	if remap == nil {
		return append(out, list...)
	}
	for i, v := range list {
		if remap[i] != dropped {
			out = append(out, v)
		}
	}
	return out
}

func (f *flusher) lengths() [][]uint32 {
	out := make([][]uint32, len(f.parts[0].fields))
	f.byField = make([]offheap.List[uint32], len(out))
	for field := range out {
		out[field] = live(f, &f.byField[field], func(b *Builder) []uint32 { return b.lengths[field].Items })
	}
	return out
}

func (f *flusher) identifiers() {
	f.file.identifiers(live(f, &f.ids, func(b *Builder) []string { return b.ids.Items }),
		live(f, &f.docs, func(b *Builder) []string { return b.docs.Items }))
}

func (f *flusher) columns() {
	var keys []string
	for _, p := range f.parts {
		for key := range p.Builder.columns {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var out runWriter
	for _, key := range slices.Compact(keys) {
		out.reset()
		for i := range f.parts {
			p := &f.parts[i]
			n, ok := p.Builder.columns[key]
			if !ok {
				continue
			}
			bounds := p.runs[n].bounds
			for b := 0; b < len(bounds); b += 2 {
				for o := bounds[b]; o < bounds[b+1]; o++ {
					if to := p.newOrdinal(o); to != dropped {
						out.add(int(to))
					}
				}
			}
		}
		f.file.column(key, out.finish())
	}
	f.file.endColumns()
}

// flushField is one vector field of several builders.
type flushField struct {
	name  string
	parts []vectorPart
	depth vector.Depth
	err   error
}

// vectorFields returns the vector fields of all builders, sorted by name.
func (f *flusher) vectorFields() []flushField {
	var names []string
	for _, p := range f.parts {
		for name, v := range p.vectors {
			if v.Len() > 0 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	var fields []flushField
	for _, name := range slices.Compact(names) {
		field := flushField{name: name}
		for _, p := range f.parts {
			v := p.vectors[name]
			if v == nil || v.Len() == 0 {
				continue
			}
			if p.remap != nil {
				v = v.Kept(func(owner uint32) (uint32, bool) { return p.remap[owner], p.remap[owner] != dropped })
				f.kept = append(f.kept, v)
			}
			field.parts = append(field.parts, vectorPart{set: v.Set(p.live), base: p.base})
		}
		fields = append(fields, field)
	}
	return fields
}

// measure checks that the parts of the field fit together. If depth is set, it then measures the field's depth for
// searches; see [vector.Depth].
func (f *flushField) measure(depth bool) {
	var parts []vector.Part
	for _, p := range f.parts {
		if p.set.Encoder != f.parts[0].set.Encoder {
			f.err = errors.New("vectors of one field have different numbers of dimensions")
			return
		}
		parts = append(parts, vector.Part{Set: p.set})
	}
	if !depth {
		return
	}
	f.depth, f.err = vector.Measure(context.Background().Err, parts, 0)
}
