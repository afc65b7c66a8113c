package catalog

import (
	"math"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/zeebo/xxh3"

	"sheaf"
)

// Every answer shows ten chunks of as many documents, and little of each. Cards are that
// little. What is kept of them holds no pointer: kept as records, of which each chunk has
// ten, they were most of what is looked at to collect garbage.

// Card is what is shown of a chunk, and of its document with it, as [sheaf.Chunk] and
// [sheaf.Document] have it.
type Card struct {
	Doc               sheaf.ID
	Path              string
	Title, Breadcrumb string
	// Hierarchy and Tags, which are the chunk's and then its document's, some of them twice,
	// are nil when nobody asked for them.
	Hierarchy, Tags []string
	Depth           int
	Span, Body      sheaf.Span
	Frontmatter     sheaf.Span
	FrontmatterText bool
	Date            sheaf.Dated // without a Source when the document has none
}

// Card writes that of the chunk called id. Its lists are appended to lists; nil leaves them
// out. False says that there is no such chunk, or that it has no card: Lookup tells.
func (v *View) Card(id sheaf.ID, card *Card, lists *[]string) bool {
	doc := id
	if at := strings.LastIndexByte(string(id), '#'); at > 0 {
		doc = id[:at]
	}
	return v.cardIn(doc, id, card, lists) || doc != id && v.cardIn(id, id, card, lists)
}

// cardIn is Card of a chunk of a document. Faults are for who asks for its record.
func (v *View) cardIn(doc, id sheaf.ID, card *Card, lists *[]string) bool {
	known, ok := v.cards.get(doc, id, card, lists)
	if !known && v.passing(doc, v.cards.put) == nil {
		_, ok = v.cards.get(doc, id, card, lists)
	}
	return ok
}

// cards keeps those of documents as keptTexts keeps texts: about limit bytes of them twice.
// It is safe for concurrent use.
type cards struct {
	limit       int
	mu          sync.RWMutex
	now, before keptCards
}

// keptCards are those of many documents, found by the hashes of their IDs.
type keptCards struct {
	at     map[uint64]cardsAt
	pieces []cardPiece // few, so that what stands there of them stays in the caches of processors
}

type cardsAt struct{ piece, document uint32 }

// noCards is the piece of a document that has none.
const noCards = math.MaxUint32

// How much there is in a piece: about as much of each as documents take. Documents that
// take more than all of one have no cards.
const (
	cardDocuments = 384
	cardChunks    = 768
	cardLists     = 6 * cardChunks
	cardText      = 128 << 10
)

// cardPiece is memory for the cards of some documents, whose texts are parts of text. What
// was written is not changed.
type cardPiece struct {
	text      []byte
	documents []cardDocument
	chunks    []cardChunk
	lists     []part
}

// part is from where to where something is.
type part struct{ start, end uint32 }

type cardDocument struct {
	id, chunks, tags part
	frontmatter      sheaf.Span
	date             int64 // in milliseconds
	source           sheaf.DateSource
	frontmatterText  bool
}

type cardChunk struct {
	id, title, breadcrumb part // of text
	hierarchy, tags       part // of lists
	depth                 int32
	span, body            sheaf.Span
}

// cardBytes is about how much memory cards take, twice. A piece takes cardPieceBytes, and
// finding a document cardEntry: a table that grows has room for twice what is in it.
const (
	cardBytes      = 8 << 20
	cardPieceBytes = cardText + cardDocuments*int(unsafe.Sizeof(cardDocument{})) + cardChunks*int(unsafe.Sizeof(cardChunk{})) + cardLists*int(unsafe.Sizeof(part{}))
	cardEntry      = 2 * int(unsafe.Sizeof(uint64(0))+unsafe.Sizeof(cardsAt{}))
)

// get writes the card of a chunk; known says that there are cards of its document.
func (c *cards) get(doc, id sheaf.ID, card *Card, lists *[]string) (known, ok bool) {
	key := xxh3.HashString(string(doc))
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, kept := range [...]*keptCards{&c.now, &c.before} {
		if p, d, known := kept.find(key, doc); known {
			return true, p != nil && p.card(d, id, card, lists)
		}
	}
	return false, false
}

// date is that of a document, without a source when it has none; false when it has no cards.
func (c *cards) date(doc sheaf.ID) (sheaf.Dated, bool) {
	key := xxh3.HashString(string(doc))
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, kept := range [...]*keptCards{&c.now, &c.before} {
		if p, d, _ := kept.find(key, doc); p != nil {
			return d.dated(), true
		}
	}
	return sheaf.Dated{}, false
}

// find is where the cards of a document are, nil when it has none; known is false when
// nobody looked.
func (k *keptCards) find(key uint64, doc sheaf.ID) (p *cardPiece, d *cardDocument, known bool) {
	at, known := k.at[key]
	if !known || at.piece == noCards {
		return nil, nil, known
	}
	p = &k.pieces[at.piece]
	d = &p.documents[at.document]
	if p.of(d.id) != string(doc) { // of two with the same hash the first has its cards
		return nil, nil, true
	}
	return p, d, true
}

func (p *cardPiece) of(at part) string { return view(p.text[at.start:at.end]) }

