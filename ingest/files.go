package ingest

import (
	"context"
	"time"

	"sheaf"
	"sheaf/backend"
	"sheaf/catalog"
	"sheaf/inference"
)

// File is a document's file.
type File struct {
	// Path is relative to the folder, slashes between its parts.
	Path    string
	Bytes   int64
	ModTime time.Time
}

// Files lists the documents below root, by path, with what was left out and
// why: the files that [Run] would index, without an index. Only a root that
// cannot be read is an error.
func Files(ctx context.Context, root string, o WalkOptions) (files []File, skipped []catalog.Skip, err error) {
	w, err := walk(ctx, root, o)
	if err != nil {
		return nil, nil, err
	}
	files = make([]File, len(w.files))
	for i, f := range w.files {
		files[i] = File{f.path, f.size, time.Unix(0, f.modTime)}
	}
	return files, w.skipped, nil
}

// Entries are what a backend indexes of the chunks of a document, as [Run]
// writes them, without vectors.
func Entries(doc *sheaf.Document, content []byte, date sheaf.Dated) []backend.Chunk {
	return entries(doc, content, date)
}

// Embed gives the entries of one document their vectors: passages of the text,
// each under the titles above it, and the title.
func Embed(ctx context.Context, e inference.Embedder, doc *sheaf.Document, entries []backend.Chunk) error {
	return embed(ctx, e, doc, entries)
}

// Text is the text of a file's content as [Run] reads it: UTF-16 with a byte
// order mark becomes UTF-8; ok is false for what is no text.
func Text(content []byte) (text []byte, ok bool) {
	if text, ok := decodeUTF16(content); ok {
		return text, true
	}
	return content, !isBinary(content)
}
