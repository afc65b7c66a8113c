package catalog

import (
	"math"
	"math/bits"
	"strings"
	"sync/atomic"
	"unique"
	"unsafe"

	"github.com/zeebo/xxh3"

	"sheaf"
)

// Ranking looks at hundreds of candidates in as many documents, and at little of
// each. Outlines are that little; they are made from records without what else is
// in them, and a view keeps those that it made.

// Outline is what ranking asks of the document called id; nil when there is none.
// It is shared and must not be changed.
func (v *View) Outline(id sheaf.ID) *sheaf.Outline {
	if o := v.outlines.get(id); o != nil {
		return o
	}
	s, st, err := v.find(id)
	if err != nil || s == nil {
		v.note(err)
		return nil
	}
	o, err := s.outline(id, st, &v.decoded)
	if err != nil {
		v.note(translate(err))
		return nil
	}
	number := v.number(s, st)
	for i := range o.Nodes {
		o.Nodes[i].Number = number
	}
	v.outlines.put(o.ID, o, outlineSize(o))
	return o
}

// number is that of a document among those of all segments, from 1; 0 when they are more
// than there are numbers.
func (v *View) number(of *segment, st *state) uint32 {
	n := uint64(st.at) + 1
	for _, s := range v.segments {
		if s == of {
			break
		}
		n += uint64(s.n)
	}
	if n > math.MaxUint32 {
		return 0
	}
	return uint32(n)
}

// Node is where the chunk called id stands, nil when there is none. It is shared
// and must not be changed.
func (v *View) Node(id sheaf.ID) *sheaf.Node {
	met := *v.nodes.Load()
	slot := &met[xxh3.HashString(string(id))&uint64(len(met)-1)]
	if n := slot.Load(); n != nil && n.ID == id {
		return n
	}
	n := sheaf.NodeIn(v.Outline, id)
	if n != nil {
		slot.Store(n)
	}
	return n
}

// metNodes are chunks that were asked for, each at the place that its ID hashes to,
// where another may take it: a query asks for hundreds, and one look here takes the
// place of finding the document and comparing the IDs of its chunks. They are parts
// of outlines, and go when outlines do. The number of places is a power of two.
type metNodes []atomic.Pointer[sheaf.Node]

// The number of places: at least that of chunks, so that few share one, within bounds.
const (
	minMetNodes = 1 << 10
	maxMetNodes = 1 << 18
)

func newMetNodes(chunks int) *metNodes {
	met := make(metNodes, min(max(minMetNodes, 1<<bits.Len(uint(chunks))), maxMetNodes))
	return &met
}

// outline decodes the outline of a document into memory of a room.
func (s *segment) outline(id sheaf.ID, st *state, in *room) (*sheaf.Outline, error) {
	b, err := s.encoded(st)
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	o := decodeOutline(b, id, &in.pieces)
	if o == nil {
		in.pieces = pieces{} // something of it is in what is left
		return nil, s.r.Corrupt(sectionData, 0, "the record of %s cannot be read", id)
	}
	return o, nil
}

