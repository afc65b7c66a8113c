package search

import (
	"sheaf"
	"sheaf/rank"
)

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
