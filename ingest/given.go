package ingest

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/store"
	"sheaf/text/chunk"
)

// Given is a document that comes as a text instead of a file: from a data set or
// through an interface.
type Given struct {
	// Tree and Path name it; the path's ending says how the text is cut, as
	// a file's name does.
	Tree, Path string
	// Title is the title of a document whose text says none. Without it the
	// title is the last part of the path, as for a file, or, with Untitled,
	// nothing: a path that is only a number is no title.
	Title    string
	Untitled bool
	Text     []byte
	// Modified dates a document that says no date of its own; the zero time
	// leaves it without one.
	Modified time.Time
	// Properties are what the document declares beside its text, each instead
	// of one of the same name that the text declares.
	Properties []sheaf.Property
	// Chunks are the document when it comes cut already: then its text is what
	// [JoinChunks] makes of them, and Text is not used.
	Chunks []GivenChunk
	// Hash tells this version from others; zero is that of Text.
	Hash catalog.Hash
}

// GivenChunk is a chunk of a document that comes cut already.
type GivenChunk struct {
	// Slug ends the chunk's ID; "" is its number, from 0. Slugs of one
	// document differ, and hold no '#'.
	Slug string
	// Title is shown with it; "" is the document's.
	Title string
	Text  string
	// Vectors are its passages by vector field, unit length, of the dimension
	// of the index; a chunk without any is embedded when there is a model.
	Vectors []store.Vectors
}

// chunkBreak stands between the chunks of a document that came cut already.
const chunkBreak = "\n\n"

// JoinChunks is the text of a document that comes cut already.
func JoinChunks(chunks []GivenChunk) []byte {
	var b []byte
	for i := range chunks {
		if i > 0 {
			b = append(b, chunkBreak...)
		}
		b = append(b, chunks[i].Text...)
	}
	return b
}

// slug is what ends the ID of a chunk.
func (g *Given) slug(chunk int) string { return cmp.Or(g.Chunks[chunk].Slug, strconv.Itoa(chunk)) }

// ready is g with its text, when it comes cut already. Chunks of one name are an error:
// one would take the other's place in the store.
func (g Given) ready() (*Given, error) {
	if len(g.Chunks) == 0 {
		return &g, nil
	}
	slugs := make(map[string]bool, len(g.Chunks))
	for i := range g.Chunks {
		slug := g.slug(i)
		if strings.Contains(slug, "#") {
			return nil, sheaf.Invalidf("chunk %d: slug %q: must not hold a #", i, slug)
		}
		if slugs[slug] {
			return nil, sheaf.Invalidf("chunk %d: slug %q: another chunk has it", i, slug)
		}
		slugs[slug] = true
	}
	g.Text = JoinChunks(g.Chunks)
	return &g, nil
}

// content is the text of g as though it had been read from a file.
func (g *Given) content() content {
	c := content{data: g.Text, state: catalog.FileState{Size: int64(len(g.Text)), Hash: g.Hash}}
	if g.Hash == (catalog.Hash{}) {
		c.state.Hash = catalog.HashOf(g.Text)
	}
	c.modified = g.Modified
	if n := g.Modified.UnixNano(); time.Unix(0, n).Equal(g.Modified) { // else it is none, or not in the years 1678 to 2261
		c.state.ModTime = n
	}
	return c
}

// dated is the date of g whose text and name say found, and which is doc with what came beside
// its text: the date that came with it counts for more than its properties and its name, as the
// title does, and without one that can be shown nobody knows.
func (g *Given) dated(doc *sheaf.Document, found sheaf.Dated) sheaf.Dated {
	if found.Source != sheaf.DateFrontmatter && !g.Modified.IsZero() && chunk.Writable(g.Modified) {
		return sheaf.Dated{Time: g.Modified, Source: sheaf.DateModified}
	}
	if found = chunk.DateOf(doc, g.Modified); found.Source == sheaf.DateModified {
		return sheaf.Dated{}
	}
	return found
}

// retitle puts the title that came with a text in place of the file's name.
func (g *Given) retitle(doc *sheaf.Document) {
	name := path.Base(g.Path)
	if g.Title == "" && !g.Untitled || doc.Title != name && doc.Title != strings.TrimSuffix(name, path.Ext(name)) {
		return
	}
	old := doc.Title
	doc.Title = g.Title
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if c.Title == old && !c.HasHeading {
			c.Title = g.Title
		}
		if len(c.Hierarchy) == 0 || c.Hierarchy[0] != old {
			continue
		}
		above := c.Hierarchy[1:]
		c.Hierarchy = nil
		if g.Title != "" {
			c.Hierarchy = append(c.Hierarchy, g.Title)
		}
		c.Hierarchy = append(c.Hierarchy, above...)
		c.Breadcrumb = "> " + strings.Join(c.Hierarchy, " › ")
	}
}

// declare adds the properties that came with a text.
func (g *Given) declare(doc *sheaf.Document) {
	if len(g.Properties) == 0 {
		return
	}
	replaced := func(p sheaf.Property) bool {
		column := PropertyColumn(p.Name)
		return slices.ContainsFunc(g.Properties, func(q sheaf.Property) bool { return PropertyColumn(q.Name) == column })
	}
	doc.Properties = append(slices.DeleteFunc(slices.Clone(doc.Properties), replaced), g.Properties...)
}

// cut makes a document of chunks that came cut already.
func (g *Given) cut(id sheaf.ID) sheaf.Document {
	title := g.Title
	if title == "" && !g.Untitled {
		title = strings.TrimSuffix(path.Base(g.Path), path.Ext(g.Path))
	}
	doc := sheaf.Document{ID: id, Tree: g.Tree, Path: g.Path, Title: title}
	at := 0
	for i := range g.Chunks {
		c := &g.Chunks[i]
		slug := g.slug(i)
		span := sheaf.Span{Start: at, End: at + len(c.Text)}
		at = span.End + len(chunkBreak)
		out := sheaf.Chunk{ID: sheaf.ChunkID(id, slug), Doc: id, Parent: id, Depth: 1, Position: i,
			Title: c.Title, Slug: slug,
			Span: span, Body: span, SiblingCount: len(g.Chunks), Hierarchy: []string{title}}
		if c.Title == "" {
			out.Title = title
		} else if c.Title != title {
			out.Hierarchy = append(out.Hierarchy, c.Title)
		}
		out.Breadcrumb = "> " + strings.Join(out.Hierarchy, " › ")
		doc.Chunks = append(doc.Chunks, out)
	}
	return doc
}

// stored is a document as it was given, as far as the catalog tells.
func stored(view *catalog.View, id sheaf.ID) (Given, error) {
	doc, ok := view.Document(id)
	if !ok {
		return Given{}, view.Err()
	}
	text, err := view.Text(id)
	if err != nil {
		return Given{}, err
	}
	g := Given{Tree: doc.Tree, Path: doc.Path, Title: doc.Title, Untitled: doc.Title == "", Text: text}
	for _, p := range doc.Properties {
		if accessColumn(p.Name) != "" {
			g.Properties = append(g.Properties, p) // who may see it stays said
		}
	}
	if date, ok := view.Date(id); ok && date.Source == sheaf.DateModified {
		g.Modified = date.Time
	}
	return g, nil
}
