package search

import (
	"math/bits"
	"strings"
	"unsafe"

	"sheaf"
	"sheaf/rank"
)

// memo remembers the facts that one search asks for, since its stages ask for
// the same chunks again and again. It is used by one goroutine.
type memo struct {
	rank.Facts
	short     rank.Outliner // the same facts, when they can tell in short
	nodes     []seenNode    // see slot
	documents map[sheaf.ID]*sheaf.Document
	outlines  map[sheaf.ID]*sheaf.Outline
	last      *sheaf.Outline // of those, the one asked for last
	chunks    map[sheaf.ID]*sheaf.Chunk
	dates     map[sheaf.ID]known[sheaf.Dated]
}

// seenNode is a chunk that was asked for. Stages ask for the same hits one after
// another, each with the very string that the hit has: where that lies in memory
// tells them apart, and no text is read.
type seenNode struct {
	id   sheaf.ID
	node *sheaf.Node
}

// fewNodes is the room for nodes when nobody said how many there are.
const fewNodes = 256

// slot is where the node of id is kept, which may be taken by another's.
func (m *memo) slot(id sheaf.ID) *seenNode {
	if m.nodes == nil {
		m.nodes = make([]seenNode, fewNodes)
	}
	const mix = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: its multiples spread
	place := uint64(uintptr(unsafe.Pointer(unsafe.StringData(string(id))))) * mix
	return &m.nodes[place>>(64-bits.Len(uint(len(m.nodes)-1)))]
}

// is reports whether the slot holds the node of this very id.
func (s *seenNode) is(id sheaf.ID) bool {
	return s.node != nil && len(s.id) == len(id) && unsafe.StringData(string(s.id)) == unsafe.StringData(string(id))
}

type known[T any] struct {
	value T
	ok    bool
}

var _ rank.Outliner = (*memo)(nil)

func newMemo(facts rank.Facts) *memo {
	short, _ := facts.(rank.Outliner)
	return &memo{Facts: facts, short: short, documents: map[sheaf.ID]*sheaf.Document{},
		outlines: map[sheaf.ID]*sheaf.Outline{}, chunks: map[sheaf.ID]*sheaf.Chunk{}, dates: map[sheaf.ID]known[sheaf.Dated]{}}
}

// Chunk implements rank.Facts.
func (m *memo) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if c := m.chunk(id); c != nil {
		return *c, true
	}
	return sheaf.Chunk{}, false
}

// chunk is the chunk called id, nil when there is none. Chunks come from their
// documents: several of one cost the look-up of one.
func (m *memo) chunk(id sheaf.ID) *sheaf.Chunk {
	c, seen := m.chunks[id]
	if !seen {
		c = m.findChunk(id)
		m.chunks[id] = c
	}
	return c
}

func (m *memo) findChunk(id sheaf.ID) *sheaf.Chunk {
	doc := id
	if at := strings.LastIndexByte(string(id), '#'); at > 0 {
		doc = id[:at]
	}
	if d := m.document(doc); d != nil {
		for i := range d.Chunks {
			if d.Chunks[i].ID == id {
				return &d.Chunks[i]
			}
		}
	}
	if c, ok := m.Facts.Chunk(id); ok {
		return &c
	}
	return nil
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
	slot := m.slot(id)
	if slot.is(id) {
		return slot.node
	}
	var n *sheaf.Node
	if m.short != nil {
		n = m.short.Node(id)
	} else if c := m.chunk(id); c != nil {
		node := sheaf.NodeOf(c)
		n = &node
	}
	if n != nil {
		*slot = seenNode{id, n}
	}
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

// expect makes room for the nodes of n candidates.
func (m *memo) expect(n int) {
	if size := 2 << bits.Len(uint(n)); size > len(m.nodes) {
		m.nodes = make([]seenNode, max(fewNodes, size))
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
