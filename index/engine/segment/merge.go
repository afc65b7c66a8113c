package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"sheaf/index/vfs"
	"sheaf/internal/offheap"
)

// Source is a segment to merge. The merge omits the chunks in Deleted, which may be nil.
type Source struct {
	Reader  *Reader
	Deleted Bitset
}

// Merge joins several segment files into one file. It keeps the order of chunks and leaves out deleted ones; at least
// one chunk must be left. An identifier must not be in two sources.
//
// goroutines is the number of goroutines that encode posting lists in parallel. When ctx is done, Merge stops, removes
// the file and returns the error of ctx. If pause is not nil, Merge calls it from time to time with the number of
// bytes written so far. pause may block.
func Merge(ctx context.Context, fs vfs.FS, path string, goroutines int, sources []Source,
	pause func(ctx context.Context, written int64) error) error {
	w, err := createFile(fs, path, kind)
	if err != nil {
		return err
	}
	m := merger{ctx: ctx, pause: pause, file: w, goroutines: goroutines}
	defer m.free()
	for _, s := range sources {
		m.add(s)
	}
	if m.total == 0 {
		w.fail(errors.New("merge segments without chunks"))
	}
	steps := []func() error{m.lengths, m.postings, m.identifiers, m.columns, m.vectors}
	for _, step := range steps {
		if w.err == nil {
			w.fail(ctx.Err())
		}
		if w.err == nil {
			w.fail(step())
		}
	}
	return w.finish()
}

type merger struct {
	ctx     context.Context
	pause   func(ctx context.Context, written int64) error
	file    *fileWriter
	inputs  []*input
	total   int // chunks of the result
	fields  []string
	byField [][]uint32             // lengths of the result
	memory  []offheap.List[uint32] // the slices of numbers, to free at the end
	steps   int
	// goroutines is the number of goroutines that encode lists in parallel.
	goroutines int
}

// input is a source of a merge, with the new ordinals of its chunks.
type input struct {
	Source
	base    uint32
	remap   []uint32                      // nil: add base
	fields  []int                         // index in the source of each field of the result, -1 for none
	length  []func(ordinal uint32) uint32 // by field of the result
	cursor  tableCursor
	more    bool
	ordinal uint32 // new ordinal of the cursor's chunk
}

func (m *merger) add(s Source) {
	in := &input{Source: s, base: uint32(m.total)}
	n := s.Reader.Chunks()
	live := n
	if s.Deleted != nil && s.Deleted.Count() > 0 {
		in.remap = make([]uint32, n)
		live = 0
		for i := range in.remap {
			in.remap[i] = dropped
			if !s.Deleted.Has(uint32(i)) {
				in.remap[i] = in.base + uint32(live)
				live++
			}
		}
	}
	m.total += live
	m.inputs = append(m.inputs, in)
	for _, f := range s.Reader.Fields() {
		if !slices.Contains(m.fields, f.Name) {
			m.fields = append(m.fields, f.Name)
		}
	}
}

// numbers returns a slice of zeros, one for each chunk of the merged segment. It is valid until a call of free.
func (m *merger) numbers() []uint32 {
	m.memory = append(m.memory, offheap.List[uint32]{})
	list := &m.memory[len(m.memory)-1]
	list.Make(m.total)
	return list.Items
}

func (m *merger) free() {
	for i := range m.memory {
		m.memory[i].Free()
	}
}

// newOrdinal returns the ordinal of a chunk in the merged segment, or the constant dropped for a deleted chunk.
func (in *input) newOrdinal(ordinal uint32) uint32 {
	if in.remap == nil {
		return in.base + ordinal
	}
	return in.remap[ordinal]
}

// breathe calls callPause once in 1024 calls, because callPause takes time.
func (m *merger) breathe() error {
	m.steps++
	if m.steps%1024 != 0 {
		return nil
	}
	return m.callPause()
}

// callPause calls the function pause of the merge, which may block or return an error to stop the merge.
func (m *merger) callPause() error {
	if m.pause != nil {
		if err := m.pause(m.ctx, m.file.written); err != nil {
			return err
		}
	}
	return m.ctx.Err()
}

func (m *merger) lengths() error {
	if m.total > maxChunks {
		return ErrTooLarge
	}
	m.byField = make([][]uint32, len(m.fields))
	for f, name := range m.fields {
		m.byField[f] = m.numbers()
		for _, in := range m.inputs {
			local := in.Reader.Field(name)
			in.fields, in.length = append(in.fields, local), append(in.length, nil)
			if local < 0 {
				continue
			}
			lengths, err := in.Reader.Lengths(local)
			if err != nil {
				return err
			}
			in.length[f] = lengths.Of
			for i := range in.Reader.Chunks() {
				if to := in.newOrdinal(uint32(i)); to != dropped {
					m.byField[f][to] = lengths.Of(uint32(i))
				}
			}
		}
	}
	return nil
}

