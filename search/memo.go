package search

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/rank"
	"sheaf/store"
)

// memo remembers the facts that one search asks for, since its stages ask for
// the same chunks again and again. It is used by one goroutine.
type memo struct {
	rank.Facts
	*tables
	short  rank.Outliner            // the same facts, when they can tell in short
	shared sharer                   // the same facts, when they need not copy documents
	placer placer                   // the same facts, when they know where a store has its chunks
	carder carder                   // the same facts, when they can tell in short what is shown
	met    map[sheaf.ID]*sheaf.Node // the hits of a first phase; nil when there is none
}

// sharer is facts that share the documents that they keep.
type sharer interface {
	// SharedDocument is the document called id, which must not be changed; nil when
	// there is none.
	SharedDocument(id sheaf.ID) *sheaf.Document
}

// placer is facts that know chunks by their places in a store.
type placer interface {
	// NodeAt is what Node of [rank.Outliner] says of the chunk called id, which the store
	// in this state has at this place.
	NodeAt(id sheaf.ID, state uint64, place uint32) *sheaf.Node
}

// carder is facts that can tell in short what is shown.
type carder interface {
	// Card writes what Chunk and Document say of the chunk called id, with its lists in
	// memory of lists, where they stay; false when they tell more, or nothing.
	Card(id sheaf.ID, card *catalog.Card, lists *[]string) bool
}

// tables are the memory of a memo that other searches use again. It belongs to one
// search, until release: that search lies in it, with what it asks and works with. What a
// store is asked with is not among it, but where it keeps nothing of what it is asked.
type tables struct {
	memo memo
	run  run
	working
	documents map[sheaf.ID]*sheaf.Document
	outlines  map[sheaf.ID]*sheaf.Outline // made of documents
	chunks    map[sheaf.ID]*sheaf.Chunk
	dates     map[sheaf.ID]known[sheaf.Dated]
	nodes     table[sheaf.Node]
	brief     table[sheaf.Outline] // from short
	rooms     []*store.Room        // for rankings that end with the search
	taken     int                  // so many of rooms
	found     foundRoom
	// judged are the documents of the search by which its answers are judged.
	judged []judgedDocument
}

var tablesPool = sync.Pool{New: func() any {
	return &tables{documents: map[sheaf.ID]*sheaf.Document{}, outlines: map[sheaf.ID]*sheaf.Outline{}, chunks: map[sheaf.ID]*sheaf.Chunk{},
		dates: map[sheaf.ID]known[sheaf.Dated]{}}
}}

// maxKeptSlots is the largest table that is kept for another search.
const maxKeptSlots = 1 << 14

// maxKeptFacts is what the largest map holds that is kept for another search: to empty one
// takes the time of the most that it ever held.
const maxKeptFacts = 1 << 10

// release gives the tables back; the memo is used no more.
func (m *memo) release() {
	t := m.tables
	if max(len(t.nodes), len(t.brief)) > maxKeptSlots || max(len(t.documents), len(t.outlines), len(t.chunks), len(t.dates)) > maxKeptFacts {
		return
	}
	clear(t.documents)
	clear(t.outlines)
	clear(t.chunks)
	clear(t.dates)
	clear(t.nodes)
	clear(t.brief)
	for _, room := range t.rooms[:t.taken] {
		clear(room.Hits[:cap(room.Hits)])
		if cap(room.Scores) > maxKeptSlots {
			room.Scores = nil
		}
	}
	t.found.forget()
	clear(t.judged[:cap(t.judged)])
	if cap(t.judged) > maxKeptSlots {
		t.judged = nil
	}
	t.taken = 0
	clear(t.run.similar[:cap(t.run.similar)])
	t.run, t.memo = run{similar: t.run.similar[:0]}, memo{}
	t.working.forget()
	tablesPool.Put(t)
}

// maxRoom is the most hits that there is memory for beforehand.
const maxRoom = 1 << 12

// room is memory for a ranking of n hits that nothing holds when m is released.
func (m *memo) room(n int) *store.Room {
	if m.taken == len(m.rooms) {
		m.rooms = append(m.rooms, &store.Room{})
	}
	room := m.rooms[m.taken]
	m.taken++
	if cap(room.Hits) < n && n <= maxRoom {
		room.Hits = make(sheaf.Ranking, 0, n+n/4) // the next may be longer
	}
	room.Places.State = 0
	return room
}

// table keeps what was found of IDs, each in a slot that another may take when it is full. Stages ask
// for the same hits one after another, each with the very string that the hit has:
// where that lies in memory tells IDs apart, and no text is read.
type table[T any] []seen[T]

type seen[T any] struct {
	id    sheaf.ID
	value *T
}

// fewHits is the room of a table when nobody said how much is needed.
const fewHits = 256

// room makes a table that has twice the slots that n IDs need, if it is smaller.
func (t *table[T]) room(n int) {
	if size := max(fewHits, 2<<bits.Len(uint(n))); size > len(*t) {
		*t = make(table[T], size)
	}
}

// mostProbed is how many slots are looked at for an ID.
const mostProbed = 8

