package scan

import (
	"bytes"
	"path"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/fold"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/chunk"
)

// loadedFile is a file that was cut into chunks, with its text. It may have vectors. It never changes.
type loadedFile struct {
	key     string // the key in the cache
	file    ingest.File
	doc     sheaf.Document
	columns []store.Column
	text    string
	bodies  []string // the indexed text of each chunk
	candidate
	// vectors holds the vectors of each chunk, by index of the chunk. embedded names the model that computed them.
	vectors  [][]store.Vectors
	embedded string
}

// candidate is the part of a loadedFile that the type facts needs. It does not have the text of the file.
type candidate struct {
	id    sheaf.ID
	names []string // folded names and aliases, with and without an extension
	// record is the document as a catalog stores it.
	record catalog.Encoded
	bytes  int64 // roughly the memory of the record
}

// newLoaded returns a file that a chunker has cut into doc. raw has the bytes of the file, and text is the decoded
// text. The loadedFile keeps text, but not raw, so the caller must not change text afterwards. key is the key in the
// cache.
func newLoaded(key string, f *ingest.File, raw, text []byte, doc sheaf.Document) (*loadedFile, error) {
	for i := range doc.Fields { // columns must not keep the text of their file in memory
		f := &doc.Fields[i]
		f.Name, f.Value.Text = strings.Clone(f.Name), strings.Clone(f.Value.Text)
	}
	record := catalog.Record{Document: doc, Date: chunk.DateOf(&doc, f.ModTime),
		File: catalog.FileState{Size: int64(len(raw)), ModTime: f.ModTime.UnixNano(), Hash: catalog.HashOf(raw)}}
	if !bytes.Equal(text, raw) { // the catalog cannot read this text from the file
		record.Text, record.HasText = text, true
	}
	d := &loadedFile{key: key, file: *f, doc: doc, text: unsafe.String(unsafe.SliceData(text), len(text))}
	d.columns = ingest.ChunkColumns(ingest.Columns(&doc, record.Date), 1) // pieces have one depth
	for _, c := range d.columns {
		for i := range c.Values {
			c.Values[i].Text = strings.Clone(c.Values[i].Text)
		}
	}
	for i := range doc.Chunks {
		body := chunk.IndexedText(&doc, &doc.Chunks[i], d.text).Text
		if len(body) < doc.Chunks[i].Body.Len() { // a copy without some parts
			d.bytes += int64(len(body))
		}
		d.bodies = append(d.bodies, body)
	}
	d.id, d.bytes = doc.ID, d.recordBytes()+int64(len(record.Text))
	for _, name := range append([]string{f.Path}, doc.Aliases...) {
		name = strings.Clone(path.Base(fold.Text(name)))
		d.names = append(d.names, name, withoutExt(name))
	}
	var err error
	d.record, err = catalog.Encode(&record)
	return d, err
}

// entries returns the document's chunks for a store. Every chunk has the fields of the document (title, path, aliases,
// tags, properties), its heading and its text. If vectors is true, the chunks also get d.vectors, if these exist. req
// limits the values of properties: how many of a list, and how deep in maps.
func (d *loadedFile) entries(req *search.ScanRequest, vectors bool) []store.Chunk {
	properties := propertyText(&d.doc, req.Limits.ListValues)
	if inner := nestedText(&d.doc, d.text, req.Limits.ListValues, req.Limits.FrontmatterDepth); inner != "" {
		properties += "\n" + inner
	}
	common := []store.Field{{Name: sheaf.FieldTitle, Text: d.doc.Title},
		{Name: sheaf.FieldAliases, Text: store.JoinValues(d.doc.Aliases)},
		{Name: sheaf.FieldTags, Text: store.JoinValues(d.doc.Tags)},
		{Name: sheaf.FieldPath, Text: strings.TrimSuffix(d.file.Path, path.Ext(d.file.Path))},
		{Name: sheaf.FieldProperties, Text: properties}}
	entries := make([]store.Chunk, len(d.doc.Chunks))
	for i := range entries {
		c, heading := &d.doc.Chunks[i], ""
		if n := len(c.Hierarchy); n > 1 {
			heading = c.Hierarchy[n-1]
		}
		fields := slices.Concat(common, []store.Field{{Name: sheaf.FieldHierarchy, Text: heading},
			{Name: sheaf.FieldBody, Text: d.bodies[i]}})
		fields = slices.DeleteFunc(fields, func(f store.Field) bool { return f.Text == "" })
		entries[i] = store.Chunk{ID: c.ID, Doc: d.doc.ID, Fields: fields,
			Columns: ingest.WithFields(d.columns, d.doc.FieldsOf(i))}
		if vectors && d.vectors != nil {
			entries[i].Vectors = d.vectors[i]
		}
	}
	return entries
}

// propertyText returns the values of frontmatter properties, except those with a field of their own, such as tags.
// listed is the largest number of values for one property. propertyText skips properties with a dot in their name,
// because [nestedText] reads the values in maps.
func propertyText(doc *sheaf.Document, listed int) string {
	var parts []string
	for _, p := range doc.Properties {
		if !chunk.IsTextProperty(p.Name) || strings.Contains(p.Name, ".") {
			continue
		}
		for _, v := range p.Values[:min(listed, len(p.Values))] {
			parts = append(parts, v.String())
		}
	}
	return store.JoinValues(parts)
}

// passesFilter reports whether the filter matches a chunk of the document.
func (d *loadedFile) passesFilter(filter sheaf.Filter) bool {
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

// With these sizes in bytes, the scan estimates how much memory a document uses.
var (
	chunkBytes = int64(reflect.TypeFor[sheaf.Chunk]().Size())
	linkBytes  = int64(reflect.TypeFor[sheaf.Link]().Size())
	fieldBytes = int64(reflect.TypeFor[sheaf.Field]().Size())
	valueBytes = int64(reflect.TypeFor[sheaf.Value]().Size())
)

const (
	stringBytes   = 16
	documentBytes = 1500 // a document without its chunks, with its entries in tables and its columns
	// entryBytes is the approximate number of bytes in the index for a chunk: fields, lengths, and few positions.
	entryBytes = 1000
	// roundingBytes is the approximate number of bytes of a chunk for unused memory, and for its part of the catalog.
	roundingBytes = 120
)

// recordBytes returns roughly how many bytes the document uses without its text.
func (d *loadedFile) recordBytes() int64 {
	n := documentBytes + int64(3*len(d.file.Path)) + valueBytes*int64(len(d.columns))
	for _, p := range d.doc.Properties {
		for _, v := range p.Values {
			n += 2 * (valueBytes + int64(len(v.Text)))
		}
	}
	for i := range d.doc.Fields {
		n += 2 * (fieldBytes + int64(len(d.doc.Fields[i].Name)+len(d.doc.Fields[i].Value.Text)))
	}
	for i := range d.doc.Chunks {
		c := &d.doc.Chunks[i]
		n += chunkBytes + roundingBytes + int64(len(c.ID)) + 2*linkBytes*int64(len(c.Links)) +
			stringBytes*int64(len(c.Hierarchy)+len(c.Tags)+len(c.Blocks))
	}
	return n
}

// memory returns roughly how many bytes the document uses with its text and vectors.
func (d *loadedFile) memory() int64 {
	n := d.bytes + int64(len(d.text)) + stringBytes*int64(len(d.bodies))
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
