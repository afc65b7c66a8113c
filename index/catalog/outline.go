package catalog

import (
	"unsafe"

	"sheaf"
)

// Outline returns the part of document id that ranking needs; nil when there is none. It is shared and must not be
// changed. Ranking examines hundreds of documents, so a view caches outlines, which are smaller than records.
func (v *View) Outline(id sheaf.ID) *sheaf.Outline {
	if o, ok := v.outlines.Get(id); ok {
		return o
	}
	s, st, err := v.find(id)
	if err != nil || s == nil {
		v.note(err)
		return nil
	}
	r, err := s.record(id, st)
	if err != nil {
		v.note(translate(err))
		return nil
	}
	o := sheaf.OutlineOf(&r.Document, r.Date)
	v.outlines.Put(o.ID, o, int64(outlineSize(o)))
	return o
}

// Node returns the position of chunk id in its document; nil when there is none. It is shared and
// must not be changed.
func (v *View) Node(id sheaf.ID) *sheaf.Node { return sheaf.NodeIn(v.Outline, id) }

// outlineSize returns the approximate memory of an outline. Its titles share the bytes of the whole record.
func outlineSize(o *sheaf.Outline) int {
	size := 512 + len(o.Nodes)*(int(unsafe.Sizeof(sheaf.Node{}))+64)
	for i := range o.Nodes {
		size += len(o.Nodes[i].ID) + len(o.Nodes[i].Title)
	}
	return size
}
