package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"time"
	"unsafe"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
)

// errChanging means that a file changed during each attempt to read it.
var errChanging = errors.New("the file changed while it was read")

// text returns data as a string. For a file, the string shares the memory of data, which never changes. For a given
// document it is a copy, because the program owns data.
func (it *item) text(data []byte) string {
	if it.given != nil {
		return string(data)
	}
	return unsafe.String(unsafe.SliceData(data), len(data))
}

// content reads the file of an item. For a given document, it returns the given text.
func (it *item) content() (content, error) {
	if it.given != nil {
		return it.given.content(), nil
	}
	return read(filepath.Join(it.root, filepath.FromSlash(it.path)), readAttempts)
}

// readAttempts is how often to read a file that changes during the read.
const readAttempts = 3

// content is the text of a file, with what is known about the file.
type content struct {
	data  []byte
	state catalog.FileState
	// modified is the modification time of the file. For a document from a program, it is the time that the program gave.
	// It is zero if unknown.
	modified time.Time
	// decoded says that data was converted to UTF-8 from another encoding, which note names.
	decoded bool
	note    string
}

// read reads a whole file. If the file changes meanwhile, it reads again, at most attempts times in all.
func read(name string, attempts int) (c content, err error) {
	if attempts == 0 {
		return c, errChanging
	}
	f, before, err := openFile(name)
	if err != nil {
		return c, err
	}
	defer f.Close()
	data := make([]byte, before.Size())
	_, err = io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) { // the file shrank
		return read(name, attempts-1)
	}
	if err != nil {
		return c, err
	}
	now := time.Now()
	after, err := f.Stat()
	if err != nil {
		return c, err
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return read(name, attempts-1)
	}
	c.data = data
	c.state = catalog.FileState{Size: after.Size(), ModTime: after.ModTime().UnixNano(), Hash: catalog.HashOf(data)}
	c.modified = after.ModTime()
	// A change within the clock's resolution may not show. A time without a fraction of a second may come from a file
	// system that counts whole seconds. A time far in the future comes from a program or a wrong clock.
	resolution := 20 * time.Millisecond
	if c.modified.Nanosecond() == 0 {
		resolution = 2 * time.Second
	}
	if now.Sub(c.modified).Abs() < resolution {
		c.state.ModTime = 0
	}
	return c, nil
}

// openFile opens a regular file and returns its properties. Anything else, such as a folder or a pipe, is an error.
func openFile(name string) (f vfs.File, info fs.FileInfo, err error) {
	if f, err = (vfs.Disk{}).Open(name); err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		_ = f.Close() // opened only for reading
		return nil, nil, err
	}
	return f, info, nil
}

// headBytes is the largest number of bytes at the start of a file that decide whether the file is text.
const headBytes = 8 << 10

// isBinary reports whether data is not text. It examines the first 8 KB, where zero bytes count as control characters.
// Data is binary in three cases:
//   - It begins like a known binary format.
//   - More than 10 % of the bytes are control characters.
//   - More than 2 % are control characters, and more than 20 % are not UTF-8.
//
// Random and compressed data has about 10 % control characters, and half of it is not UTF-8. Text in an older encoding
// may have many bytes that are not UTF-8, but no control characters.
func isBinary(data []byte) bool {
	begins := func(signature string) bool { return bytes.HasPrefix(data, []byte(signature)) }
	if slices.ContainsFunc(signatures, begins) || begins("%PDF-") && pdfSignature.Match(data[:min(len(data), 16)]) {
		return true
	}
	head := data[:min(len(data), headBytes)]
	control := 0
	for _, c := range head {
		if c < ' ' && (c < '\t' || c > '\r') && c != 0x1b {
			control++
		}
	}
	if control*50 <= len(head) {
		return false
	}
	return control*10 > len(head) || findFaults(head).invalid*5 > len(head)
}

// signatures are the first bytes of binary formats whose later bytes may look like text. Signatures
// of only letters are missing, because a note may begin with the same letters.
var signatures = []string{
	"\x89PNG\r\n\x1a\n", "\xff\xd8\xff" /* JPEG */, "\x1f\x8b\x08" /* gzip */, "PK\x03\x04" /* zip */, "\x7fELF",
	"\x28\xb5\x2f\xfd" /* zstd */, "\xfd7zXZ\x00", "BZh91AY&SY" /* bzip2 */, "7z\xbc\xaf\x27\x1c", "OggS\x00",
	"SQLite format 3\x00",
}

// pdfSignature matches the first line of a PDF file.
var pdfSignature = regexp.MustCompile(`^%PDF-\d\.\d[\r\n]`)

// Read returns the text of a file, as [Run] reads it. If there is no text to index, left has the reason and detail.
func Read(name string) (text []byte, left *catalog.Skip) {
	c, err := read(name, readAttempts)
	if err != nil {
		return nil, skipOf(err)
	}
	text, ok := Text(c.data)
	if !ok {
		return nil, &catalog.Skip{Reason: ReasonBinary}
	}
	return text, nil
}

// skipOf converts the error of reading a file to the reason and detail of a skipped file.
func skipOf(err error) *catalog.Skip {
	if errors.Is(err, errChanging) {
		return &catalog.Skip{Reason: ReasonChanging, Detail: err.Error()}
	}
	return &catalog.Skip{Reason: ReasonUnreadable, Detail: reasonOf(err)}
}
