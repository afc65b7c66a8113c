package search

import (
	"sheaf"
	"sheaf/rank"
)

// memo remembers the facts that one search asks for, since its stages ask for
// the same chunks again and again. It is used by one goroutine.
type memo struct {
	rank.Facts
	chunks    map[sheaf.ID]known[sheaf.Chunk]
	documents map[sheaf.ID]known[sheaf.Document]
}

type known[T any] struct {
	value T
	ok    bool
}

func newMemo(facts rank.Facts) *memo {
	return &memo{Facts: facts, chunks: map[sheaf.ID]known[sheaf.Chunk]{}, documents: map[sheaf.ID]known[sheaf.Document]{}}
}

// Chunk implements rank.Facts.
func (m *memo) Chunk(id sheaf.ID) (sheaf.Chunk, bool) { return recall(m.chunks, id, m.Facts.Chunk) }

// Document implements rank.Facts.
func (m *memo) Document(id sheaf.ID) (sheaf.Document, bool) {
	return recall(m.documents, id, m.Facts.Document)
}

func recall[T any](seen map[sheaf.ID]known[T], id sheaf.ID, ask func(sheaf.ID) (T, bool)) (T, bool) {
	k, ok := seen[id]
	if !ok {
		k.value, k.ok = ask(id)
		seen[id] = k
	}
	return k.value, k.ok
}