// identifiers merges the tables of identifiers and of documents, in the order of their keys. It has only one merged
// table in memory at a time.
func (m *merger) identifiers() error {
	var ids tableWriter
	defer ids.free()
	ranks := m.numbers()
	for i := range ranks {
		ranks[i] = dropped
	}
	for _, in := range m.inputs {
		in.cursor.reset(in.Reader.ids)
		if err := in.nextLive(); err != nil {
			return err
		}
	}
	for in := m.smallest(); in != nil; in = m.smallest() {
		id := string(in.cursor.key)
		if ids.count > 0 && id == string(ids.last) {
			return fmt.Errorf("chunk %q appears twice", id)
		}
		if ranks[in.ordinal] != dropped {
			return in.Reader.file.Corrupt(sectionIDs, 0, "%q is the identifier of a chunk that has another", id)
		}
		ranks[in.ordinal] = uint32(ids.count)
		ids.addNumber(id, int(in.ordinal))
		if err := errors.Join(in.nextLive(), m.breathe()); err != nil {
			return err
		}
	}
	if ids.count < m.total {
		return m.inputs[0].Reader.file.Corrupt(sectionIDs, 0, "%d identifiers of %d chunks, with those of other segments",
			ids.count, m.total)
	}
	m.file.meta.chunks = m.total
	m.file.section(sectionIDs, ids.finish())
	ids.free() // otherwise they would take memory beside the documents
	m.file.section(sectionRanks, appendRanks(nil, ranks))
	var docs tableWriter
	defer docs.free()
	if !slices.ContainsFunc(m.inputs, func(in *input) bool { return in.Reader.docs.count > 0 }) {
		m.file.meta.documents = m.total
		m.file.section(sectionDocs, docs.finish())
		return nil
	}
	err := m.mergeRuns(sectionDocs, (*Reader).documents, func(doc string, runs []byte) {
		if len(runs) > 0 {
			docs.addRuns(doc, runs)
			m.file.meta.documents++
		}
	})
	m.file.section(sectionDocs, docs.finish())
	return err
}

// smallest returns the input whose current key is smallest. It returns nil if all inputs are at their ends.
func (m *merger) smallest() *input {
	var least *input
	for _, in := range m.inputs {
		if in.more && (least == nil || bytes.Compare(in.cursor.key, least.cursor.key) < 0) {
			least = in
		}
	}
	return least
}

// nextLive moves to the next identifier of a chunk that is not deleted. At the end, it sets in.more to false.
func (in *input) nextLive() error {
	for in.more = in.cursor.next(); in.more; in.more = in.cursor.next() {
		ordinal, err := in.Reader.ordinalAt(&in.cursor)
		if err != nil {
			return err
		}
		if in.ordinal = in.newOrdinal(ordinal); in.ordinal != dropped {
			return nil
		}
	}
	return in.cursor.err
}

func (m *merger) columns() error {
	err := m.mergeRuns(sectionColumns, func(r *Reader) *table { return r.columns }, m.file.column)
	m.file.endColumns()
	return err
}

// mergeRuns merges one table of all inputs. In this table, each key has runs of ordinals. tableOf returns the table
// from a reader. For each key, mergeRuns calls add with the new ordinals of the chunks that were not dropped. section
// is the name of the section with the table.
func (m *merger) mergeRuns(section string, tableOf func(*Reader) *table, add func(key string, runs []byte)) error {
	for _, in := range m.inputs {
		in.cursor.reset(tableOf(in.Reader))
		in.more = in.cursor.next()
	}
	var out runWriter
	for least := m.smallest(); least != nil; least = m.smallest() {
		key := string(least.cursor.key)
		out.reset()
		for _, in := range m.inputs {
			if !in.more || string(in.cursor.key) != key {
				continue
			}
			if !in.cursor.eachRun(in.Reader.Chunks(), func(start, end int) {
				for i := start; i < end; i++ {
					if to := in.newOrdinal(uint32(i)); to != dropped {
						out.add(int(to))
					}
				}
			}) {
				return in.Reader.file.Corrupt(section, 0, "the chunks of %q", key)
			}
			in.more = in.cursor.next()
		}
		add(key, out.finish())
		if err := m.breathe(); err != nil {
			return err
		}
	}
	var faults []error
	for _, in := range m.inputs {
		faults = append(faults, in.cursor.err)
	}
	return errors.Join(faults...)
}
