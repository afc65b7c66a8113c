package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/catalog"
	"sheaf/chunk"
	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/cmd/sheaf/internal/suggest"
	"sheaf/serve"
)

// documents is what addresses are resolved in; a snapshot of the catalog
// meets it.
type documents interface {
	Document(id sheaf.ID) (sheaf.Document, bool)
	Chunk(id sheaf.ID) (sheaf.Chunk, bool)
}

// address is what a person typed to name a part of a document: an identifier,
// path, path#heading, path:line or path:line:count.
type address struct {
	id sheaf.ID // as typed
	// path and the rest are how the text reads as a path.
	path     string
	fragment string
	line     int // from 1, 0 for none
	count    int // lines, 0 for the whole part
}

// parseAddresses returns every way to read text, the likeliest first: names of
// files may hold '#' and ':' themselves.
func parseAddresses(text string) []address {
	readings := []address{{id: sheaf.ID(text), path: text}}
	if i := strings.LastIndexByte(text, '#'); i > 0 {
		readings = append(readings, address{path: text[:i], fragment: text[i+1:]})
	}
	if path, number, ok := cutNumber(text); ok {
		readings = append(readings, address{path: path, line: number})
		if shorter, line, ok := cutNumber(path); ok {
			readings = append(readings, address{path: shorter, line: line, count: number})
		}
	}
	return readings
}

// cutNumber splits "a:12" at its last colon.
func cutNumber(text string) (before string, number int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	if err != nil || n < 1 {
		return "", 0, false
	}
	return text[:i], n, true
}

// target is a part of a document that an address names.
type target struct {
	doc   sheaf.Document
	chunk sheaf.Chunk
	// line and count ask for lines of the file instead of the chunk, when
	// count is above 0.
	line, count int
}

// resolver finds what addresses name. Paths are relative to folder first,
// then to the root of any tree.
type resolver struct {
	documents documents
	trees     []catalog.Tree
	folder    string
	// read gives the text of a document.
	read func(doc sheaf.ID) ([]byte, error)
	// paths are the documents' paths, for suggestions.
	paths func() []string
}

// resolve finds what text names. An address that names nothing is
// sheaf.ErrNotFound, with the nearest path or heading as a hint.
func (r *resolver) resolve(text string) (target, error) {
	var missed *sheaf.Document
	for _, a := range parseAddresses(text) {
		if a.id != "" {
			if c, ok := r.documents.Chunk(a.id); ok {
				doc, _ := r.documents.Document(c.Doc)
				return target{doc: doc, chunk: c}, nil
			}
		}
		doc, ok := r.document(a.path)
		if !ok {
			continue
		}
		missed = &doc
		switch {
		case a.fragment != "":
			if c, ok := findHeading(&doc, a.fragment); ok {
				return target{doc: doc, chunk: c}, nil
			}
		case a.line > 0:
			content, err := r.read(doc.ID)
			if err != nil {
				return target{}, err
			}
			c, ok := chunkAtLine(&doc, content, a.line)
			if ok {
				return target{doc: doc, chunk: c, line: a.line, count: a.count}, nil
			}
			return target{}, fmt.Errorf("%w: %s has %d lines, not %d", sheaf.ErrNotFound, doc.Path, lineCount(content), a.line)
		case len(doc.Chunks) > 0:
			return target{doc: doc, chunk: doc.Chunks[0]}, nil
		}
	}
	return target{}, r.notFound(text, missed)
}

func (r *resolver) document(path string) (sheaf.Document, bool) {
	if path == "" {
		return sheaf.Document{}, false
	}
	if doc, ok := r.documents.Document(sheaf.ID(path)); ok {
		return doc, true
	}
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(r.folder, path)
	}
	for _, tree := range r.trees {
		for _, candidate := range []string{full, filepath.Join(tree.Root, path)} {
			if rel, ok := collection.Under(tree.Root, candidate); ok {
				for _, id := range []sheaf.ID{sheaf.DocumentID(tree.Name, rel), sheaf.ID(tree.Name + ":" + rel)} {
					if doc, ok := r.documents.Document(id); ok {
						return doc, true
					}
				}
			}
		}
	}
	return sheaf.Document{}, false
}

func (r *resolver) notFound(text string, doc *sheaf.Document) error {
	err := fmt.Errorf("%w: nothing is called %q", sheaf.ErrNotFound, text)
	if doc != nil {
		var slugs []string
		for i := range doc.Chunks {
			if doc.Chunks[i].Slug != "" {
				slugs = append(slugs, doc.Chunks[i].Slug)
			}
		}
		fragment := text[strings.LastIndexByte(text, '#')+1:]
		if near := suggest.Nearest(chunk.Slug(fragment), slugs); near != "" {
			return withHint(err, "did you mean %s#%s?", doc.Path, near)
		}
		return withHint(err, "the headings of %s are %s", doc.Path, strings.Join(slugs[:min(len(slugs), 20)], ", "))
	}
	path, _, _ := strings.Cut(text, "#")
	if near := nearestPath(path, r.paths()); near != "" {
		return withHint(err, "did you mean %s?", near)
	}
	return withHint(err, "give an identifier, path, path#heading, path:line or path:line:count; sheaf ls lists the documents")
}

// nearestPath prefers a document of the same name in another folder.
func nearestPath(path string, paths []string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, p := range paths {
		base := strings.ToLower(filepath.Base(p))
		if base == name || strings.TrimSuffix(base, filepath.Ext(base)) == name {
			return p
		}
	}
	return suggest.Nearest(path, paths)
}

// findHeading finds the chunk of doc that fragment names: by slug, by the rest
// of its identifier, or by title.
func findHeading(doc *sheaf.Document, fragment string) (sheaf.Chunk, bool) {
	bySlug := func(slug string) int {
		return slices.IndexFunc(doc.Chunks, func(c sheaf.Chunk) bool { return slug != "" && c.Slug == slug })
	}
	i := slices.IndexFunc(doc.Chunks, func(c sheaf.Chunk) bool { return c.ID == sheaf.ChunkID(doc.ID, fragment) })
	if i < 0 {
		i = bySlug(strings.ToLower(fragment))
	}
	if i < 0 {
		i = slices.IndexFunc(doc.Chunks, func(c sheaf.Chunk) bool { return c.HasHeading && strings.EqualFold(c.Title, fragment) })
	}
	if i < 0 {
		i = bySlug(chunk.Slug(fragment))
	}
	if i < 0 {
		return sheaf.Chunk{}, false
	}
	return doc.Chunks[i], true
}

// chunkAtLine is the deepest chunk on the line; false when the file has fewer
// lines.
func chunkAtLine(doc *sheaf.Document, content []byte, line int) (sheaf.Chunk, bool) {
	if line > lineCount(content) {
		return sheaf.Chunk{}, false
	}
	c := catalog.ChunkAt(doc, catalog.LineStart(content, line))
	if c == nil {
		return sheaf.Chunk{}, false
	}
	return *c, true
}

// wholeSpan is a chunk's span with its heading.
func wholeSpan(c *sheaf.Chunk) sheaf.Span { return serve.WholeSpan(c) }

func lineCount(content []byte) int {
	n := bytes.Count(content, []byte{'\n'}) + bytes.Count(content, []byte{'\r'}) - bytes.Count(content, []byte("\r\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' && content[len(content)-1] != '\r' {
		n++
	}
	return n
}

// linesOf is count lines of content from line on.
func linesOf(content []byte, line, count int) sheaf.Span {
	return sheaf.Span{Start: catalog.LineStart(content, line), End: catalog.LineStart(content, line+count)}
}
