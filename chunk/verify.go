package chunk

import (
	"fmt"

	"sheaf"
)

// Verify checks what holds for the chunks of every document: ids are unique,
// positions dense, parents come before their children, spans nest, bodies lie in
// their spans, and sibling counts are true. For the chunks of a tree, bodies and
// heading lines partition the file. It returns the first fault, or nil.
func Verify(doc *sheaf.Document, content []byte) error {
	byID := make(map[sheaf.ID]*sheaf.Chunk, len(doc.Chunks))
	children := map[sheaf.ID]int{}
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if byID[c.ID] != nil {
			return fmt.Errorf("%s: the id is given twice", c.ID)
		}
		byID[c.ID] = c
		switch {
		case c.Position != i:
			return fmt.Errorf("%s: position is %d, not %d", c.ID, c.Position, i)
		case c.Doc != doc.ID:
			return fmt.Errorf("%s: belongs to %s, not %s", c.ID, c.Doc, doc.ID)
		case c.Span.Start < 0 || c.Span.End > len(content) || c.Span.Start > c.Span.End:
			return fmt.Errorf("%s: span %v does not lie in %d bytes", c.ID, c.Span, len(content))
		case !c.Span.Contains(c.Body) || c.Body.Start > c.Body.End:
			return fmt.Errorf("%s: body %v does not lie in span %v", c.ID, c.Body, c.Span)
		}
		if parent := byID[c.Parent]; parent != nil {
			if !parent.Span.Contains(c.Span) || c.HasHeading && !parent.Span.Contains(c.Heading) {
				return fmt.Errorf("%s: span %v does not lie in its parent's %v", c.ID, c.Span, parent.Span)
			}
			if c.Depth <= parent.Depth {
				return fmt.Errorf("%s: depth %d under a parent of depth %d", c.ID, c.Depth, parent.Depth)
			}
		} else if c.Parent != "" && c.Parent != doc.ID {
			return fmt.Errorf("%s: parent %s does not come before it", c.ID, c.Parent)
		}
		if len(c.Members) == 0 {
			children[c.Parent]++
		}
	}
	for i := range doc.Chunks {
		if c := &doc.Chunks[i]; c.SiblingCount != children[c.Parent] {
			return fmt.Errorf("%s: sibling count is %d, its parent has %d children", c.ID, c.SiblingCount, children[c.Parent])
		}
	}
	if len(doc.Chunks) > 0 && doc.Chunks[0].ID == doc.ID {
		return verifyPartition(doc, content)
	}
	return nil
}

// verifyPartition checks that bodies and heading lines, in order, are the file.
func verifyPartition(doc *sheaf.Document, content []byte) error {
	pos := 0
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		for _, part := range [...]sheaf.Span{c.Heading, c.Body} {
			if part == c.Heading && !c.HasHeading {
				continue
			}
			if part.Start != pos {
				return fmt.Errorf("%s: %v should begin at %d, where the part before it ends", c.ID, part, pos)
			}
			pos = part.End
		}
	}
	if pos != len(content) {
		return fmt.Errorf("%s: bodies and headings end at %d of %d bytes", doc.ID, pos, len(content))
	}
	return nil
}
