package search

import (
	"strings"

	"sheaf"
	"sheaf/rank"
)

// memo remembers the facts that one search asks for, since its stages ask for
// the same chunks again and again. It is used by one goroutine.
type memo struct {
	rank.Facts
	short     rank.Outliner // the same facts, when they can tell in short
	nodes     map[sheaf.ID]*sheaf.Node
	documents map[sheaf.ID]*sheaf.Document
	outlines  map[sheaf.ID]*sheaf.Outline
	last      *sheaf.Outline // of those, the one asked for last
	chunks    map[sheaf.ID]known[sheaf.Chunk]
	dates     map[sheaf.ID]known[sheaf.Dated]
}

type known[T any] struct {
	value T
	ok    bool
}

var _ rank.Outliner = (*memo)(nil)

func newMemo(facts rank.Facts) *memo {
	short, _ := facts.(rank.Outliner)
	return &memo{Facts: facts, short: short, nodes: map[sheaf.ID]*sheaf.Node{}, documents: map[sheaf.ID]*sheaf.Document{},
		outlines: map[sheaf.ID]*sheaf.Outline{}, chunks: map[sheaf.ID]known[sheaf.Chunk]{}, dates: map[sheaf.ID]known[sheaf.Dated]{}}
}

// Chunk implements rank.Facts. Chunks come from their documents: several chunks
// of one cost the look-up of one.
func (m *memo) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	return recall(m.chunks, id, func(id sheaf.ID) (sheaf.Chunk, bool) {
		doc := id
		if at := strings.LastIndexByte(string(id), '#'); at > 0 {
			doc = id[:at]
		}
		if d := m.document(doc); d != nil {
			for i := range d.Chunks {
				if d.Chunks[i].ID == id {
					return d.Chunks[i], true
				}
			}
		}
		return m.Facts.Chunk(id)
	})
}

// Document implements rank.Facts.
func (m *memo) Document(id sheaf.ID) (sheaf.Document, bool) {
	if d := m.document(id); d != nil {
		return *d, true
	}
	return sheaf.Document{}, false
}

func (m *memo) document(id sheaf.ID) *sheaf.Document {
	d, seen := m.documents[id]
	if !seen {
		if value, ok := m.Facts.Document(id); ok {
			d = &value
		}
		m.documents[id] = d
	}
	return d
}

// Date implements rank.Facts.
func (m *memo) Date(doc sheaf.ID) (sheaf.Dated, bool) {
	if m.short == nil {
		return recall(m.dates, doc, m.Facts.Date)
	}
	if o := m.Outline(doc); o != nil && o.Date.Source != 0 {
		return o.Date, true
	}
	return sheaf.Dated{}, false
}

// Node implements rank.Outliner.
func (m *memo) Node(id sheaf.ID) *sheaf.Node {
	n, seen := m.nodes[id]
	if seen {
		return n
	}
	if m.short != nil {
		n = sheaf.NodeIn(m.Outline, id)
	} else if c, ok := m.Chunk(id); ok {
		node := sheaf.NodeOf(&c)
		n = &node
	}
	m.nodes[id] = n
	return n
}

// has reports whether there is a chunk. Thousands are asked for once, of which a
// few come back: nothing is remembered of them.
func (m *memo) has(id sheaf.ID) bool {
	facts := m.short
	if facts == nil {
		facts = m
	}
	return facts.Node(id) != nil
}

// expect makes room for the facts about n candidates.
func (m *memo) expect(n int) {
	if len(m.nodes) == 0 {
		m.nodes = make(map[sheaf.ID]*sheaf.Node, n)
	}
	if len(m.outlines) == 0 {
		m.outlines = make(map[sheaf.ID]*sheaf.Outline, n/2)
	}
}

// Outline implements rank.Outliner.
func (m *memo) Outline(id sheaf.ID) *sheaf.Outline {
	if m.last == nil || m.last.ID != id { // a stage asks several things of one candidate
		m.last = m.outline(id)
	}
	return m.last
}

func (m *memo) outline(id sheaf.ID) *sheaf.Outline {
	o, seen := m.outlines[id]
	if seen {
		return o
	}
	if m.short != nil {
		o = m.short.Outline(id)
	} else if d := m.document(id); d != nil {
		date, _ := m.Date(id)
		o = sheaf.OutlineOf(d, date)
	}
	m.outlines[id] = o
	return o
}

func recall[K comparable, T any](seen map[K]known[T], id K, ask func(K) (T, bool)) (T, bool) {
	k, ok := seen[id]
	if !ok {
		k.value, k.ok = ask(id)
		seen[id] = k
	}
	return k.value, k.ok
}
