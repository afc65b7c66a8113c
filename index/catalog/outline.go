package catalog

import (
	"strings"
	"unique"
	"unsafe"

	"sheaf"
	"sheaf/internal/arena"
)

// Ranking examines hundreds of candidates in as many documents, but needs little of each. An outline has only this
// part of a record.

// Outline returns the part of a document's record that ranking needs. If there is no such document, it returns nil. The
// caller must not change the shared result.
func (v *View) Outline(id sheaf.ID) *sheaf.Outline {
	if o, ok := v.outlines.Get(id); ok {
		return o
	}
	s, st, err := v.find(id)
	if err != nil || s == nil {
		v.note(err)
		return nil
	}
	var o *sheaf.Outline
	err = s.decode(id, st, func(b []byte) bool {
		o = decodeOutline(b, id)
		return o != nil
	})
	if err != nil {
		v.note(translate(err))
		return nil
	}
	v.outlines.Put(o.ID, o, int64(outlineSize(o)))
	return o
}

// Node returns the position of a chunk in its document. If there is no such chunk, it returns nil. The caller must not
// change the result.
func (v *View) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(v.Outline, id) }

// decodeOutline reads the outline from an encoded record. For invalid bytes it returns nil. The outline does not share
// the memory of b, because blocks are large, and the cache keeps outlines.
func decodeOutline(b []byte, id sheaf.ID) *sheaf.Outline {
	d := &decoder{b: b}
	var r Record
	decodeAbove(d, &r)
	o := sheaf.OutlineOf(&r.Document, r.Date) // without chunks
	for i, alias := range o.Aliases {
		o.Aliases[i] = strings.Clone(alias)
	}
	for i := range o.Numbers {
		o.Numbers[i].Name = unique.Make(o.Numbers[i].Name).Value() // there are few different names
	}
	doc, n := &r.Document, d.count(4)
	o.ID = sheaf.ID(strings.Clone(string(id)))
	o.Path = o.ID.Path()
	doc.ID, doc.Title = o.ID, strings.Clone(doc.Title)
	if n > 0 {
		o.Nodes = make([]sheaf.Node, n)
	}
	texts := arena.NewTexts(min(n*(len(id)+2*usualSlug), largeBlock)) // IDs and titles
	end := 0
	for i := range o.Nodes {
		var c sheaf.Chunk
		flags, parent := decodeStart(d, doc, i, &c, texts)
		if flags&chunkTitle != 0 {
			c.Title = texts.Join(c.Title)
		}
		if flags&chunkExtra != 0 {
			d.uint()
			d.skipStrs()
		}
		end = decodeSpans(d, &c, flags, end)
		c.SiblingCount = d.uint()
		if flags&chunkLists != 0 {
			for range 3 {
				d.skipStrs()
			}
		}
		if d.bad {
			return nil
		}
		node := &o.Nodes[i]
		*node = *sheaf.NodeOf(&c)
		node.Outline = o
		switch {
		case parent > 1:
			node.Parent, node.Above = o.Nodes[parent-2].ID, &o.Nodes[parent-2]
		case parent == 1 && i > 0 && o.Nodes[0].ID == o.ID:
			node.Above = &o.Nodes[0]
		}
	}
	if d.bad {
		return nil
	}
	return o
}

// outlineSize returns roughly how many bytes of memory an outline takes.
func outlineSize(o *sheaf.Outline) int {
	size := 256 + len(o.Nodes)*int(unsafe.Sizeof(sheaf.Node{}))
	for i := range o.Nodes {
		size += len(o.Nodes[i].ID) + len(o.Nodes[i].Title)
	}
	return size
}
