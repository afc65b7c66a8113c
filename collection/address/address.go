// Package address finds the document, or its part, that a text names by identifier, path, heading or line.
package address

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/internal/suggest"
	"sheaf/text/chunk"
)

// Documents finds documents and chunks by ID. A snapshot of the catalog implements Documents.
type Documents interface {
	Document(id sheaf.ID) (sheaf.Document, bool)
	Chunk(id sheaf.ID) (sheaf.Chunk, bool)
}

// meaning is one possible meaning of an address. It may be an identifier, path, path#heading, path:line or
// path:line:count.
type meaning struct {
	id sheaf.ID // the identifier as typed
	// path is the document's path, if the address is a path. The fields below are what follows the path.
	path     string
	fragment string
	line     int // the first line, from 1; 0 for none
	count    int // how many lines; 0 for the whole part
}

// maxFragments is the largest number of '#' that Resolve tries as the end of the path, the last one first. Several are
// possible, because a path or a heading may contain '#'.
const maxFragments = 8

// readings returns every meaning that text may have, likeliest first. There may be several, because file names may
// contain '#' and ':'.
func readings(text string) []meaning {
	all := []meaning{{id: sheaf.ID(text), path: text}}
	for i, n := strings.LastIndexByte(text, '#'), 0; i > 0 && n < maxFragments; i,
		n = strings.LastIndexByte(text[:i], '#'), n+1 {
		all = append(all, meaning{path: text[:i], fragment: text[i+1:]})
	}
	if path, number, ok := cutNumber(text); ok {
		all = append(all, meaning{path: path, line: number})
		if shorter, line, ok := cutNumber(path); ok {
			all = append(all, meaning{path: shorter, line: line, count: number})
		}
	}
	return all
}

// cutNumber splits text at its last colon and parses the number after the colon: "a:12" gives "a" and 12. ok is false
// if no number of at least 1 follows, or nothing precedes the colon.
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

// Target is the part of a document that an address names.
type Target struct {
	Doc   sheaf.Document
	Chunk sheaf.Chunk
	// If Count is above 0, the target is Count lines of the document from Line on, not the chunk. Line counts from 1.
	Line, Count int
}

// Resolver resolves addresses. It tries a path relative to Folder, then to the root of each tree, then absolute.
type Resolver struct {
	Documents Documents
	Trees     []catalog.Tree
	Folder    string
	// Read returns the text of a document.
	Read func(doc sheaf.ID) ([]byte, error)
	// Paths returns the paths of all documents, for hints.
	Paths func() []string
	// Follow returns the target of a wiki link in the document source. If Follow is nil, wiki links are not resolved.
	// Documents must know the returned document.
	Follow func(source sheaf.ID, link sheaf.Link) (sheaf.ID, bool)
}

// NotFound means that an address names nothing. It wraps sheaf.ErrNotFound.
type NotFound struct {
	// Text is the address. Hint is an existing address that the caller may have meant.
	Text, Hint string
	// Unlike means that no existing name is similar to Text. A list of the existing names then helps more than Hint.
	Unlike bool
}

// Error names the address.
func (e *NotFound) Error() string {
	return fmt.Sprintf("%v: nothing is called %q", sheaf.ErrNotFound, e.Text)
}

// Unwrap returns sheaf.ErrNotFound.
func (e *NotFound) Unwrap() error { return sheaf.ErrNotFound }

// Resolve finds the part of a document that text names. If there is no such part, the error is a [NotFound], with the
// nearest path or heading as a hint.
func (r *Resolver) Resolve(text string) (Target, error) {
	var missed *sheaf.Document
	for _, a := range readings(text) {
		if a.id != "" {
			if c, ok := r.Documents.Chunk(a.id); ok {
				doc, _ := r.Documents.Document(c.Doc)
				return Target{Doc: doc, Chunk: c}, nil
			}
		}
		doc, ok := r.document(a.path)
		if !ok {
			continue
		}
		missed = &doc
		switch {
		case a.fragment != "":
			if c, ok := Heading(&doc, a.fragment); ok {
				return r.place(doc, c, a.fragment), nil
			}
		case a.line > 0:
			content, err := r.Read(doc.ID)
			if err != nil {
				return Target{}, err
			}
			if a.line <= LineCount(content) {
				if c := catalog.ChunkAt(&doc, catalog.LineStart(content, a.line)); c != nil {
					return Target{Doc: doc, Chunk: *c, Line: a.line, Count: a.count}, nil
				}
			}
			return Target{}, fmt.Errorf("%w: %s has %d lines, not %d", sheaf.ErrNotFound, doc.Path, LineCount(content), a.line)
		case len(doc.Chunks) > 0:
			return Target{Doc: doc, Chunk: *doc.Part(doc.ID)}, nil
		}
	}
	if missed == nil {
		t, doc := r.link(text)
		if doc == nil && len(t.Doc.Chunks) > 0 {
			return t, nil
		}
		missed = doc
	}
	return Target{}, r.notFound(text, missed)
}

// link resolves text as a wiki link, with or without brackets: a note, and perhaps a heading or block. If all of it
// exists, t is the target. If the note exists but lacks the heading or block, t is empty and missed is the note. If the
// note does not exist, t is empty and missed is nil.
func (r *Resolver) link(text string) (t Target, missed *sheaf.Document) {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "!"), "[["), "]]")
	text, _, _ = strings.Cut(text, "|")
	name, fragment, _ := strings.Cut(text, "#")
	if r.Follow == nil || name == "" {
		return Target{}, nil
	}
	for _, tree := range r.Trees {
		id, ok := r.Follow(sheaf.DocumentID(tree.Name, ""),
			sheaf.Link{Kind: sheaf.LinkWiki, Target: name, Fragment: fragment})
		if !ok {
			continue
		}
		c, ok := r.Documents.Chunk(id)
		if doc, whole := r.Documents.Document(id); !ok && whole && len(doc.Chunks) > 0 { // a document in pieces
			c, ok = *doc.Part(id), true
		}
		if ok {
			doc, _ := r.Documents.Document(c.Doc)
			if _, holds := Heading(&doc, fragment); fragment != "" && c.ID == doc.ID && !holds {
				return Target{}, &doc
			}
			return r.place(doc, c, fragment), nil
		}
	}
	return Target{}, nil
}

