package ingest

import (
	"context"
	"errors"
	"strings"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/chunk"
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

// IsText reports whether the values of the property called name are text to search: not a
// field of their own, and not access rights. Values in a map belong to the property that
// holds the map.
func IsText(name string) bool {
	property, _, _ := strings.Cut(name, ".")
	return !chunk.IsFieldProperty(name) && !chunk.IsAccessProperty(property)
}

// Embed gives the entries of one document their vectors: passages of the text,
// each under the titles above it, and the title.
func Embed(ctx context.Context, e model.Embedder, doc *sheaf.Document, entries []store.Chunk) error {
	return embed(ctx, e, doc, chunksOf(doc), entries, "")
}

// Read returns the text of a file, as [Run] reads it. left has the reason and detail when it
// has none.
func Read(name string) (text []byte, left *catalog.Skip) {
	c, err := read(name)
	if err != nil {
		return nil, skipOf(err)
	}
	text, ok := Text(c.data)
	if !ok {
		return nil, &catalog.Skip{Reason: ReasonBinary}
	}
	return text, nil
}

// skipOf returns the reason and detail for a file that could not be read.
func skipOf(err error) *catalog.Skip {
	if errors.Is(err, errChanging) {
		return &catalog.Skip{Reason: ReasonChanging, Detail: err.Error()}
	}
	return &catalog.Skip{Reason: ReasonUnreadable, Detail: reasonOf(err)}
}

// Text returns the text of a file's content as [Run] reads it, in UTF-8; ok is false when
// the content is no text.
func Text(content []byte) (text []byte, ok bool) {
	text, _, ok = decode(content)
	return text, ok
}
