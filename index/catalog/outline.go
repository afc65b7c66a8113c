package catalog

import (
	"strings"
	"unique"
	"unsafe"

	"sheaf"
)

// Ranking examines hundreds of candidates in as many documents, but little of each. An outline has
// just that part of a record, and a view caches outlines.

// Outline returns the part of document id that ranking needs; nil when there is none. It is shared
// and must not be changed.
func (v *View) Outline(id sheaf.ID) *sheaf.Outline {
	if o, ok := v.outlines.get(id); ok {
		return o
	}
	s, st, err := v.find(id)
	if err != nil || s == nil {
		v.note(err)
		return nil
	}
	o, err := s.outline(id, st)
	if err != nil {
		v.note(translate(err))
		return nil
	}
	v.outlines.put(o.ID, o, outlineSize(o))
	return o
}

// Node returns the position of chunk id in its document; nil when there is none. It is shared and
// must not be changed.
func (v *View) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(v.Outline, id) }

func (s *segment) outline(id sheaf.ID, st *state) (*sheaf.Outline, error) {
	b, err := s.encoded(st)
	if err != nil {
		return nil, err
	}
	o := decodeOutline(b, id)
	if o == nil {
		return nil, s.r.Corrupt(sectionData, 0, "the record of %s cannot be read", id)
	}
	return o, nil
}

// decodeOutline reads the part of a record that is in its outline; nil for invalid bytes. The
// outline does not share the memory of b, because blocks are large and the cache keeps outlines.
func decodeOutline(b []byte, id sheaf.ID) *sheaf.Outline {
	d := &decoder{b: b}
	h := decodeHead(d)
	var r Record
	decodeProperties(d, &r.Document)
	decodeRest(d, &r)
	o := sheaf.OutlineOf(&r.Document, r.Date) // without chunks
	for _, alias := range h.aliases {
		o.Aliases = append(o.Aliases, strings.Clone(alias))
	}
	for i := range o.Numbers {
		o.Numbers[i].Name = unique.Make(o.Numbers[i].Name).Value() // there are few different names
	}
	n := d.count(4)
	nodes := nodeDecoder{decoder: d, text: make([]byte, 0, len(id)+len(h.title)+n*(len(id)+48)), parents: make([]int, n)}
	nodes.text = append(append(nodes.text, id...), h.title...)
	nodes.ids, nodes.titles = make([]stretch, n), make([]stretch, n)
	if n > 0 {
		o.Nodes = make([]sheaf.Node, n)
	}
	for i := range o.Nodes {
		nodes.next(i, &o.Nodes[i], stretch{0, len(id)}, stretch{len(id), len(id) + len(h.title)})
	}
	if d.bad {
		return nil
	}
	text := string(nodes.text)
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

// nodeDecoder reads stored chunks as decodeChunks does. All strings of an outline are in one text,
// which begins with the document's ID.
type nodeDecoder struct {
	*decoder
	text        []byte
	ids, titles []stretch
	parents     []int // as they are stored
	end         int   // end of the previous body
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

// outlineBytes is enough for about 100,000 sections.
const outlineBytes = 20 << 20

// outlineSize returns the approximate memory of an outline.
func outlineSize(o *sheaf.Outline) int {
	size := 256 + len(o.Nodes)*int(unsafe.Sizeof(sheaf.Node{}))
	for i := range o.Nodes {
		size += len(o.Nodes[i].ID) + len(o.Nodes[i].Title)
	}
	return size
}
