package chunk

import (
	"fmt"
	"strings"

	"sheaf"
)

// Verify checks the rules for the chunks of every document. IDs are unique and positions are dense.
// Spans are within the file, bodies within their spans, and sibling counts are right. In a tree,
// chunks are in pre-order, spans nest, bodies and heading lines make up the file, and every heading
// has text in its span. Pieces follow each other. It returns the first fault, or nil.
func Verify(doc *sheaf.Document, content []byte) error {
	ids := make(map[sheaf.ID]bool, len(doc.Chunks))
	children := map[sheaf.ID]int{}
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if ids[c.ID] {
			return fmt.Errorf("%s: the id is given twice", c.ID)
		}
		ids[c.ID] = true
		if err := verifyChunk(doc, c, i, len(content)); err != nil {
			return err
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
	if len(doc.Chunks) == 0 {
		if !blankText(strings.TrimPrefix(string(content), byteOrderMark)) {
			return fmt.Errorf("%s: no chunks of a file that is not empty", doc.ID)
		}
		return nil
	}
	if doc.Chunks[0].ID == doc.ID {
		if err := verifyNesting(doc); err != nil {
			return err
		}
		return verifyPartition(doc, content)
	}
	return verifyPieces(doc)
}

// verifyChunk checks the i-th chunk alone.
func verifyChunk(doc *sheaf.Document, c *sheaf.Chunk, i, size int) error {
	id := doc.ID
	if c.Slug != "" {
		id = sheaf.ChunkID(doc.ID, c.Slug)
	}
	switch {
	case c.ID != id:
		return fmt.Errorf("%s: the id of slug %q should be %s", c.ID, c.Slug, id)
	case c.Position != i:
		return fmt.Errorf("%s: position is %d, not %d", c.ID, c.Position, i)
	case c.Doc != doc.ID:
		return fmt.Errorf("%s: belongs to %s, not %s", c.ID, c.Doc, doc.ID)
	case c.Span.Start < 0 || c.Span.End > size || c.Span.Start > c.Span.End:
		return fmt.Errorf("%s: span %v does not lie in %d bytes", c.ID, c.Span, size)
	case !c.Span.Contains(c.Body) || c.Body.Start > c.Body.End:
		return fmt.Errorf("%s: body %v does not lie in span %v", c.ID, c.Body, c.Span)
	}
	for _, l := range c.Links {
		if l.Span.Start < 0 || l.Span.Len() <= 0 || l.Span.End > size {
			return fmt.Errorf("%s: link %v does not lie in %d bytes", c.ID, l.Span, size)
		}
	}
	return nil
}

// verifyNesting checks that the chunks of a tree are in pre-order and that spans nest. Each chunk's
// parent is the nearest earlier chunk of lower depth. Its span ends where the next chunk begins
// that is not below it.
func verifyNesting(doc *sheaf.Document) error {
	root := &doc.Chunks[0]
	if root.Depth != 0 || root.Parent != "" || root.HasHeading {
		return fmt.Errorf("%s: the root has depth %d, parent %q and heading %v",
			root.ID, root.Depth, root.Parent, root.Heading)
	}
	open := []*sheaf.Chunk{root}
	for i := 1; i < len(doc.Chunks); i++ {
		c := &doc.Chunks[i]
		for len(open) > 1 && open[len(open)-1].Depth >= c.Depth {
			if above := open[len(open)-1]; above.Span.End != c.Heading.Start {
				return fmt.Errorf("%s: span %v should end at %d, where %s begins", above.ID, above.Span, c.Heading.Start, c.ID)
			}
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		switch {
		case c.Parent != parent.ID:
			return fmt.Errorf("%s: parent is %s, not %s", c.ID, c.Parent, parent.ID)
		case c.Depth < 1 || c.Depth > 6 || !c.HasHeading || c.Slug == "":
			return fmt.Errorf("%s: no heading of depth 1 to 6 with a slug", c.ID)
		case !parent.Span.Contains(c.Heading) || !parent.Span.Contains(c.Span):
			return fmt.Errorf("%s: heading %v and span %v do not lie in its parent's span %v",
				c.ID, c.Heading, c.Span, parent.Span)
		case c.Span.Start != c.Heading.End || c.Body.Start != c.Span.Start:
			return fmt.Errorf("%s: span %v and body %v should begin at %d, after the heading",
				c.ID, c.Span, c.Body, c.Heading.End)
		}
		open = append(open, c)
	}
	for _, c := range open {
		if c.Span.End != root.Span.End {
			return fmt.Errorf("%s: span %v should end with the file, at %d", c.ID, c.Span, root.Span.End)
		}
	}
	return nil
}

// verifyPartition checks that bodies and heading lines in order make up the file, and that no chunk
// without children has an empty body.
func verifyPartition(doc *sheaf.Document, content []byte) error {
	pos := 0
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if c.HasHeading {
			if c.Heading.Start != pos {
				return fmt.Errorf("%s: heading %v should begin at %d, where the part before it ends", c.ID, c.Heading, pos)
			}
			pos = c.Heading.End
		}
		if c.Body.Start != pos {
			return fmt.Errorf("%s: body %v should begin at %d, where the part before it ends", c.ID, c.Body, pos)
		}
		pos = c.Body.End
		leaf := i+1 == len(doc.Chunks) || doc.Chunks[i+1].Depth <= c.Depth
		if leaf && blankText(string(content[c.Body.Start:c.Body.End])) {
			return fmt.Errorf("%s: nothing but white space below a heading that was kept", c.ID)
		}
	}
	if pos != len(content) {
		return fmt.Errorf("%s: bodies and headings end at %d of %d bytes", doc.ID, pos, len(content))
	}
	return nil
}

// verifyPieces checks that each piece begins and ends after the one before it, ignoring large
// pieces.
func verifyPieces(doc *sheaf.Document) error {
	var before sheaf.Span
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		if len(c.Members) > 0 {
			continue
		}
		if i > 0 && (c.Span.Start <= before.Start || c.Span.End <= before.End) {
			return fmt.Errorf("%s: span %v does not follow %v", c.ID, c.Span, before)
		}
		before = c.Span
	}
	return nil
}
