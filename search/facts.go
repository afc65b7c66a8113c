package search

import (
	"sheaf"
	"sheaf/rank"
)

// Part returns the chunk with this ID, or false for an unknown ID. For a document of pieces, Part returns one chunk
// that covers all of it: see [sheaf.Document.Part].
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

// nodeCache caches the nodes of one search, because stages look up the same hits. It is not safe for concurrent use.
type nodeCache struct {
	rank.Facts
	nodes map[sheaf.ID]*sheaf.Node
}

func (c nodeCache) Node(id sheaf.ID) *sheaf.Node {
	n, ok := c.nodes[id]
	if !ok {
		n = c.Facts.Node(id)
		c.nodes[id] = n
	}
	return n
}
