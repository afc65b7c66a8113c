package chunk

import (
	"fmt"
	"strings"

	"sheaf"
)

// Verify checks the rules for the chunks of a document, and returns the first fault, or nil.
//   - IDs are unique, and positions count from 0 without gaps.
//   - Spans are within the file, and bodies are within their spans.
//   - Sibling counts are right.
//   - In a tree, chunks are in pre-order, and spans nest. Bodies and heading lines make up the file. Every heading has
//     text in its span.
//   - In a document of pieces, the starts and the ends of the pieces increase, except for large pieces.
func Verify(doc *sheaf.Document, content []byte) error {
	v := verifier{doc: doc, content: string(content)}
	switch v.chunks(); {
	case v.fault != nil:
	case len(doc.Chunks) == 0:
		v.require(blankText(strings.TrimPrefix(v.content, byteOrderMark)), doc.ID, "no chunks of a file that is not empty")
	case doc.Chunks[0].ID == doc.ID:
		v.nesting()
		v.partition()
	default:
		v.pieces()
	}
	return v.fault
}

// verifier checks the chunks of a document and keeps the first broken rule.
type verifier struct {
	doc     *sheaf.Document
	content string
	fault   error
}

// require records a fault of the chunk id, with this text, if rule is false.
func (v *verifier) require(rule bool, id sheaf.ID, format string, args ...any) {
	if !rule && v.fault == nil {
		v.fault = fmt.Errorf("%s: %s", id, fmt.Sprintf(format, args...))
	}
}

// chunks checks each chunk by itself, and the counts of siblings.
func (v *verifier) chunks() {
	ids, children := map[sheaf.ID]bool{}, map[sheaf.ID]int{}
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		v.require(!ids[c.ID], c.ID, "the id is given twice")
		ids[c.ID] = true
		id, size := v.doc.ID, len(v.content)
		if c.Slug != "" {
			id = sheaf.ChunkID(v.doc.ID, c.Slug)
		}
		v.require(c.ID == id, c.ID, "the id of slug %q should be %s", c.Slug, id)
		v.require(c.Position == i, c.ID, "position is %d, not %d", c.Position, i)
		v.require(c.Doc == v.doc.ID, c.ID, "belongs to %s, not %s", c.Doc, v.doc.ID)
		v.require(c.Span.Start >= 0 && c.Span.End <= size && c.Span.Start <= c.Span.End, c.ID,
			"span %v does not lie in %d bytes", c.Span, size)
		v.require(c.Span.Contains(c.Body) && c.Body.Start <= c.Body.End, c.ID,
			"body %v does not lie in span %v", c.Body, c.Span)
		for _, l := range c.Links {
			v.require(l.Span.Start >= 0 && l.Span.Len() > 0 && l.Span.End <= size, c.ID,
				"link %v does not lie in %d bytes", l.Span, size)
		}
		if len(c.Members) == 0 {
			children[c.Parent]++
		}
	}
	for _, c := range v.doc.Chunks {
		v.require(c.SiblingCount == children[c.Parent], c.ID, "sibling count is %d, its parent has %d children",
			c.SiblingCount, children[c.Parent])
	}
}

// nesting checks that the chunks of a tree are in pre-order and that spans nest. The parent of a chunk is the nearest
// earlier chunk with a smaller depth. A span ends where the next chunk that is not below it begins.
func (v *verifier) nesting() {
	root := &v.doc.Chunks[0]
	v.require(root.Depth == 0 && root.Parent == "" && !root.HasHeading(), root.ID,
		"the root has depth %d, parent %q and heading %v", root.Depth, root.Parent, root.Heading)
	open := []*sheaf.Chunk{root}
	for i := 1; i < len(v.doc.Chunks); i++ {
		c := &v.doc.Chunks[i]
		for len(open) > 1 && open[len(open)-1].Depth >= c.Depth {
			above := open[len(open)-1]
			v.require(above.Span.End == c.Heading.Start, above.ID, "span %v should end at %d, where %s begins", above.Span,
				c.Heading.Start, c.ID)
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		v.require(c.Parent == parent.ID, c.ID, "parent is %s, not %s", c.Parent, parent.ID)
		v.require(c.Depth >= 1 && c.Depth <= 6 && c.HasHeading() && c.Slug != "", c.ID,
			"no heading of depth 1 to 6 with a slug")
		v.require(parent.Span.Contains(c.Heading) && parent.Span.Contains(c.Span), c.ID,
			"heading %v and span %v do not lie in its parent's span %v", c.Heading, c.Span, parent.Span)
		v.require(c.Span.Start == c.Heading.End && c.Body.Start == c.Span.Start, c.ID,
			"span %v and body %v should begin at %d, after the heading", c.Span, c.Body, c.Heading.End)
		open = append(open, c)
	}
	for _, c := range open {
		v.require(c.Span.End == root.Span.End, c.ID, "span %v should end with the file, at %d", c.Span, root.Span.End)
	}
}

// partition checks that bodies and heading lines in order make up the file. It also checks that the body of a chunk
// without children is not empty.
func (v *verifier) partition() {
	pos := 0
	for i := range v.doc.Chunks {
		c := &v.doc.Chunks[i]
		if c.HasHeading() {
			v.require(c.Heading.Start == pos, c.ID, "heading %v should begin at %d, where the part before it ends",
				c.Heading, pos)
			pos = c.Heading.End
		}
		v.require(c.Body.Start == pos, c.ID, "body %v should begin at %d, where the part before it ends", c.Body, pos)
		pos = c.Body.End
		leaf := i+1 == len(v.doc.Chunks) || v.doc.Chunks[i+1].Depth <= c.Depth
		v.require(!leaf || !blankText(v.content[c.Body.Start:c.Body.End]), c.ID,
			"nothing but white space below a heading that was kept")
	}
	v.require(pos == len(v.content), v.doc.ID, "bodies and headings end at %d of %d bytes", pos, len(v.content))
}

// pieces checks that the starts and the ends of the pieces increase. It skips large pieces.
func (v *verifier) pieces() {
	before := sheaf.Span{Start: -1, End: -1}
	for _, c := range v.doc.Chunks {
		if len(c.Members) == 0 {
			v.require(c.Span.Start > before.Start && c.Span.End > before.End, c.ID, "span %v does not follow %v", c.Span,
				before)
			before = c.Span
		}
	}
}
