package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"sheaf/index/vfs"
)

// Walk is what walking a folder found, for more than one use.
type Walk struct {
	root  string
	found *walked
}

// NewWalk walks a folder. Only a root that cannot be read is an error.
func NewWalk(ctx context.Context, root string, o WalkOptions) (*Walk, error) {
	w, err := walk(ctx, root, o)
	return &Walk{root, w}, err
}

// Sample returns the beginnings, of at most size bytes each, of at most n documents spread
// evenly over the folder, as [Run] would read them. Each ends with a line feed; other
// encodings become UTF-8, and invalid bytes spaces. It leaves out files that cannot be read
// or are no text.
func (w *Walk) Sample(n, size int) string {
	var sample strings.Builder
	buffer := make([]byte, max(size, headBytes))
	files := w.found.files
	n = min(n, len(files))
	for i := range n {
		head, err := readHead(filepath.Join(w.root, filepath.FromSlash(files[i*len(files)/n].path)), buffer)
		if err != nil {
			continue
		}
		text, ok := Text(head)
		if !ok {
			continue
		}
		sample.Write(bytes.ToValidUTF8(text[:min(len(text), size)], []byte(" ")))
		sample.WriteByte('\n')
	}
	return sample.String()
}

// Bounds of what is read to detect the language of a folder.
const (
	languageFiles = 40
	languageBytes = 4 << 10
)

// LanguageSample returns the sample that the language of the folder is detected from.
func (w *Walk) LanguageSample() string { return w.Sample(languageFiles, languageBytes) }

// readHead reads the beginning of a file into buffer.
func readHead(name string, buffer []byte) ([]byte, error) {
	f, err := vfs.Disk{}.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(f, buffer)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buffer[:n], err
}
