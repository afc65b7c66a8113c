package chunk

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"sheaf"
)

// tree is a chunker. It makes a chunk of every heading with text under it, below the document as the root. Example:
//
//	Intro            document     span [0,26)  body [0,6)
//	# A              a            span [10,26) body [10,12)
//	x
//	## B             a's child b  span [17,26) body [17,26)
//	y
//	# Empty          no chunk, because no text follows; the line is text of b
//
// Bodies and the heading lines of chunks together make up the file, each byte once.
type tree struct{ githubSlugs bool }

func (t tree) Name() string {
	return nameOf("tree", nil, t.githubSlugs)
}

func (t tree) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, t.githubSlugs)
	if s.empty() {
		return s.doc
	}
	kept := s.keptHeadings()
	chunks := make([]sheaf.Chunk, 1, len(kept)+1)
	whole := sheaf.Span{End: len(s.src)}
	chunks[0] = sheaf.Chunk{ID: s.doc.ID, Doc: s.doc.ID, Title: s.doc.Title, Span: whole, Body: whole, SiblingCount: 1}
	used := make(slugs, len(kept))
	parents := make([]int, 1, len(kept)+1) // of chunks, by position
	children := make([]int, 1, len(kept)+1)
	open := []int{0} // the open chunk at each level, root first
	for _, i := range kept {
		h := s.scan.headings[i]
		position := len(chunks)
		for depth := open[len(open)-1]; depth != 0 && chunks[depth].Depth >= h.level; depth = open[len(open)-1] {
			chunks[depth].Span.End = h.start
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		chunks[position-1].Body.End = h.start
		slug := used.unique(cmp.Or(s.ids[i], Slug(s.titles[i])))
		rest := sheaf.Span{Start: h.end, End: len(s.src)}
		chunks = append(chunks, sheaf.Chunk{
			ID: sheaf.ChunkID(s.doc.ID, slug), Doc: s.doc.ID, Parent: chunks[parent].ID, Depth: h.level, Position: position,
			Title: s.titles[i], Slug: slug, Heading: sheaf.Span{Start: h.start, End: h.end},
			Span: rest, Body: rest,
		})
		parents, children = append(parents, parent), append(children, 0)
		children[parent]++
		open = append(open, position)
	}
	for i := 1; i < len(chunks); i++ {
		chunks[i].SiblingCount = children[parents[i]]
	}
	s.doc.Chunks = chunks
	nameHierarchies(chunks, parents, s.doc.Title)
	s.distribute()
	return s.doc
}

// keptHeadings returns the indices of the headings that become chunks: those with text below, perhaps under
// subheadings.
func (s *source) keptHeadings() []int {
	headings := s.scan.headings
	kept := make([]int, 0, len(headings))
	for i, h := range headings {
		if i+1 < len(headings) && headings[i+1].level > h.level {
			kept = append(kept, i) // the next heading's line is in its span
			continue
		}
		end := len(s.src)
		if i+1 < len(headings) {
			end = headings[i+1].start
		}
		if !blankText(s.src[h.end:end]) {
			kept = append(kept, i)
		}
	}
	return kept
}

// nameHierarchies sets the hierarchy of each chunk: the titles above it, then its own title. It shortens very long
// titles. If the first heading repeats title, the title of the document, the hierarchies omit this heading.
func nameHierarchies(chunks []sheaf.Chunk, parents []int, title string) {
	repeats := len(chunks) > 1 && shortened(chunks[1].Title) == title
	chunks[0].Hierarchy = []string{title}
	for i := 1; i < len(chunks); i++ {
		above := &chunks[parents[i]]
		c := &chunks[i]
		if c.Title == "" || i == 1 && repeats {
			c.Hierarchy = above.Hierarchy
			continue
		}
		c.Hierarchy = append(above.Hierarchy[:len(above.Hierarchy):len(above.Hierarchy)], shortened(c.Title))
	}
}

// distribute adds the links, tags and block ids of the text to the chunks that contain them. Windows that overlap may
// share links, tags and block ids. The tags of the frontmatter go to the root chunk, or to every piece if there is no
// root. The links of the frontmatter go only to a root chunk.
func (s *source) distribute() {
	marks := s.scan.inline()
	fields := s.scan.fields()
	s.addAliases(fields.aliases)
	marks.tags = append(marks.tags, fields.tags...)
	slices.SortStableFunc(marks.tags, func(a, b found) int { return a.start - b.start })
	chunks := s.doc.Chunks
	declared := s.doc.Tags[:len(s.doc.Tags):len(s.doc.Tags)]
	// seen is, for each tag, the position after the last chunk that has it.
	seen := make(map[string]int, len(declared)+len(marks.tags))
	tagged := len(chunks)
	if chunks[0].ID == s.doc.ID {
		tagged = 1
		chunks[0].Links = s.front.links
	}
	for i := range tagged {
		chunks[i].Tags = declared
	}
	for _, tag := range declared {
		seen[strings.ToLower(tag)] = tagged
	}
	s.distributeFields(fields.out)
	for _, link := range marks.links {
		first, last := holding(chunks, link.Span.Start, link.Span.End)
		for i := first; i < last; i++ {
			chunks[i].Links = append(chunks[i].Links, link)
		}
	}
	for _, tag := range marks.tags {
		key := strings.ToLower(tag.text)
		if _, known := seen[key]; !known {
			s.doc.Tags = append(s.doc.Tags, tag.text)
			seen[key] = 0
		}
		first, last := holding(chunks, tag.start, tag.end)
		for i := first; i < last; i++ {
			if i >= seen[key] {
				chunks[i].Tags = append(chunks[i].Tags, tag.text)
				seen[key] = i + 1
			}
		}
	}
	for _, block := range marks.blocks {
		anchor := s.src[block.start] == '<'
		first, last := holding(chunks, block.start, block.end)
		for i := first; i < last; i++ {
			// An anchor above a heading belongs to the section below it.
			if next := i + 1; anchor && next == last && next < len(chunks) && chunks[next].HasHeading() &&
				s.namesHeading(block.end, chunks[next].Heading.Start) {
				i = next
			}
			chunks[i].Blocks = append(chunks[i].Blocks, block.text)
		}
	}
}

// holding returns which chunks contain a byte of the part start <= byte < end: those with first <= index < last. If no
// chunk contains a byte of the part, for example between windows, it returns the next chunk. After the last chunk, it
// returns the last chunk. The starts and the ends of the chunks must never decrease.
func holding(chunks []sheaf.Chunk, start, end int) (first, last int) {
	first = sort.Search(len(chunks)-1, func(i int) bool { return chunks[i].Body.End > start })
	for last = first + 1; last < len(chunks); last++ {
		if c := &chunks[last]; c.HasHeading() && c.Heading.Start >= end || !c.HasHeading() && c.Body.Start >= end {
			break
		}
	}
	return first, last
}
