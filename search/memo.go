package search

import (
	"strings"

	"sheaf"
	"sheaf/rank"
)

// memo remembers the facts that one search asks for, since its stages ask for
// the same chunks again and again. Chunks come from their documents: several
// chunks of one cost the look-up of one. It is used by one goroutine.
type memo struct {
	rank.Facts
	chunks    map[sheaf.ID]known[sheaf.Chunk]
	documents map[sheaf.ID]known[sheaf.Document]
	dates     map[sheaf.ID]known[sheaf.Dated]
}

type known[T any] struct {
	value T
	ok    bool
}

func newMemo(facts rank.Facts) *memo {
	return &memo{Facts: facts, chunks: map[sheaf.ID]known[sheaf.Chunk]{}, documents: map[sheaf.ID]known[sheaf.Document]{}, dates: map[sheaf.ID]known[sheaf.Dated]{}}
}

// Chunk implements rank.Facts.
func (m *memo) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if k, ok := m.chunks[id]; ok {
		return k.value, k.ok
	}
	if at := strings.LastIndexByte(string(id), '#'); at > 0 {
		m.Document(id[:at])
	} else {
		m.Document(id)
	}
	return recall(m.chunks, id, m.Facts.Chunk)
}

// Document implements rank.Facts. Its chunks are remembered with it.
func (m *memo) Document(id sheaf.ID) (sheaf.Document, bool) {
	if k, ok := m.documents[id]; ok {
		return k.value, k.ok
	}
	d, ok := recall(m.documents, id, m.Facts.Document)
	if ok {
		for i := range d.Chunks {
			m.chunks[d.Chunks[i].ID] = known[sheaf.Chunk]{d.Chunks[i], true}
		}
	}
	return d, ok
}

// Date implements rank.Facts.
func (m *memo) Date(doc sheaf.ID) (sheaf.Dated, bool) { return recall(m.dates, doc, m.Facts.Date) }

func recall[K comparable, T any](seen map[K]known[T], id K, ask func(K) (T, bool)) (T, bool) {
	k, ok := seen[id]
	if !ok {
		k.value, k.ok = ask(id)
		seen[id] = k
	}
	return k.value, k.ok
}
