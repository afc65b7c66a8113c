package onyx

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/text/chunk"
)

// Document is a document to index, with its chunks.
type Document struct {
	ID    sheaf.ID
	Title string
	Metadata
	Chunks []Chunk
}

// Metadata is everything about a document except its text. It can change while the vectors of the text stay.
type Metadata struct {
	Tenant string
	// Public shows the document to the whole tenant. Access lists people and groups who may also see it. If neither is
	// set, only searches with Filters.AnyAccess find it.
	Public bool
	Access []string
	Hidden bool
	Source string
	Sets   []string
	Tags   []string // "key===value"
	// Boost is the number of votes for the document; 0 means none. More votes rank the document higher.
	Boost    float64
	Projects []int
	Personas []int
	Nodes    []int
	Created  time.Time
	Updated  time.Time
	Graph
}

// Graph has the values that link a document to a knowledge graph: entities ("TYPE::name"), terms and relationships
// ("source__type__target").
type Graph struct {
	Entities      []string
	Terms         []string
	Relationships []string
}

// Chunk is a part of a document.
type Chunk struct {
	// Text is the text that a search by words reads.
	Text string
	// Vectors are the vectors of the chunk's passages, by vector field. The caller computes them.
	Vectors []store.Vectors
	// Large marks a chunk that combines several other chunks. Index.Sections skips large chunks.
	Large bool
}

// ChunkID returns the ID of chunk number n (from 0) of a document.
func ChunkID(doc sheaf.ID, n int) sheaf.ID { return sheaf.ChunkID(doc, strconv.Itoa(n)) }

// propertyBoost is the property that holds the votes for a document. The profile onyx-vespa reads it.
const propertyBoost = "boost"

// Tags returns a text "name===value" for each value of the properties.
func Tags(metadata []chunk.Metadata) []string {
	tags := []string{}
	for _, m := range metadata {
		for _, v := range m.Values {
			tags = append(tags, m.Name+"==="+v)
		}
	}
	return tags
}

// validate returns an error that wraps sheaf.ErrInvalid if d cannot be indexed.
func (d *Document) validate() error {
	switch {
	case d.ID.Tree() == "":
		return sheaf.Invalidf("document %q: its ID must be TREE:NAME", d.ID)
	case len(d.Chunks) > store.MaxLimit:
		return sheaf.Invalidf("document %s has %d chunks: at most %d are allowed", d.ID, len(d.Chunks), store.MaxLimit)
	case d.Boost-d.Boost != 0: // NaN when Boost is NaN or infinite
		return sheaf.Invalidf("document %s: boost is %v: must be a finite number", d.ID, d.Boost)
	}
	return nil
}

func (d *Document) entries() []store.Chunk {
	out := make([]store.Chunk, len(d.Chunks))
	common := d.columns()
	for i := range d.Chunks {
		c := &d.Chunks[i]
		columns := append(slices.Clone(common), column(columnIndex, sheaf.NumberValue(float64(i))))
		if c.Large {
			columns = append(columns, column(columnLarge, sheaf.BoolValue(true)))
		}
		slices.SortFunc(columns, func(a, b store.Column) int { return strings.Compare(a.Name, b.Name) })
		out[i] = store.Chunk{ID: ChunkID(d.ID, i), Doc: d.ID, Columns: columns, Vectors: c.Vectors}
		for _, f := range []store.Field{{Name: sheaf.FieldTitle, Text: d.Title}, {Name: sheaf.FieldBody, Text: c.Text}} {
			if f.Text != "" {
				out[i].Fields = append(out[i].Fields, f)
			}
		}
	}
	return out
}

// columns returns the columns that all chunks of the document share. It omits columns without values.
func (d *Document) columns() []store.Column {
	access := slices.Clone(d.Access)
	// A name in a list must not make a private document public.
	access = slices.DeleteFunc(access, func(name string) bool { return name == sheaf.AccessPublic })
	if d.Public {
		access = append(access, sheaf.AccessPublic)
	}
	columns := []store.Column{column(sheaf.ColumnTree, sheaf.TextValue(d.ID.Tree())),
		column(sheaf.ColumnDoc, sheaf.TextValue(string(d.ID))),
		column(columnHidden, sheaf.BoolValue(d.Hidden))}
	for _, list := range []store.Column{
		{Name: sheaf.ColumnAccess, Values: sheaf.TextValues(access...)},
		{Name: sheaf.ColumnSet, Values: sheaf.TextValues(d.Sets...)},
		{Name: columnTag, Values: sheaf.TextValues(d.Tags...)},
		{Name: columnProject, Values: numbers(d.Projects)}, {Name: columnPersona, Values: numbers(d.Personas)},
		{Name: columnNode, Values: numbers(d.Nodes)},
		{Name: columnEntities, Values: sheaf.TextValues(d.Entities...)},
		{Name: columnTerms, Values: sheaf.TextValues(d.Terms...)},
		{Name: columnRelationships, Values: sheaf.TextValues(d.Relationships...)},
	} {
		if list.Values = unique(list.Values); len(list.Values) > 0 {
			columns = append(columns, list)
		}
	}
	for name, text := range map[string]string{sheaf.ColumnTenant: d.Tenant, columnSource: d.Source} {
		if text != "" {
			columns = append(columns, column(name, sheaf.TextValue(text)))
		}
	}
	if d.Boost != 0 {
		// Stores with their own ranking read the votes in this column.
		columns = append(columns, column(sheaf.PropertyColumn(propertyBoost), sheaf.NumberValue(d.Boost)))
	}
	for name, t := range map[string]time.Time{columnCreated: d.Created, columnUpdated: d.Updated} {
		if !t.IsZero() {
			columns = append(columns, column(name, sheaf.DateValue(t)))
		}
	}
	return columns
}

func column(name string, value sheaf.Value) store.Column {
	return store.Column{Name: name, Values: []sheaf.Value{value}}
}

func unique(values []sheaf.Value) []sheaf.Value {
	var out []sheaf.Value
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
