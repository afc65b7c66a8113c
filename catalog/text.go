package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/s2"

	"sheaf"
)

// maxText bounds what a stored text may unpack to.
const maxText = 1 << 30

// Text returns the whole text of a document, as it was indexed. When its source
// file has the size and the modification time that were recorded it is trusted;
// else its content decides. The error wraps ErrStale when the file is another by
// now, or gone.
func (v *View) Text(doc sheaf.ID) ([]byte, error) {
	r, err := v.Record(doc)
	if err != nil {
		return nil, err
	}
	if r.HasText {
		return v.storedText(doc)
	}
	name, err := v.Source(doc)
	if err != nil {
		return nil, err
	}
	source := v.catalog.o.Source
	f, err := source.Open(name)
	if err != nil {
		return nil, stale(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stale(name, err)
	}
	if info.Size() != r.File.Size {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, not %d", name, ErrStale, info.Size(), r.File.Size)
	}
	text := make([]byte, r.File.Size)
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, stale(name, err)
	}
	if info.ModTime().UnixNano() != r.File.ModTime && HashOf(text) != r.File.Hash {
		return nil, fmt.Errorf("%s: %w", name, ErrStale)
	}
	return text, nil
}

// stale says of a file that cannot be read that it is not what was indexed.
func stale(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w: %w", name, ErrStale, err)
	}
	return fmt.Errorf("read %s: %w", name, err)
}

func (v *View) storedText(doc sheaf.ID) ([]byte, error) {
	s, i, err := v.find(doc)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("document %q: %w", doc, sheaf.ErrNotFound)
	}
	e, err := s.entry(i)
	if err != nil {
		return nil, translate(err)
	}
	if n, err := s2.DecodedLen(e.text); err != nil || n > maxText {
		return nil, translate(s.r.Corrupt(sectionRecords, 0, "the text of %s cannot be unpacked", doc))
	}
	text, err := s2.Decode(nil, e.text)
	if err != nil {
		return nil, translate(s.r.Corrupt(sectionRecords, 0, "the text of %s: %v", doc, err))
	}
	return text, nil
}

// Source is the name of a document's source file. The error wraps
// sheaf.ErrNotFound when its tree has no folder.
func (v *View) Source(doc sheaf.ID) (string, error) {
	tree, file, _ := strings.Cut(string(doc), ":")
	root := v.payload.Settings.Root(tree)
	if root == "" {
		return "", fmt.Errorf("source of document %q: tree %q has no folder: %w", doc, tree, sheaf.ErrNotFound)
	}
	return filepath.Join(root, filepath.FromSlash(file)), nil
}

// Line is the number, from 1, of the line on which a byte of text stands. Lines
// end with LF, CRLF, or a CR that no LF follows.
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

// LineStart is the first byte of the line with this number, from 1; the length
// of text when it has fewer lines.
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

// ChunkAt is the deepest chunk of a document whose heading or span holds a byte;
// nil when none does.
func ChunkAt(doc *sheaf.Document, at int) *sheaf.Chunk {
	var best *sheaf.Chunk
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		start := c.Span.Start
		if c.HasHeading {
			start = c.Heading.Start
		}
		if start <= at && (at < c.Span.End || at == c.Span.End && c.Depth == 0) && len(c.Members) == 0 {
			best = c
		}
	}
	return best
}