// slot is that of id. It holds what was found of this very id when found is true; else it
// is empty, or that of another when there is none empty near its place.
func (t *table[T]) slot(id sheaf.ID) (slot *seen[T], found bool) {
	if *t == nil {
		t.room(0)
	}
	const mix = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: its multiples spread
	start, mask := unsafe.StringData(string(id)), len(*t)-1
	home := int(uint64(uintptr(unsafe.Pointer(start))) * mix >> (64 - bits.Len(uint(mask))))
	for i := range mostProbed {
		slot = &(*t)[(home+i)&mask]
		if slot.value == nil {
			return slot, false
		}
		if len(slot.id) == len(id) && unsafe.StringData(string(slot.id)) == start {
			return slot, true
		}
	}
	return &(*t)[home], false
}

type known[T any] struct {
	value T
	ok    bool
}

var (
	_ rank.Outliner = (*memo)(nil)
)

func newMemo(facts rank.Facts) *memo {
	short, _ := facts.(rank.Outliner)
	shared, _ := facts.(sharer)
	placer, _ := facts.(placer)
	carder, _ := facts.(carder)
	t := tablesPool.Get().(*tables)
	t.memo = memo{Facts: facts, tables: t, short: short, shared: shared, placer: placer, carder: carder}
	return &t.memo
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
		if m.shared != nil {
			d = m.shared.SharedDocument(id)
		} else if value, ok := m.Facts.Document(id); ok {
			d = &value
		}
		m.documents[id] = d
	}
	return d
}

// card writes that of the chunk or document called id, with its lists in memory of lists,
// where they stay; of what is unknown an empty one.
func (m *memo) card(id sheaf.ID, card *catalog.Card, lists *[]string) {
	if m.carder != nil && m.carder.Card(id, card, lists) {
		return
	}
	*card = catalog.Card{}
	c := m.part(id)
	if c == nil {
		return
	}
	*card = catalog.Card{Doc: c.Doc, Title: c.Title, Breadcrumb: c.Breadcrumb, Hierarchy: c.Hierarchy, Tags: c.Tags, Depth: c.Depth, Span: c.Span, Body: c.Body}
	if d := m.document(c.Doc); d != nil {
		card.Path, card.Tags = d.Path, slices.Concat(c.Tags, d.Tags)
	}
}

// called is what the chunk called id is called, and its span; false when there is none.
func (m *memo) called(id sheaf.ID) (title string, span sheaf.Span, ok bool) {
	var card catalog.Card
	if m.carder != nil && m.carder.Card(id, &card, nil) {
		return card.Title, card.Span, true
	}
	if c := m.chunk(id); c != nil {
		return c.Title, c.Span, true
	}
	return "", sheaf.Span{}, false
}

// part is what Part is, shared; nil when there is neither.
func (m *memo) part(id sheaf.ID) *sheaf.Chunk {
	if c := m.chunk(id); c != nil {
		return c
	}
	if d := m.document(id); d != nil {
		return d.Part(id)
	}
	return nil
}

// Part is the chunk called id, or the document called so, which is an answer too where
// documents are cut into pieces, as though it were one chunk ([sheaf.Document.Part]);
// false when there is neither.
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
	slot, found := m.nodes.slot(id)
	if found {
		return slot.value
	}
	var n *sheaf.Node
	if met, ok := m.met[id]; ok {
		n = met
	} else if m.short != nil {
		n = m.short.Node(id)
	} else if c := m.chunk(id); c != nil {
		node := sheaf.NodeOf(c)
		n = &node
	}
	if n != nil {
		*slot = seen[sheaf.Node]{id, n}
	}
	return n
}

// nodeAt is Node of a hit that the store in this state has at this place; state 0 is none.
func (m *memo) nodeAt(id sheaf.ID, state uint64, place uint32) *sheaf.Node {
	if state == 0 || m.placer == nil {
		return m.Node(id)
	}
	n := m.placer.NodeAt(id, state, place)
	if n != nil {
		slot, _ := m.nodes.slot(id)
		*slot = seen[sheaf.Node]{id, n}
	}
	return n
}

// meet looks at the hits of a first phase, and reports whether all are known. Their
// IDs come again from the branches that they bound, in other memory.
func (m *memo) meet(outcomes []outcome) bool {
	n := 0
	for i := range outcomes {
		n += len(outcomes[i].ranking)
	}
	met, all := make(map[sheaf.ID]*sheaf.Node, n), true
	find := m.Node
	if m.short != nil { // most are asked for once
		find = m.short.Node
	}
	for i := range outcomes {
		for k := range outcomes[i].ranking {
			id := outcomes[i].ranking[k].ID
			if _, known := met[id]; !known {
				met[id] = find(id)
				all = all && met[id] != nil
			}
		}
	}
	m.met = met
	return all
}

// expect makes room for n candidates.
func (m *memo) expect(n int) {
	m.nodes.room(n)
}

// forget ends the use of what meet noted; m can be asked further.
func (m *memo) forget() {
	m.met = nil
}

// Outline implements rank.Outliner.
func (m *memo) Outline(id sheaf.ID) *sheaf.Outline {
	if m.short == nil {
		return m.outline(id)
	}
	slot, found := m.brief.slot(id)
	if !found {
		o := m.short.Outline(id)
		if o == nil {
			return nil
		}
		*slot = seen[sheaf.Outline]{id, o}
	}
	return slot.value
}

// outline makes the outline of a document.
func (m *memo) outline(id sheaf.ID) *sheaf.Outline {
	o, seen := m.outlines[id]
	if !seen {
		if d := m.document(id); d != nil {
			date, _ := m.Date(id)
			o = sheaf.OutlineOf(d, date)
		}
		m.outlines[id] = o
	}
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
