package scan

import (
	"bytes"
	"path"
	"reflect"
	"strings"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/chunk"
)

// document is a cut file without its text. It never changes, and it shares no memory with the text.
type document struct {
	key     string // in the cache
	path    string
	modTime time.Time
	size    int64
	hash    catalog.Hash
	decoded bool // the file is not UTF-8 itself
	doc     sheaf.Document
	date    sheaf.Dated
	columns []store.Column
}

// loaded is a document with its text, and with vectors if a query needed them. It never changes.
type loaded struct {
	*document
	text string
	// vectors holds the vectors of each chunk. The model named in embedded computed them.
	vectors  [][]store.Vectors
	embedded string
}

// newLoaded returns a file as chunker cuts it.
func newLoaded(key string, f *ingest.File, raw, text []byte, doc sheaf.Document) *loaded {
	detach(&doc)
	d := &document{key: key, path: f.Path, modTime: f.ModTime, size: int64(len(raw)), hash: catalog.HashOf(raw),
		decoded: !bytes.Equal(text, raw), doc: doc}
	d.date = chunk.DateOf(&d.doc, f.ModTime)
	d.columns = ingest.ChunkColumns(ingest.Columns(&d.doc, d.date), 1) // pieces have one depth
	return &loaded{document: d, text: string(text)}
}

// detach copies the strings that a document shares with its text, so that the text can be freed.
func detach(doc *sheaf.Document) {
	title := strings.Clone(doc.Title)
	doc.Title = title
	cloneAll(doc.Aliases)
	cloneAll(doc.Tags)
	for _, p := range doc.Properties {
		for i := range p.Values {
			p.Values[i].Text = strings.Clone(p.Values[i].Text)
		}
	}
	for i := range doc.Properties {
		doc.Properties[i].Name = strings.Clone(doc.Properties[i].Name)
	}
	for i := range doc.Fields {
		f := &doc.Fields[i]
		f.Name, f.Value.Text = strings.Clone(f.Name), strings.Clone(f.Value.Text)
	}
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		c.Title = title
		for j, part := range c.Hierarchy {
			if c.Hierarchy[j] = title; j > 0 {
				c.Hierarchy[j] = strings.Clone(part)
			}
		}
		cloneAll(c.Tags)
		cloneAll(c.Blocks)
		for j := range c.Links {
			l := &c.Links[j]
			l.Target, l.Fragment, l.Text = strings.Clone(l.Target), strings.Clone(l.Fragment), strings.Clone(l.Text)
		}
	}
}

func cloneAll(texts []string) {
	for i := range texts {
		texts[i] = strings.Clone(texts[i])
	}
}

// entries returns the document's chunks for a store. Every chunk has the fields of the note (title, path,
// aliases, tags, values of properties), its heading, and its part of the text. vectors adds the vectors that
// exist. The request says how many values of a property become fields, and how deep.
func (d *loaded) entries(req *search.ScanRequest, vectors bool) []store.Chunk {
	common := make([]store.Field, 0, 5)
	add := func(fields []store.Field, name, text string) []store.Field {
		if text == "" {
			return fields
		}
		return append(fields, store.Field{Name: name, Text: text})
	}
	common = add(common, sheaf.FieldTitle, d.doc.Title)
	common = add(common, sheaf.FieldAliases, store.JoinValues(d.doc.Aliases))
	common = add(common, sheaf.FieldTags, store.JoinValues(d.doc.Tags))
	common = add(common, sheaf.FieldPath, strings.TrimSuffix(d.path, path.Ext(d.path)))
	properties := propertyText(&d.doc, req.Limits.ListValues)
	if inner := nestedText(&d.doc, d.text, req.Limits.ListValues, req.Limits.FrontmatterDepth); inner != "" {
		properties += "\n" + inner
	}
	common = add(common, sheaf.FieldProperties, properties)
	entries := make([]store.Chunk, len(d.doc.Chunks))
	all := make([]store.Field, 0, len(entries)*(len(common)+2))
	for i := range entries {
		c := &d.doc.Chunks[i]
		from := len(all)
		all = append(all, common...)
		if len(c.Hierarchy) > 1 {
			all = add(all, sheaf.FieldHierarchy, c.Hierarchy[len(c.Hierarchy)-1])
		}
		all = add(all, sheaf.FieldBody, d.body(c, d.text))
		entries[i] = store.Chunk{ID: c.ID, Doc: d.doc.ID, Fields: all[from:len(all):len(all)],
			Columns: ingest.WithFields(d.columns, d.doc.FieldsOf(i))}
		if vectors && d.vectors != nil {
			entries[i].Vectors = d.vectors[i]
		}
	}
	return entries
}

