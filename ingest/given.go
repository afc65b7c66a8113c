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

// Given is a document that a program sent as a text; it has no file.
type Given struct {
	// Tree and Path name the document. The path's ending says how to cut the text, as for a file.
	Tree, Path string
	// Title is used if the text has no title. If Title is empty too, the last part of the path is the title, as for a
	// file. Untitled leaves the title empty instead, because some paths are only numbers.
	Title    string
	Untitled bool
	Text     []byte
	// Modified dates a document whose text has no date; the zero time means no date.
	Modified time.Time
	// Properties replace properties of the same name in the text.
	Properties []sheaf.Property
	// Chunks are the chunks of a document that the sender cut. The text is then [JoinChunks] of them, and Text is ignored.
	Chunks []GivenChunk
	// Hash identifies this version of the document. If it is zero, the hash of Text is used.
	Hash catalog.Hash
}

// GivenChunk is a chunk of a document that the sender cut.
type GivenChunk struct {
	// Slug is the end of the chunk's ID. If it is "", the chunk's number (from 0) is used. Slugs of a document differ
	// and have no '#'.
	Slug string
	// Title is shown with the chunk; "" means the title of the document.
	Title string
	Text  string
	// Vectors are the vectors of the chunk's passages, by vector field. They have unit length and the dimension of the
	// index. A chunk without vectors is embedded when there is a model.
	Vectors []store.Vectors
}

// chunkBreak is the text between two chunks of a document that the sender cut.
const chunkBreak = "\n\n"

// JoinChunks returns the text of a document that the sender cut.
func JoinChunks(chunks []GivenChunk) []byte {
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = chunks[i].Text
	}
	return []byte(strings.Join(texts, chunkBreak))
}

// slug returns the last part of the ID of chunk number chunk.
func (g *Given) slug(chunk int) string { return cmp.Or(g.Chunks[chunk].Slug, strconv.Itoa(chunk)) }

// ready returns g, with the joined text of its chunks if it has chunks. If two chunks have the same slug, it returns an
// error, because one would replace the other in the store.
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

// content returns the text of g, with its hash and date, as the function read does for a file.
func (g *Given) content() content {
	c := content{data: g.Text, state: catalog.FileState{Size: int64(len(g.Text)), Hash: g.Hash}}
	if g.Hash == (catalog.Hash{}) {
		c.state.Hash = catalog.HashOf(g.Text)
	}
	c.modified = g.Modified
	if n := g.Modified.UnixNano(); time.Unix(0, n).Equal(g.Modified) { // only years 1678 to 2261 fit
		c.state.ModTime = n
	}
	return c
}

// dateOf returns the date of g, or the zero value if g has none. doc is the document of g, with the given properties.
// found is the date that the chunker found. The given date counts if JSON can write it and found does not come from the
// frontmatter. Otherwise the date in the properties of doc counts, or else the date in the name.
func (g *Given) dateOf(doc *sheaf.Document, found sheaf.Dated) sheaf.Dated {
	if found.Source != sheaf.DateFrontmatter && !g.Modified.IsZero() && chunk.Writable(g.Modified) {
		return sheaf.Dated{Time: g.Modified, Source: sheaf.DateModified}
	}
	if found = chunk.DateOf(doc, g.Modified); found.Source == sheaf.DateModified {
		return sheaf.Dated{}
	}
	return found
}

// retitle sets the title of doc to the given title, if the title came from the name of the file.
func (g *Given) retitle(doc *sheaf.Document) {
	name := path.Base(g.Path)
	if g.Title == "" && !g.Untitled || doc.Title != name && doc.Title != strings.TrimSuffix(name, path.Ext(name)) {
		return
	}
	old := doc.Title
	doc.Title = g.Title
	var top []string
	if g.Title != "" {
		top = []string{g.Title}
	}
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if c.Title == old && !c.HasHeading() {
			c.Title = g.Title
		}
		if len(c.Hierarchy) > 0 && c.Hierarchy[0] == old {
			c.Hierarchy = slices.Concat(top, c.Hierarchy[1:])
		}
	}
}

// declare adds the given properties to doc. They replace properties of the same name.
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
		doc.Chunks = append(doc.Chunks, out)
	}
	return doc
}

// stored rebuilds a given document from its record and text in the catalog.
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
			g.Properties = append(g.Properties, p) // keep the access rights
		}
	}
	if date, ok := view.Date(id); ok && date.Source == sheaf.DateModified {
		g.Modified = date.Time
	}
	return g, nil
}
