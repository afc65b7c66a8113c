package sectionfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"sheaf/index/vfs"
)

// Writer writes a section file from front to back: Begin and any number of Writes for each section, then Close. Not
// safe for concurrent use. Close returns the first error.
type Writer struct {
	fs      vfs.FS
	path    string
	file    vfs.File
	buf     *bufio.Writer
	pos     uint64
	entries []entry
	open    bool   // a section is being written
	sums    []byte // the checksums of its whole pages
	sum     uint32 // checksum of the unfinished page
	err     error
}

// Create begins a file with content of this kind (at most 16 bytes of ASCII) and version.
func Create(fs vfs.FS, path, kind string, version uint32) (*Writer, error) {
	if len(kind) == 0 || len(kind) > kindBytes {
		return nil, fmt.Errorf("create %s: kind %q must have 1 to %d bytes", path, kind, kindBytes)
	}
	file, err := fs.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{fs: fs, path: path, file: file, buf: bufio.NewWriterSize(file, 1<<18)}
	header := make([]byte, headerBytes)
	copy(header, magic)
	binary.LittleEndian.PutUint32(header[8:], Version)
	binary.LittleEndian.PutUint32(header[12:], version)
	copy(header[16:16+kindBytes], kind)
	binary.LittleEndian.PutUint32(header[headerBytes-4:], Checksum(header[:headerBytes-4]))
	w.put(header)
	return w, nil
}

func (w *Writer) put(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.buf.Write(b); err != nil {
		w.err = err
		return
	}
	w.pos += uint64(len(b))
}

// Begin ends the previous section and begins a section with this name. Begin returns no error. Close returns an error
// for a repeated or invalid name, and for a failed write.
func (w *Writer) Begin(name string) {
	w.end()
	w.open = true
	if w.err == nil && (len(name) == 0 || len(name) > maxName || len(w.entries) >= maxSections) {
		w.err = fmt.Errorf("write %s: section name %q: must have 1 to %d bytes, of at most %d sections", w.path, name,
			maxName, maxSections)
	}
	for _, e := range w.entries {
		if e.name == name && w.err == nil {
			w.err = fmt.Errorf("write %s: section %q is written twice", w.path, name)
		}
	}
	var zeros [alignment]byte
	if rest := w.pos % alignment; rest != 0 {
		w.put(zeros[:alignment-rest])
	}
	w.entries = append(w.entries, entry{name: name, offset: w.pos})
}

// Write appends to the section that Begin began. It implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	if w.err == nil && !w.open {
		w.err = fmt.Errorf("write %s: no section was begun", w.path)
	}
	if w.err != nil {
		return 0, w.err
	}
	w.put(b)
	if w.err != nil {
		return 0, w.err
	}
	length := &w.entries[len(w.entries)-1].length
	for rest := b; len(rest) > 0; {
		n := min(len(rest), pageBytes-int(*length%pageBytes))
		w.sum = crc32.Update(w.sum, castagnoli, rest[:n])
		rest = rest[n:]
		if *length += uint64(n); *length%pageBytes == 0 {
			w.endPage()
		}
	}
	return len(b), nil
}

func (w *Writer) endPage() {
	w.sums = binary.LittleEndian.AppendUint32(w.sums, w.sum)
	w.sum = 0
}

// end ends the open section: it writes the lists of checksums.
func (w *Writer) end() {
	if !w.open {
		return
	}
	e := &w.entries[len(w.entries)-1]
	if e.length%pageBytes != 0 {
		w.endPage()
	}
	switch list := w.sums; {
	case e.length > pageBytes:
		w.put(list)
		for len(list) > pageBytes {
			var above []byte
			for page := range slices.Chunk(list, pageBytes) {
				above = binary.LittleEndian.AppendUint32(above, Checksum(page))
			}
			w.put(above)
			list = above
		}
		e.checksum = Checksum(list)
	case e.length > 0:
		e.checksum = binary.LittleEndian.Uint32(list)
	}
	w.open, w.sums = false, w.sums[:0]
}

// Section writes a whole section.
func (w *Writer) Section(name string, data []byte) {
	w.Begin(name)
	_, _ = w.Write(data) // Close returns the error
}

// Offset returns the number of bytes in the open section so far.
func (w *Writer) Offset() int64 {
	if !w.open {
		return 0
	}
	return int64(w.entries[len(w.entries)-1].length)
}

// Close writes the table of contents, and syncs and closes the file. If there was an error, Close removes the file.
// Close does not sync the folder; see vfs.FS.SyncDir.
func (w *Writer) Close() (size int64, err error) { return w.close(w.file.Sync) }

// CloseUnsynced does what Close does, but does not sync the file. It is for files that are not needed after a crash.
func (w *Writer) CloseUnsynced() error {
	_, err := w.close(func() error { return nil })
	return err
}

func (w *Writer) close(sync func() error) (size int64, err error) {
	w.end()
	var table []byte
	le := binary.LittleEndian
	for _, e := range w.entries {
		table = le.AppendUint64(table, e.offset)
		table = le.AppendUint64(table, e.length)
		table = le.AppendUint32(table, e.checksum)
		table = le.AppendUint32(table, uint32(len(e.name)))
		table = append(table, e.name...)
	}
	footer := le.AppendUint64(nil, w.pos)
	footer = le.AppendUint32(footer, uint32(len(w.entries)))
	footer = le.AppendUint32(footer, Checksum(table))
	footer = le.AppendUint32(footer, 0)
	footer = append(footer, magic...)
	footer = le.AppendUint32(footer, Checksum(footer))
	w.put(table)
	w.put(footer)
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	if w.err == nil {
		w.err = sync()
	}
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		return 0, errors.Join(w.err, w.fs.Remove(w.path))
	}
	return int64(w.pos), nil
}

// Abort closes and removes the file.
func (w *Writer) Abort() error {
	return errors.Join(w.file.Close(), w.fs.Remove(w.path))
}
