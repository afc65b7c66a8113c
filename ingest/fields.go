package ingest

import (
	"path"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/internal/distinct"
	"sheaf/internal/fold"
	"sheaf/store"
	"sheaf/text/chunk"
)

// columnExtension is the column of a file's extension, in lower case without the dot.
const columnExtension = "ext"

// entries turns a document into chunks for the store, without vectors. Each call of take makes some chunks, so that a
// long document needs little memory. A chunk's fields are its title, the titles above it, its tags, its path and its
// body. Aliases and property values go to the document's own chunk. A document that was cut into pieces may have no
// chunk of its own. In this case, the aliases and values go to every piece.
type entries struct {
	doc     *sheaf.Document
	content string
	next    int // index of the next chunk of the document

	path, aliases, properties string
	columns                   []store.Column
	atDepth                   map[int][]store.Column // the columns with the depth, by depth
}

func newEntries(doc *sheaf.Document, content string, date sheaf.Dated) *entries {
	s := &entries{doc: doc, content: content, path: strings.TrimSuffix(doc.Path, path.Ext(doc.Path)),
		aliases: store.JoinValues(doc.Aliases), columns: Columns(doc, date), atDepth: map[int][]store.Column{}}
	var values []string
	for _, p := range doc.Properties {
		if chunk.IsTextProperty(p.Name) {
			for _, v := range p.Values {
				values = append(values, v.String())
			}
		}
	}
	s.properties = store.JoinValues(values)
	return s
}

// take returns the next n chunks, or fewer at the end of the document. It skips chunks that consist of other chunks.
func (s *entries) take(n int) []store.Chunk {
	out := make([]store.Chunk, 0, min(n, len(s.doc.Chunks)-s.next))
	for ; s.next < len(s.doc.Chunks) && len(out) < n; s.next++ {
		c := &s.doc.Chunks[s.next]
		if len(c.Members) > 0 { // chunks with members are indexed through these
			continue
		}
		columns, ok := s.atDepth[c.Depth]
		if !ok {
			columns = ChunkColumns(s.columns, c.Depth)
			s.atDepth[c.Depth] = columns
		}
		above := c.Hierarchy
		if n := len(above); n > 0 && above[n-1] == c.Title {
			above = above[:n-1]
		}
		aliases, properties := "", ""
		if c.ID == s.doc.ID || !c.HasHeading() {
			aliases, properties = s.aliases, s.properties
		}
		fields := []store.Field{{Name: sheaf.FieldTitle, Text: c.Title},
			{Name: sheaf.FieldHierarchy, Text: store.JoinValues(above)}, {Name: sheaf.FieldAliases, Text: aliases},
			{Name: sheaf.FieldProperties, Text: properties}, {Name: sheaf.FieldTags, Text: store.JoinValues(c.Tags)},
			{Name: sheaf.FieldPath, Text: s.path},
			{Name: sheaf.FieldBody, Text: chunk.IndexedText(s.doc, c, s.content).Text}}
		fields = slices.DeleteFunc(fields, func(f store.Field) bool { return f.Text == "" })
		out = append(out, store.Chunk{ID: c.ID, Doc: s.doc.ID, Fields: fields,
			Columns: WithFields(columns, s.doc.FieldsOf(c.Position))})
	}
	return out
}

// maxTagsAbove is the largest number of parents of a nested tag that become values of the tag column. The topmost
// parents win. Without a limit, the total length of the parents grows with the square of the depth.
const maxTagsAbove = 32

// PropertyColumn returns the column of a property. Names that differ only in case or in Unicode
// composition share a column.
func PropertyColumn(name string) string { return sheaf.PropertyColumn(fold.Text(name)) }

// Columns returns the columns for filters that all chunks of a document share, sorted by name (see sheaf.ColumnTree).
// It folds tags and texts, adds parents of nested tags, and replaces links by their notes' names. The caller owns the
// result.
func Columns(doc *sheaf.Document, date sheaf.Dated) []store.Column {
	text := sheaf.TextValue
	folders := []sheaf.Value{text("")} // for "a/b/c.md": "", "a" and "a/b"
	for i := range len(doc.Path) {
		if doc.Path[i] == '/' {
			folders = append(folders, text(doc.Path[:i]))
		}
	}
	columns := []store.Column{
		{Name: sheaf.ColumnTree, Values: []sheaf.Value{text(doc.Tree)}},
		{Name: sheaf.ColumnDoc, Values: []sheaf.Value{text(string(doc.ID))}},
		{Name: sheaf.ColumnPath, Values: []sheaf.Value{text(doc.Path)}},
		{Name: sheaf.ColumnFile, Values: []sheaf.Value{text(path.Base(doc.Path))}},
		{Name: sheaf.ColumnFolder, Values: folders},
		{Name: columnExtension, Values: []sheaf.Value{text(strings.TrimPrefix(strings.ToLower(path.Ext(doc.Path)), "."))}},
	}
	if date.Source != 0 {
		columns = append(columns, store.Column{Name: sheaf.ColumnDate,
			Values: []sheaf.Value{sheaf.DateValue(sheaf.Clock(inZone(doc, date)))}})
	}
	var tags distinct.List[sheaf.Value]
	for _, tag := range doc.Tags {
		if tag = fold.Text(tag); tag != "" {
			tags.Add(text(tag))
		}
		for above := strings.Count(tag, "/"); above > 0; above-- {
			tag = tag[:strings.LastIndexByte(tag, '/')]
			if tag != "" && above <= maxTagsAbove {
				tags.Add(text(tag))
			}
		}
	}
	if len(tags.Values) > 0 {
		columns = append(columns, store.Column{Name: sheaf.ColumnTag, Values: tags.Values})
	}
	columns = append(columns, accessColumns(doc)...)
	columns = append(columns, propertyColumns(doc.Properties)...)
	slices.SortFunc(columns, func(a, b store.Column) int { return strings.Compare(a.Name, b.Name) })
	return columns
}

