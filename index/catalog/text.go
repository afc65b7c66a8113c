package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"syscall"

	"sheaf"
	"sheaf/index/vfs"
)

// Text returns the whole text of a document as it was indexed. If the source file has the recorded size and
// modification time, Text trusts the file; otherwise Text compares the content. If the file has changed or is gone, the
// error is ErrStale. If the file cannot be read, the error is ErrUnread. The text is shared, so the caller must not
// change it.
func (v *View) Text(doc sheaf.ID) ([]byte, error) {
	if t, ok := v.texts.Get(doc); ok && t.file.matches(v.catalog.o.Source, t.name) {
		return t.text, nil
	}
	s, st, err := v.mustFind(doc)
	if err != nil {
		return nil, err
	}
	if st.text > 0 {
		text, err := s.readText(st)
		return text, translate(err)
	}
	name, err := v.Source(doc)
	if err != nil {
		return nil, err
	}
	if st.file.Size < 0 || st.file.Size > math.MaxInt {
		return nil, fmt.Errorf("%s: %w: %d bytes", name, sheaf.ErrUnsupported, st.file.Size)
	}
	text, same, err := readSource(v.catalog.o.Source, name, &st.file)
	if same && len(text) <= longestText {
		v.texts.Put(doc, sourceText{name, st.file, text}, int64(len(doc)+len(name)+len(text)))
	}
	return text, err
}

// longestText is the largest length in bytes of a text in the cache. A longer text would displace many others.
const longestText = 64 << 10

type sourceText struct {
	name string
	file FileState
	text []byte
}

// matches reports whether the file called name has the recorded size and modification time.
func (f *FileState) matches(source vfs.FS, name string) bool {
	info, err := source.Stat(name)
	return err == nil && f.sameTimes(info)
}

// sameTimes reports whether info has the recorded size and modification time.
func (f *FileState) sameTimes(info fs.FileInfo) bool {
	return info.Size() == f.Size && info.ModTime().UnixNano() == f.ModTime
}

// Unchanged reports whether the source file of a document still has the recorded size and modification time. If so,
// [View.Text] does not check the content of the file. A document with a stored text is always unchanged, an unknown
// document never.
func (v *View) Unchanged(doc sheaf.ID) bool {
	s, st, err := v.find(doc)
	if err != nil || s == nil {
		return false
	}
	if st.text > 0 {
		return true
	}
	name, err := v.Source(doc)
	if err != nil {
		return false
	}
	return st.file.matches(v.catalog.o.Source, name)
}

// readSource reads a source file. If the file has the recorded size and time, same is true, and readSource does not
// check the content. Otherwise it returns an error unless the content has the recorded hash.
func readSource(source vfs.FS, name string, recorded *FileState) (text []byte, same bool, err error) {
	f, err := openSource(source, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, false, stale(name, err)
	}
	if before.Size() != recorded.Size {
		return nil, false, fmt.Errorf("%s: %w: it has %d bytes, not %d", name, ErrStale, before.Size(), recorded.Size)
	}
	text = make([]byte, recorded.Size)
	if n, err := f.ReadAt(text, 0); n < len(text) {
		return nil, false, stale(name, err)
	}
	// The file may change while it is read, so the time after reading counts.
	after, err := f.Stat()
	switch {
	case err != nil:
		return nil, false, stale(name, err)
	case recorded.sameTimes(after):
		return text, true, nil
	case HashOf(text) == recorded.Hash:
		return text, false, nil
	}
	return nil, false, fmt.Errorf("%s: %w", name, ErrStale)
}

// openSource opens a source file. The error is ErrStale if there is no file, and ErrUnread if the file cannot be read
// now.
func openSource(source vfs.FS, name string) (vfs.File, error) {
	f, err := source.Open(name)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		for _, p := range placeholders {
			if _, fault := source.Stat(filepath.Join(filepath.Dir(name), p[0]+filepath.Base(name)+p[1])); fault == nil {
				return nil, fmt.Errorf("%s: %w: the file is only in the cloud, not on this disk", name, ErrUnread)
			}
		}
	}
	return nil, stale(name, err)
}

// Unreadable reports whether a source file exists but cannot be read now, for example in a cloud drive.
func Unreadable(source vfs.FS, name string) bool {
	f, err := openSource(source, name)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, ErrUnread)
}

// placeholders are prefixes and suffixes of file names. iCloud, Nextcloud and ownCloud use them for files whose content
// they have removed.
var placeholders = [...][2]string{{".", ".icloud"}, {"", ".nextcloud"}, {"", ".owncloud"}}

// Offloaded returns the original name of a file that a cloud drive replaced by this placeholder. If the name is not
// that of a placeholder, it returns "".
func Offloaded(placeholder string) string {
	for _, p := range placeholders {
		name, begins := strings.CutPrefix(placeholder, p[0])
		if name, ends := strings.CutSuffix(name, p[1]); begins && ends {
			return name
		}
	}
	return ""
}

// stale returns the error for a file that could not be read. If the file is gone or shorter, the error is ErrStale,
// otherwise ErrUnread.
func stale(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w: %w", name, ErrStale, err)
	}
	var fault *fs.PathError
	if errors.As(err, &fault) { // the path of fault is name
		err = fault.Err
	}
	return fmt.Errorf("%s: %w: %w", name, ErrUnread, err)
}

// Source returns the path of a document's source file. If the tree of the document has no folder, the error is
// sheaf.ErrNotFound. If the path leads out of the folder, the error is sheaf.ErrCorrupt.
func (v *View) Source(doc sheaf.ID) (string, error) {
	tree, file := doc.Tree(), doc.Path()
	root := v.payload.Settings.Root(tree)
	if root == "" {
		return "", fmt.Errorf("source of document %q: tree %q has no folder: %w", doc, tree, sheaf.ErrNotFound)
	}
	if file = filepath.FromSlash(file); !filepath.IsLocal(file) {
		return "", fmt.Errorf("source of document %q: %w: the path leads out of the tree's folder", doc, sheaf.ErrCorrupt)
	}
	return filepath.Join(root, file), nil
}

// Line returns the number of the line that contains a byte of text. Lines count from 1 and end with LF, CRLF or CR.
func Line(text []byte, at int) int {
	before := text[:min(at, len(text))]
	lines := 1 + bytes.Count(before, []byte{'\n'})
	for i := 0; ; {
		cr := bytes.IndexByte(before[i:], '\r')
		if cr < 0 {
			return lines
		}
		i += cr + 1
		if i == len(text) || text[i] != '\n' {
			lines++
		}
	}
}

// LineStart returns the offset at which a line, counted from 1, starts. If text has fewer lines, it returns len(text).
func LineStart(text []byte, line int) int {
	at := 0
	for n := 1; n < line && at < len(text); n++ {
		end := bytes.IndexAny(text[at:], "\r\n")
		if end < 0 {
			return len(text)
		}
		at += end + 1
		if text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	return at
}

// ChunkAt returns the deepest chunk whose heading or span contains the byte at offset at, or nil.
func ChunkAt(doc *sheaf.Document, at int) *sheaf.Chunk {
	var best *sheaf.Chunk
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		start := c.Span.Start
		if c.HasHeading() {
			start = c.Heading.Start
		}
		if start <= at && (at < c.Span.End || at == c.Span.End && c.Depth == 0) && len(c.Members) == 0 {
			best = c
		}
	}
	return best
}
