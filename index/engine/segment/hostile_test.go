package segment

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"sheaf/index/engine/postings"
	"sheaf/index/engine/vector"
	"sheaf/index/vfs"
	"sheaf/internal/must"
)

// smallSegment writes a file with data of all kinds.
func smallSegment(t testing.TB, fs vfs.FS, path string) {
	t.Helper()
	b := NewBuilder([]string{"title", "body"})
	for i, id := range []string{"a", "a#1", "b"} {
		must.Do(t, must.Err(b.Begin(id, id[:1])))
		for p := range 3 + 150*i {
			addToken(b, 1, []byte{'a' + byte(p%7*(i+1))}, uint32(p))
		}
		addToken(b, 0, []byte("\x01as"), 0)
		addToken(b, 0, []byte("title"), 0)
		b.Mark(b.Column("n", Value{Kind: 2, Number: float64(i)}))
		b.Mark(b.Column("tag", Value{Kind: 1, IsText: true, Text: id}))
		must.Do(t, b.Vectors("v", [][]float32{{float32(i), 1}, {1, 0.5}}))
	}
	must.Do(t, Flush(fs, path, 0, b))
}

// sectionsOf returns the sections of a file.
func sectionsOf(t testing.TB, fs vfs.FS, path string) map[string][]byte {
	t.Helper()
	r := must.Get(Open(fs, path))
	defer r.Close()
	out := map[string][]byte{}
	for name, section := range r.sections {
		out[name] = slices.Clone(section.Bytes())
	}
	return out
}

// writeSections writes a file with valid checksums for any content.
func writeSections(t testing.TB, fs vfs.FS, path string, sections map[string][]byte) {
	t.Helper()
	w := must.Get(createFile(fs, path, kind))
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		w.section(name, sections[name])
	}
	must.Do(t, must.Err(w.file.Close()))
}

// FuzzSegment checks that no bytes of a section, under valid checksums, make a reader of a segment
// panic. A segment without faults must be mergeable.
func FuzzSegment(f *testing.F) {
	mem := vfs.NewMem()
	smallSegment(f, mem, "whole")
	whole := sectionsOf(f, mem, "whole")
	names := slices.Sorted(maps.Keys(whole))
	for i, name := range names {
		f.Add(byte(i), whole[name])
		f.Add(byte(i), whole[name][:len(whole[name])/2])
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		mem := vfs.NewMem()
		sections := maps.Clone(whole)
		name := names[int(which)%len(names)]
		sections[name] = data
		writeSections(t, mem, "s", sections)
		r, err := Open(mem, "s")
		if err != nil {
			must.That(t, errors.Is(err, vfs.ErrCorrupt), "section %s: %v", name, err)
			return
		}
		defer r.Close()
		if r.Chunks() > 1<<16 {
			return // more would only take time
		}
		faults := r.Check(context.Background())
		readAll(r)
		err = Merge(context.Background(), mem, "merged", 2, []Source{{Reader: r}}, nil)
		must.That(t, err == nil || len(faults) != 0 || r.Chunks() <= 0, "section %s: Check finds no fault, a merge %v", name,
			err)
	})
}

// readAll reads the content of a segment in all ways and ignores the results.
func readAll(r *Reader) {
	set := NewBitset(r.Chunks())
	for i := range r.Chunks() {
		_, _ = r.ID(nil, uint32(i))
	}
	_ = r.EachID(func([]byte, uint32) error { return nil })
	_ = EachShared(r, r, func(uint32, uint32) {})
	for _, id := range []string{"a", "a#1", "b", "c"} {
		_, _, _ = r.Find(id)
		_, _ = r.Document(set, id)
	}
	for _, column := range []string{"n", "tag"} {
		_ = r.ColumnExists(set, column)
		_ = r.ColumnEquals(set, column, Value{Kind: 2, Number: 1})
		_ = r.ColumnRange(set, column, 2, &Bound{Value: Value{Kind: 2, Number: 1}}, nil)
		for _, descending := range []bool{false, true} {
			_ = r.EachValue(column, descending, func(value []byte, _ []uint32) bool {
				_, _ = DecodeValue(value, column == "tag")
				return true
			})
		}
	}
	readLists(r)
	for _, v := range r.VectorFields() {
		_, _ = v.Count(set)
		query := make([]float32, v.Field().Dims)
		query[0] = 1
		for _, exact := range []bool{false, true} {
			_, _ = v.Search(context.Background(), nil, query, nil, 2, vector.Options{Exact: exact})
		}
	}
}

func readLists(r *Reader) {
	var c postings.Cursor
	var p postings.PositionReader
	for terms := r.Terms(); terms.Next(); {
		for f := range r.Fields() {
			list, err := r.List(terms.Term(), f, true)
			if err != nil {
				continue
			}
			lengths, err := r.Lengths(f)
			if err != nil {
				continue
			}
			seen := make([]bool, r.Chunks())
			for o := range lengths.All() {
				seen[o] = true
			}
			c.Reset(list, uint32(r.Chunks()))
			p.Reset(lengths.Of)
			for o := c.Seek(0); o != postings.End; o = c.Next() {
				_ = p.Append(nil, &c)
			}
		}
	}
}
