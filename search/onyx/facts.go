package onyx

import (
	"strconv"
	"strings"

	"sheaf"
)

// facts tells stages about the documents of an index. It has no links and no folders.
type facts struct{ contents *Contents }

func (f facts) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	d, _ := f.Document(id[:max(0, strings.LastIndexByte(string(id), '#'))])
	if c := d.Part(id); c != nil {
		return *c, true
	}
	return sheaf.Chunk{}, false
}

// Document implements rank.Facts. Spans count bytes of the chunks' texts, one text after another. The number of votes
// becomes the property "boost". Document returns false for an unknown document and after an error.
func (f facts) Document(id sheaf.ID) (sheaf.Document, bool) {
	d, ok, err := f.contents.Load(id)
	if err != nil || !ok {
		return sheaf.Document{}, false
	}
	_, path, _ := strings.Cut(string(id), ":")
	out := sheaf.Document{ID: id, Tree: id.Tree(), Path: path, Title: d.Title, Tags: d.Tags}
	if d.Boost != 0 {
		out.Properties = append(out.Properties,
			sheaf.Property{Name: propertyBoost, Values: []sheaf.Value{sheaf.NumberValue(d.Boost)}})
	}
	at := 0
	for i := range d.Chunks {
		span := sheaf.Span{Start: at, End: at + len(d.Chunks[i].Text)}
		at = span.End
		out.Chunks = append(out.Chunks, sheaf.Chunk{ID: ChunkID(id, i), Doc: id, Parent: id, Depth: 1, Position: i,
			Title: d.Title, Slug: strconv.Itoa(i),
			Hierarchy: []string{d.Title}, Span: span, Body: span, SiblingCount: len(d.Chunks)})
	}
	return out, true
}

func (f facts) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(f.Outline, id) }

// Outline implements rank.Facts. The date is the time of the last update.
func (f facts) Outline(id sheaf.ID) *sheaf.Outline {
	d, ok := f.Document(id)
	if !ok {
		return nil
	}
	var date sheaf.Dated
	if stored, _, err := f.contents.Load(id); err == nil && !stored.Updated.IsZero() {
		date = sheaf.Dated{Time: stored.Updated, Source: sheaf.DateModified}
	}
	return sheaf.OutlineOf(&d, date)
}

func (facts) FolderSize(string, string) int { return 0 }

func (facts) Links(sheaf.ID) []sheaf.ID { return nil }

func (facts) Backlinks(sheaf.ID) []sheaf.ID { return nil }