// body returns the text of a piece to index. A piece has frontmatter only when its document has nothing else.
func (d *document) body(c *sheaf.Chunk, text string) string {
	return chunk.IndexedText(&d.doc, c, text).Text
}

// propertyText returns values of the frontmatter that have no field of their own, the first listed values of each
// property. It skips names with a dot, which are values in a map: [nestedText] reads those.
func propertyText(doc *sheaf.Document, listed int) string {
	var parts []string
	for _, p := range doc.Properties {
		if !ingest.IsText(p.Name) || strings.Contains(p.Name, ".") {
			continue
		}
		for _, v := range p.Values[:min(listed, len(p.Values))] {
			parts = append(parts, v.String())
		}
	}
	return store.JoinValues(parts)
}

// passes reports whether the filter matches a chunk of the document.
func (d *document) passes(filter sheaf.Filter) bool {
	if filter == nil {
		return true
	}
	for i := range d.doc.Chunks {
		if filter.Match(&store.Chunk{Columns: ingest.WithFields(d.columns, d.doc.FieldsOf(i))}) {
			return true
		}
		if len(d.doc.Fields) == 0 {
			break // the other chunks have the same columns
		}
	}
	return false
}

// Sizes that estimate the used memory.
var (
	chunkBytes = int64(reflect.TypeFor[sheaf.Chunk]().Size())
	linkBytes  = int64(reflect.TypeFor[sheaf.Link]().Size())
	fieldBytes = int64(reflect.TypeFor[sheaf.Field]().Size())
	valueBytes = int64(reflect.TypeFor[sheaf.Value]().Size())
)

const (
	stringBytes   = 16
	documentBytes = 1500 // a document without its chunks, with its entries in tables and its columns
	// entryBytes is roughly what the index uses for a chunk: its fields, their lengths, and positions of the few
	// words.
	entryBytes = 1000
	// roundingBytes is the unused memory in the parts of a chunk.
	roundingBytes = 80
)

// memory returns roughly how many bytes the document uses.
func (d *document) memory() int64 {
	n := documentBytes + int64(3*len(d.path)) + valueBytes*int64(len(d.columns))
	for _, p := range d.doc.Properties {
		for _, v := range p.Values {
			n += 2 * (valueBytes + int64(len(v.Text)))
		}
	}
	for i := range d.doc.Fields {
		n += 2 * (fieldBytes + int64(len(d.doc.Fields[i].Name)+len(d.doc.Fields[i].Value.Text)))
	}
	n += chunkBytes * int64(cap(d.doc.Chunks)-len(d.doc.Chunks))
	for i := range d.doc.Chunks {
		c := &d.doc.Chunks[i]
		n += chunkBytes + roundingBytes + int64(len(c.ID)+len(c.Breadcrumb)) +
			stringBytes*int64(len(c.Hierarchy)+len(c.Tags)+len(c.Blocks))
		if len(c.Hierarchy) > 1 {
			n += int64(len(c.Hierarchy[1]))
		}
		for j := range c.Links {
			n += linkBytes + int64(len(c.Links[j].Target)+len(c.Links[j].Fragment)+len(c.Links[j].Text))
		}
	}
	return n
}

// memory returns roughly how many bytes the document uses with its text and vectors.
func (d *loaded) memory() int64 {
	n := d.document.memory() + int64(len(d.text))
	for _, of := range d.vectors {
		for _, v := range of {
			n += 100
			for _, p := range v.Passages {
				n += 24 + int64(4*len(p))
			}
		}
	}
	return n
}