func (d *cardDocument) dated() (date sheaf.Dated) {
	if date.Source = d.source; date.Source != 0 {
		date.Time = time.UnixMilli(d.date).UTC()
	}
	return date
}

// card writes the card of a chunk of a document.
func (p *cardPiece) card(d *cardDocument, id sheaf.ID, card *Card, lists *[]string) bool {
	for i := d.chunks.start; i < d.chunks.end; i++ {
		c := &p.chunks[i]
		if p.of(c.id) != string(id) {
			continue
		}
		doc := sheaf.ID(p.of(d.id))
		*card = Card{Doc: doc, Path: doc.Path(), Title: p.of(c.title), Breadcrumb: p.of(c.breadcrumb), Depth: int(c.depth), Span: c.span, Body: c.body,
			Frontmatter: d.frontmatter, FrontmatterText: d.frontmatterText, Date: d.dated()}
		if lists != nil {
			card.Hierarchy = p.list(lists, c.hierarchy)
			card.Tags = p.list(lists, c.tags, d.tags)
		}
		return true
	}
	return false
}

// list appends texts to lists, and returns them; nil for none.
func (p *cardPiece) list(lists *[]string, of ...part) []string {
	from := len(*lists)
	for _, texts := range of {
		for _, at := range p.lists[texts.start:texts.end] {
			*lists = append(*lists, p.of(at))
		}
	}
	if len(*lists) == from {
		return nil
	}
	return (*lists)[from:len(*lists):len(*lists)]
}

// put keeps the cards of a document.
func (c *cards) put(r *Record) {
	doc := &r.Document
	chunks, lists, text := len(doc.Chunks), 0, len(doc.ID)
	add := func(list []string) {
		lists += len(list)
		for _, s := range list {
			text += len(s)
		}
	}
	add(doc.Tags)
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		text += len(c.ID) + len(c.Title) + len(c.Breadcrumb)
		add(c.Hierarchy)
		add(c.Tags)
	}
	key := xxh3.HashString(string(doc.ID))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.at == nil || len(c.now.pieces)*cardPieceBytes+len(c.now.at)*cardEntry > c.limit {
		c.before, c.now = c.now, keptCards{at: map[uint64]cardsAt{}}
	}
	if _, ok := c.now.at[key]; ok {
		return
	}
	if chunks > cardChunks || lists > cardLists || text > cardText {
		c.now.at[key] = cardsAt{piece: noCards}
		return
	}
	last := len(c.now.pieces) - 1
	if last < 0 || !c.now.pieces[last].holds(chunks, lists, text) {
		c.now.pieces = append(c.now.pieces, cardPiece{make([]byte, 0, cardText), make([]cardDocument, 0, cardDocuments), make([]cardChunk, 0, cardChunks), make([]part, 0, cardLists)})
		last++
	}
	p := &c.now.pieces[last]
	c.now.at[key] = cardsAt{uint32(last), uint32(len(p.documents))}
	p.add(r)
}

// holds reports whether there is room for a document of so many chunks, members of lists
// and bytes of text.
func (p *cardPiece) holds(chunks, lists, text int) bool {
	return len(p.documents) < cardDocuments && cap(p.chunks)-len(p.chunks) >= chunks && cap(p.lists)-len(p.lists) >= lists && cap(p.text)-len(p.text) >= text
}

// add adds the cards of a document, for which there is room.
func (p *cardPiece) add(r *Record) {
	doc := &r.Document
	d := cardDocument{id: p.write(string(doc.ID)), frontmatter: doc.Frontmatter, frontmatterText: doc.FrontmatterText, source: r.Date.Source}
	if d.source != 0 {
		d.date = r.Date.Time.UnixMilli()
	}
	d.tags = p.writeList(doc.Tags, part{})
	d.chunks.start = uint32(len(p.chunks))
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		k := cardChunk{id: d.id, depth: int32(c.Depth), span: c.Span, body: c.Body, breadcrumb: p.write(c.Breadcrumb)}
		if c.ID != doc.ID {
			k.id = p.write(string(c.ID))
		}
		k.title = p.within(k.breadcrumb, c.Title)
		k.hierarchy, k.tags = p.writeList(c.Hierarchy, k.breadcrumb), p.writeList(c.Tags, part{})
		p.chunks = append(p.chunks, k)
	}
	d.chunks.end = uint32(len(p.chunks))
	p.documents = append(p.documents, d)
}

func (p *cardPiece) write(s string) part {
	start := len(p.text)
	p.text = append(p.text, s...)
	return part{uint32(start), uint32(len(p.text))}
}

// within is where a text stands in another that is written; written for itself where it
// does not.
func (p *cardPiece) within(other part, s string) part {
	if at := strings.Index(p.of(other), s); at >= 0 {
		start := other.start + uint32(at)
		return part{start, start + uint32(len(s))}
	}
	return p.write(s)
}

// writeList writes texts, which may stand within another.
func (p *cardPiece) writeList(texts []string, other part) part {
	start := len(p.lists)
	for _, s := range texts {
		p.lists = append(p.lists, p.within(other, s))
	}
	return part{uint32(start), uint32(len(p.lists))}
}
