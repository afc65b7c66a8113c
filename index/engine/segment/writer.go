package segment

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/offheap"
)

// fileWriter writes the sections of a segment in their fixed order. finish returns the first error.
type fileWriter struct {
	path string
	kind string
	file *sectionfile.Writer
	meta meta
	err  error

	written int64

	terms   tableWriter
	offset  uint64 // start of the next list
	recent  recentMasks
	columns tableWriter
}

func createFile(fs vfs.FS, path, kind string) (*fileWriter, error) {
	file, err := sectionfile.Create(fs, path, kind, Version)
	if err != nil {
		return nil, err
	}
	return &fileWriter{path: path, kind: kind, file: file}, nil
}

func (w *fileWriter) fail(err error) {
	var named *fs.PathError
	switch {
	case w.err != nil || err == nil:
	case errors.As(err, &named): // an error of the file system, which names the file
		w.err = err
	default:
		w.err = fmt.Errorf("write %s: %w", w.path, err)
	}
}

// chooseLetters chooses the encoding (see letters) that makes the names of terms shortest. counts[b] is the number of
// bytes b in the names. A run has plain names, which are faster to read.
func (w *fileWriter) chooseLetters(counts *[256]int) {
	if w.meta.letters = newLetters(counts); w.kind != runKind {
		w.terms.letters = w.meta.letters
	}
}

func (w *fileWriter) begin(name string) { w.file.Begin(name) }

// write appends b to the open section of the file.
func (w *fileWriter) write(b []byte) {
	_, err := w.file.Write(b)
	w.fail(err)
	w.written += int64(len(b))
}

func (w *fileWriter) section(name string, data []byte) {
	w.begin(name)
	w.write(data)
}

// lengths writes the lengths of the fields and their statistics. lengths[f] has the lengths of fields[f] by ordinal. A
// length takes zero, one or two bytes for each chunk. The largest number of this size marks a longer length. Longer
// lengths follow at the end, each with its ordinal, 4 bytes for each number.
func (w *fileWriter) lengths(fields []string, lengths [][]uint32) {
	for f, name := range fields {
		field := Field{Name: name, width: lengthWidth(lengths[f])}
		w.meta.chunks = len(lengths[f])
		most := uint32(1)<<(8*field.width) - 1
		w.begin(sectionLengths + name)
		short := make([]byte, 0, field.width*len(lengths[f]))
		var long []byte
		for i, n := range lengths[f] {
			if n > 0 {
				field.Chunks++
				field.Tokens += int64(n)
			}
			for i := range field.width {
				short = append(short, byte(min(n, most)>>(8*i)))
			}
			if n >= most && n > 0 {
				long = binary.LittleEndian.AppendUint32(long, uint32(i))
				long = binary.LittleEndian.AppendUint32(long, n)
			}
		}
		w.write(short)
		w.write(long)
		w.meta.fields = append(w.meta.fields, field)
	}
}

// lengthWidth returns how many bytes a length takes. It returns 0 if few chunks have the field. It returns 2 if more
// than one length in 256 needs two bytes, because finding a longer length takes time. Otherwise it returns 1.
func lengthWidth(lengths []uint32) int {
	long, some := 0, 0
	for _, n := range lengths {
		if n > 0 {
			some++
		}
		if n >= LongByte {
			long++
		}
	}
	switch {
	case some <= len(lengths)/32:
		return 0
	case long > len(lengths)/256:
		return 2
	}
	return 1
}

func (w *fileWriter) identifiers(ids, docs []string) {
	w.meta.chunks = len(ids)
	var table tableWriter
	var places, numbers offheap.List[uint32]
	defer func() {
		table.free()
		places.Free()
		numbers.Free()
	}()
	places.Resize(len(ids))
	numbers.Resize(len(ids))
	order, ranks := places.Items, numbers.Items
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return strings.Compare(ids[i], ids[j]) })
	for rank, ordinal := range order {
		if rank > 0 && ids[order[rank-1]] == ids[ordinal] {
			w.fail(fmt.Errorf("chunk %q appears twice", ids[ordinal]))
			return
		}
		table.addNumber(ids[ordinal], int(ordinal))
		ranks[ordinal] = uint32(rank)
	}
	w.section(sectionIDs, table.finish())
	w.section(sectionRanks, appendRanks(nil, ranks))
	w.documents(ids, docs)
}

// documents writes a table with the chunks of each document. Chunk i has the identifier ids[i] and belongs to the
// document docs[i]. If every chunk is its own document, the table is empty, and readers use the table of identifiers.
// The chunks of a document are usually adjacent, so the method sorts runs of chunks instead of single chunks.
func (w *fileWriter) documents(ids, docs []string) {
	if slices.Equal(docs, ids) {
		w.meta.documents, docs = len(docs), nil
	}
	var begins []int // starts of the runs
	for i, doc := range docs {
		if i == 0 || docs[i-1] != doc {
			begins = append(begins, i)
		}
	}
	slices.SortFunc(begins, func(i, j int) int { return cmp.Or(strings.Compare(docs[i], docs[j]), i-j) })
	var table tableWriter
	defer table.free()
	var out runWriter
	for len(begins) > 0 {
		doc := docs[begins[0]]
		for out.reset(); len(begins) > 0 && docs[begins[0]] == doc; begins = begins[1:] {
			for i := begins[0]; i < len(docs) && docs[i] == doc; i++ {
				out.add(i)
			}
		}
		table.addRuns(doc, out.finish())
		w.meta.documents++
	}
	w.section(sectionDocs, table.finish())
}

func get24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// column writes the set of chunks that have the value key. It omits an empty set.
func (w *fileWriter) column(key string, runs []byte) {
	if len(runs) > 0 {
		w.columns.add(key, runs)
	}
}

func (w *fileWriter) endColumns() { w.section(sectionColumns, w.columns.finish()) }

// finish writes the description of the segment and closes the file. It syncs a segment, but not a run.
func (w *fileWriter) finish() error {
	w.terms.free()
	w.columns.free()
	if w.err == nil {
		w.section(sectionMeta, w.meta.encode())
	}
	if w.err != nil {
		return errors.Join(w.err, w.file.Abort())
	}
	if w.kind == runKind {
		return w.file.CloseUnsynced()
	}
	_, err := w.file.Close()
	return err
}
