package search

import (
	"sheaf"
	"sheaf/rank"
)

// facts returns to one search what it needs about documents: the searcher's facts, with nodes and outlines.
type facts struct {
	rank.Facts
	outliner rank.Outliner // the same facts, if they have nodes and outlines
}

var _ rank.Outliner = facts{}

func newFacts(of rank.Facts) facts {
	outliner, _ := of.(rank.Outliner)
	return facts{of, outliner}
}

// Node implements rank.Outliner.
func (f facts) Node(id sheaf.ID) *sheaf.Node {
	if f.outliner != nil {
		return f.outliner.Node(id)
	}
	if c, ok := f.Chunk(id); ok {
		n := sheaf.NodeOf(&c)
		return &n
	}
	return nil
}

// Outline implements rank.Outliner.
func (f facts) Outline(id sheaf.ID) *sheaf.Outline {
	if f.outliner != nil {
		return f.outliner.Outline(id)
	}
	d, ok := f.Document(id)
	if !ok {
		return nil
	}
	date, _ := f.Date(id)
	return sheaf.OutlineOf(&d, date)
}

// document returns the document with this ID, or nil. Callers must not change it.
func (f facts) document(id sheaf.ID) *sheaf.Document {
	if shared, ok := f.Facts.(interface {
		SharedDocument(sheaf.ID) *sheaf.Document
	}); ok {
		return shared.SharedDocument(id)
	}
	if d, ok := f.Document(id); ok {
		return &d
	}
	return nil
}

// Part returns the chunk with this ID. For the ID of a document that was cut into pieces it returns one chunk
// that covers the whole document ([sheaf.Document.Part]). It returns false when there is neither.
func Part(facts rank.Facts, id sheaf.ID) (sheaf.Chunk, bool) {
	if c, ok := facts.Chunk(id); ok {
		return c, true
	}
	if d, ok := facts.Document(id); ok {
		if c := d.Part(id); c != nil {
			return *c, true
		}
	}
	return sheaf.Chunk{}, false
}
