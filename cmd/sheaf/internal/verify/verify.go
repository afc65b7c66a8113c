// Package verify checks what must hold for the chunks of every file, whatever
// is in it: that spans nest, that bodies and headings partition the file, that
// identifiers are unique, that positions and sibling counts are true. It works
// on the result alone, so it serves any chunker.
package verify

import (
	"fmt"
	"slices"
	"strings"

	"sheaf"
)

// Document returns one error for every property that doc, cut from content,
// does not hold; nil when it holds them all. A document with a root of depth 0
// that begins at byte 0 and heading chunks below it is held to the rules of the heading tree;
// pieces without a tree to those that make sense for them.
func Document(doc *sheaf.Document, content []byte) []error {
	v := verifier{doc: doc, size: len(content)}
	if len(doc.Chunks) == 0 {
		if strings.TrimSpace(strings.ToValidUTF8(string(content), "x")) != "" && doc.Frontmatter.Len() == 0 {
			v.fault("a file with text has no chunks")
		}
		return v.faults
	}
	v.identity()
	v.spans()
	if tree(doc) {
		v.order()
		v.siblings()
		v.partition()
	}
	return v.faults
}

// tree reports whether the first chunk is the document's root.
func tree(doc *sheaf.Document) bool { return doc.Chunks[0].ID == doc.ID }

type verifier struct {
	doc    *sheaf.Document
	size   int
	faults []error
}

func (v *verifier) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf("%s: "+format, append([]any{v.doc.Path}, args...)...))
}

// identity: identifiers are unique and made of the document's, positions are
// dense, breadcrumbs say the hierarchy.
func (v *verifier) identity() {
	seen := map[sheaf.ID]bool{}
	positions := make([]bool, len(v.doc.Chunks))
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		if seen[c.ID] {
			v.fault("chunk %d: id %q is used twice", i, c.ID)
		}
		seen[c.ID] = true
		if c.Doc != v.doc.ID {
			v.fault("chunk %q: its document is %q, not %q", c.ID, c.Doc, v.doc.ID)
		}
		if c.ID != v.doc.ID && !strings.HasPrefix(string(c.ID), string(v.doc.ID)+"#") {
			v.fault("chunk %q: its id does not begin with its document's", c.ID)
		}
		if c.Position < 0 || c.Position >= len(positions) || positions[c.Position] {
			v.fault("chunk %q: position %d is taken or out of range", c.ID, c.Position)
		} else {
			positions[c.Position] = true
		}
		if want := "> " + strings.Join(c.Hierarchy, " › "); len(c.Hierarchy) > 0 && c.Breadcrumb != want {
			v.fault("chunk %q: breadcrumb is %q, want %q", c.ID, c.Breadcrumb, want)
		}
	}
}

// spans: every range lies in the file, the heading and the body in the span.
func (v *verifier) spans() {
	file := sheaf.Span{End: v.size}
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		switch {
		case c.Span.Start > c.Span.End || !file.Contains(c.Span):
			v.fault("chunk %q: span %v is not in the file of %d bytes", c.ID, c.Span, v.size)
		case c.Body.Start > c.Body.End || !c.Span.Contains(c.Body):
			v.fault("chunk %q: body %v is not in span %v", c.ID, c.Body, c.Span)
		case c.HasHeading && (c.Heading.Len() <= 0 || !c.Span.Contains(c.Heading)):
			v.fault("chunk %q: heading %v is not in span %v", c.ID, c.Heading, c.Span)
		case !c.HasHeading && c.Heading != sheaf.Span{}:
			v.fault("chunk %q: has no heading, but a range %v for it", c.ID, c.Heading)
		}
	}
}

// order: chunks are in pre-order, so that each one's parent is among the
// chunks that are still open, with a smaller depth and a span around it.
func (v *verifier) order() {
	var open []*sheaf.Chunk
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		if c.Position != i {
			v.fault("chunk %q: position %d at index %d", c.ID, c.Position, i)
		}
		if i == 0 {
			if c.Parent != "" || c.Depth != 0 || c.Span != (sheaf.Span{End: v.size}) {
				v.fault("root: parent %q, depth %d, span %v: want none, 0 and the whole file of %d bytes", c.Parent, c.Depth, c.Span, v.size)
			}
			open = append(open, c)
			continue
		}
		for len(open) > 0 && open[len(open)-1].ID != c.Parent {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			v.fault("chunk %q: parent %q is not above it in pre-order", c.ID, c.Parent)
			return
		}
		parent := open[len(open)-1]
		if !parent.Span.Contains(c.Span) {
			v.fault("chunk %q: span %v is not in its parent's %v", c.ID, c.Span, parent.Span)
		}
		if c.Depth <= parent.Depth {
			v.fault("chunk %q: depth %d under depth %d", c.ID, c.Depth, parent.Depth)
		}
		open = append(open, c)
	}
}

// siblings: sibling counts are the number of children of the parent.
func (v *verifier) siblings() {
	children := map[sheaf.ID]int{}
	for i := range v.doc.Chunks {
		children[v.doc.Chunks[i].Parent]++
	}
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		if c.SiblingCount != children[c.Parent] {
			v.fault("chunk %q: sibling count %d, its parent has %d children", c.ID, c.SiblingCount, children[c.Parent])
		}
	}
}

// partition: headings and bodies, sorted by place, follow one another without
// a gap from the first byte to the last.
func (v *verifier) partition() {
	type part struct {
		span sheaf.Span
		what string
		id   sheaf.ID
	}
	var parts []part
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		if c.HasHeading {
			parts = append(parts, part{c.Heading, "heading", c.ID})
		}
		if c.Body.Len() > 0 {
			parts = append(parts, part{c.Body, "body", c.ID})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return a.span.Start - b.span.Start })
	at := 0
	for _, p := range parts {
		if p.span.Start != at {
			v.fault("chunk %q: its %s begins at %d, the part before it ends at %d", p.id, p.what, p.span.Start, at)
		}
		at = max(at, p.span.End)
	}
	if at != v.size {
		v.fault("the last part ends at %d of %d bytes", at, v.size)
	}
}