// place returns the target that fragment names in the chunk c. If fragment is the name of a block, such as "^name", the
// target is the lines of the block. Otherwise the target is the whole chunk.
func (r *Resolver) place(doc sheaf.Document, c sheaf.Chunk, fragment string) Target {
	t := Target{Doc: doc, Chunk: c}
	name, block := strings.CutPrefix(fragment, "^")
	if !block {
		return t
	}
	content, err := r.Read(doc.ID)
	if err != nil || c.Span.End > len(content) {
		return t
	}
	if first, last, ok := chunk.BlockLines(string(content), name); ok {
		t.Line, t.Count = first, last-first+1
	}
	return t
}

func (r *Resolver) document(path string) (sheaf.Document, bool) {
	if path == "" {
		return sheaf.Document{}, false
	}
	if doc, ok := r.Documents.Document(sheaf.ID(path)); ok {
		return doc, true
	}
	for _, tree := range r.Trees {
		for _, rel := range r.relative(tree.Root, path) {
			for _, id := range []sheaf.ID{sheaf.ID(tree.Name + ":" + rel), sheaf.DocumentID(tree.Name, rel)} {
				if doc, ok := r.Documents.Document(id); ok {
					return doc, true
				}
			}
		}
	}
	return sheaf.Document{}, false
}

// relative returns the paths in a tree that path may mean, likeliest first. They are relative to root, the tree's
// folder.
func (r *Resolver) relative(root, path string) []string {
	if root == "" { // given documents have no folder
		return []string{filepath.ToSlash(filepath.Clean(path))}
	}
	var out []string
	for _, full := range []string{filepath.Join(r.Folder, path), filepath.Join(root, path)} {
		if filepath.IsAbs(path) {
			full = path
		}
		if rel, err := filepath.Rel(root, full); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

func (r *Resolver) notFound(text string, doc *sheaf.Document) error {
	e := &NotFound{Text: text}
	if doc != nil {
		var slugs []string
		for i := range doc.Chunks {
			if doc.Chunks[i].Slug != "" {
				slugs = append(slugs, doc.Chunks[i].Slug)
			}
		}
		fragment, _, _ := strings.Cut(text[strings.LastIndexByte(text, '#')+1:], "|") // before the text of a link
		if near := suggest.Nearest(chunk.Slug(fragment), slugs); near != "" {
			e.Hint = fmt.Sprintf("did you mean %s#%s?", doc.Path, near)
		} else if len(slugs) == 0 {
			e.Hint = fmt.Sprintf("%s has no headings", doc.Path)
		} else {
			e.Hint = fmt.Sprintf("the headings of %s are %s", doc.Path, strings.Join(slugs[:min(len(slugs), 20)], ", "))
		}
		return e
	}
	path, _, _ := strings.Cut(text, "#")
	if near := r.nearestPath(path); near != "" {
		e.Hint = fmt.Sprintf("did you mean %s?", near)
	} else {
		e.Hint, e.Unlike = "give an identifier, path, path#heading, path:line or path:line:count", true
	}
	return e
}

// nearestPath returns an existing path that a missing path may mean, or "". A path with the same file name comes first,
// then the path with the most similar spelling.
func (r *Resolver) nearestPath(path string) string {
	paths := r.Paths()
	name := strings.ToLower(filepath.Base(path))
	for _, p := range paths {
		base := strings.ToLower(filepath.Base(p))
		if base == name || strings.TrimSuffix(base, filepath.Ext(base)) == name {
			return p
		}
	}
	return suggest.Nearest(path, paths)
}

// Heading finds the chunk of doc that fragment names. fragment is the end of the chunk's ID, a heading as in a wiki
// link, or the heading's text. Heading returns false if fragment names no chunk.
func Heading(doc *sheaf.Document, fragment string) (sheaf.Chunk, bool) {
	names := []sheaf.ID{sheaf.ChunkID(doc.ID, fragment), catalog.Place(doc, fragment)}
	if !strings.HasPrefix(fragment, "^") { // a block
		names = append(names, sheaf.ChunkID(doc.ID, chunk.Slug(fragment)))
	}
	for _, id := range names {
		if i := slices.IndexFunc(doc.Chunks, func(c sheaf.Chunk) bool { return c.ID == id }); i >= 0 {
			return doc.Chunks[i], true
		}
	}
	return sheaf.Chunk{}, false
}

// LineCount counts the lines of a text. A line ends with LF, CRLF, or a CR without LF.
func LineCount(content []byte) int {
	n := bytes.Count(content, []byte{'\n'}) + bytes.Count(content, []byte{'\r'}) - bytes.Count(content, []byte("\r\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' && content[len(content)-1] != '\r' {
		n++
	}
	return n
}

// Lines returns the span of count lines of content. The parameter line is the number of the first line, from 1. If
// content ends earlier, the span is shorter or empty.
func Lines(content []byte, line, count int) sheaf.Span {
	count = min(count, len(content)+1) // never more than there are, so the sum cannot overflow
	line = min(line, len(content)+1)
	return sheaf.Span{Start: catalog.LineStart(content, line), End: catalog.LineStart(content, line+count)}
}