// propertyColumns returns the columns of properties. They are not sorted.
func propertyColumns(of []sheaf.Property) (columns []store.Column) {
	type column struct {
		distinct.List[sheaf.Value]
		needed bool
	}
	byName := map[string]*column{} // the names of two properties may differ only in spelling
	add := func(name string, v sheaf.Value, needed bool) {
		if byName[name] == nil {
			byName[name] = &column{}
		}
		byName[name].Add(v)
		byName[name].needed = byName[name].needed || needed
	}
	for _, p := range of {
		column, written := PropertyColumn(p.Name), sheaf.WrittenColumn(fold.Text(p.Name))
		for _, v := range p.Values {
			v = chunk.Compared(v)
			switch v.Kind {
			case sheaf.KindText:
				v.Text = fold.Text(v.Text)
			case sheaf.KindNumber, sheaf.KindDate:
				// Numbers and dates as text are needed if one of them is unusual.
				add(written, sheaf.TextValue(v.String()), v.Text != "")
			}
			add(column, chunk.Plain(v), true)
		}
	}
	for name, c := range byName {
		if c.needed {
			columns = append(columns, store.Column{Name: name, Values: c.Values})
		}
	}
	return columns
}

// WithFields returns the columns of a document together with the fields of one of its chunks, sorted by name. In a
// column, values of the chunk come before values of the document. A field called date replaces the document's date.
// Without fields, the result is columns itself.
func WithFields(columns []store.Column, fields []sheaf.Field) []store.Column {
	if len(fields) == 0 {
		return columns
	}
	properties := make([]sheaf.Property, len(fields))
	for i, f := range fields {
		properties[i] = sheaf.Property{Name: f.Name, Values: []sheaf.Value{f.Value}}
	}
	own := propertyColumns(properties)
	for _, c := range own {
		if c.Name == sheaf.PropertyColumn(sheaf.ColumnDate) && c.Values[0].Kind == sheaf.KindDate {
			own = append(own, store.Column{Name: sheaf.ColumnDate, Values: c.Values[:1]})
		}
	}
	for _, c := range columns {
		i := slices.IndexFunc(own, func(o store.Column) bool { return o.Name == c.Name })
		switch {
		case i < 0:
			own = append(own, c)
		case c.Name != sheaf.ColumnDate:
			var both distinct.List[sheaf.Value]
			for _, v := range slices.Concat(own[i].Values, c.Values) {
				both.Add(v)
			}
			own[i].Values = both.Values
		}
	}
	slices.SortFunc(own, func(a, b store.Column) int { return strings.Compare(a.Name, b.Name) })
	return own
}

// inZone returns the date of a document in the time zone in which the writer meant it. If the text names no zone, this
// is UTC. The time of a file is in the zone of this machine.
func inZone(doc *sheaf.Document, date sheaf.Dated) time.Time {
	switch date.Source {
	case sheaf.DateFrontmatter:
		if again := chunk.DateOf(doc, date.Time); again.Time.UnixMilli() == date.Time.UnixMilli() {
			return again.Time
		}
	case sheaf.DateModified:
		return date.Time.Local()
	}
	return date.Time.UTC()
}

// These are the access properties, which say who may see a document. Their names may be in upper or lower case. Their
// values are compared byte by byte, and word search does not find the values.
const (
	PropertyTenant = "tenant"
	PropertyAccess = "access"
	PropertySets   = "sets"
)

// accessColumn returns the column that an access property fills in addition to its [PropertyColumn]. For other
// properties it returns "".
func accessColumn(property string) string {
	switch strings.ToLower(property) {
	case PropertyTenant:
		return sheaf.ColumnTenant
	case PropertyAccess:
		return sheaf.ColumnAccess
	case PropertySets:
		return sheaf.ColumnSet
	}
	return ""
}

// accessColumns returns the columns that say who may see a document. If a property appears twice, only the first one
// counts. So the second one cannot give access to more people.
func accessColumns(doc *sheaf.Document) []store.Column {
	var columns []store.Column
	for _, p := range doc.Properties {
		name := accessColumn(p.Name)
		if name == "" || slices.ContainsFunc(columns, func(c store.Column) bool { return c.Name == name }) {
			continue
		}
		var values distinct.List[sheaf.Value]
		for _, v := range p.Values {
			values.Add(sheaf.TextValue(v.String()))
		}
		columns = append(columns, store.Column{Name: name, Values: values.Values})
	}
	return columns
}

// ChunkColumns returns the columns of one chunk: the columns of its document, see [Columns], and the chunk's depth.
func ChunkColumns(document []store.Column, depth int) []store.Column {
	c := store.Column{Name: sheaf.ColumnDepth, Values: []sheaf.Value{sheaf.NumberValue(float64(depth))}}
	byName := func(d store.Column, name string) int { return strings.Compare(d.Name, name) }
	at, _ := slices.BinarySearchFunc(document, c.Name, byName)
	return slices.Concat(document[:at], []store.Column{c}, document[at:])
}