// decodeOutline reads the part of a record that is in its outline; nil when the
// bytes are no record. It lies in pieces, and nothing in it shares the memory of b: blocks
// are large, and outlines are kept.
func decodeOutline(b []byte, id sheaf.ID, in *pieces) *sheaf.Outline {
	d := &decoder{b: b}
	h := decodeHead(d)
	var r Record
	decodeProperties(d, &r.Document)
	decodeRest(d, &r)
	o := one(&in.outlines, roomDocuments)
	*o = *sheaf.OutlineOf(&r.Document, r.Date) // without chunks it is nowhere pointed at
	for _, alias := range h.aliases {
		o.Aliases = append(o.Aliases, strings.Clone(alias))
	}
	for i := range o.Numbers {
		o.Numbers[i].Name = unique.Make(o.Numbers[i].Name).Value() // few are different
	}
	n := d.count(4)
	nodes := nodeDecoder{decoder: d, text: make([]byte, 0, len(id)+len(h.title)+n*(len(id)+48)), parents: make([]int, n)}
	nodes.text = append(append(nodes.text, id...), h.title...)
	nodes.ids, nodes.titles = make([]stretch, n), make([]stretch, n)
	if n > 0 {
		made := open(in.nodes, n, roomParts)[:n]
		o.Nodes, in.nodes = made[:n:n], closed(made)
	}
	for i := range o.Nodes {
		nodes.next(i, &o.Nodes[i], stretch{0, len(id)}, stretch{len(id), len(id) + len(h.title)})
	}
	if d.bad {
		return nil
	}
	own := append(open(in.text, len(nodes.text), roomText), nodes.text...)
	in.text = closed(own)
	text := view(own)
	o.ID = sheaf.ID(text[:len(id)])
	o.Path = o.ID.Path()
	for i := range o.Nodes {
		node := &o.Nodes[i]
		node.Outline, node.Doc, node.ID, node.Title = o, o.ID, sheaf.ID(nodes.ids[i].of(text)), nodes.titles[i].of(text)
		switch p := nodes.parents[i]; p {
		case 0:
		case 1:
			if node.Parent = o.ID; i > 0 && o.Nodes[0].ID == o.ID {
				node.Above = &o.Nodes[0]
			}
		default:
			node.Parent, node.Above = o.Nodes[p-2].ID, &o.Nodes[p-2]
		}
	}
	return o
}

// stretch is a part of a text.
type stretch struct{ start, end int }

func (s stretch) of(text string) string { return text[s.start:s.end] }

// nodeDecoder reads stored chunks as decodeChunks does. All strings of an outline
// lie in one text, which begins with the document's ID.
type nodeDecoder struct {
	*decoder
	text        []byte
	ids, titles []stretch
	parents     []int // as they are stored
	end         int   // of the body before
}

// next reads chunk i. doc and title are the document's ID and title in the text.
func (d *nodeDecoder) next(i int, node *sheaf.Node, doc, title stretch) {
	flags := d.byte()
	if d.parents[i] = d.uint(); d.parents[i]-2 >= i {
		d.fail()
	}
	node.Depth = d.uint()
	d.titles[i] = title
	if flags&chunkTitle != 0 {
		d.titles[i] = d.add(d.str())
	}
	d.ids[i] = doc
	start := len(d.text)
	d.text = append(append(d.text, d.text[doc.start:doc.end]...), '#')
	slug := len(d.text)
	if flags&chunkSlug != 0 {
		d.text = append(d.text, d.str()...)
	} else {
		d.text = appendPlainSlug(d.text, d.titles[i])
	}
	if len(d.text) > slug {
		d.ids[i] = stretch{start, len(d.text)}
	} else {
		d.text = d.text[:start]
	}
	if flags&chunkExtra != 0 {
		d.uint()
		d.skip(d.count(1))
	}
	d.end = decodeSpans(d.decoder, &sheaf.Chunk{}, flags, d.end)
	node.SiblingCount = d.uint()
	if flags&chunkLists != 0 {
		for range 3 {
			d.skip(d.count(1))
		}
	}
}

func (d *nodeDecoder) add(s string) stretch {
	start := len(d.text)
	d.text = append(d.text, s...)
	return stretch{start, len(d.text)}
}

// skip passes over n strings.
func (d *nodeDecoder) skip(n int) {
	for range n {
		d.str()
	}
}

// appendPlainSlug appends plainSlug of a part of text to it.
func appendPlainSlug(text []byte, title stretch) []byte {
	start := len(text)
	for i := title.start; i < title.end; i++ {
		c, ok := plainSlugByte(text[i])
		switch {
		case text[i] >= 0x80:
			return text[:start]
		case ok:
			text = append(text, c)
		}
	}
	return text
}

// outlineBytes is about 100,000 sections.
const outlineBytes = 20 << 20

// outlineSize is about what an outline takes in memory.
func outlineSize(o *sheaf.Outline) int {
	size := 256 + len(o.Nodes)*int(unsafe.Sizeof(sheaf.Node{}))
	for i := range o.Nodes {
		size += len(o.Nodes[i].ID) + len(o.Nodes[i].Title)
	}
	return size
}
