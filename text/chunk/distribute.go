package chunk

import (
	"strings"

	"sheaf"
)

// distribute gives the links, tags and block ids of the text to the chunks in
// whose heading or body they stand; windows that overlap may share one. The
// frontmatter's tags are those of the root, or of every piece; its links are the root's.
func (s *source) distribute() {
	found := s.scan.inline()
	chunks := s.doc.Chunks
	declared := s.doc.Tags[:len(s.doc.Tags):len(s.doc.Tags)]
	// seen is the position after that of the last chunk which has a tag.
	seen := make(map[string]int, len(declared)+len(found.tags))
	for _, tag := range declared {
		seen[strings.ToLower(tag)] = 1
	}
	chunks[0].Tags = declared
	if chunks[0].ID == s.doc.ID {
		chunks[0].Links = s.front.links
	} else {
		for i := range chunks {
			chunks[i].Tags = declared
		}
		for _, tag := range declared {
			seen[strings.ToLower(tag)] = len(chunks)
		}
	}
	s.distributeFields()
	holders := holders{chunks: chunks}
	for _, link := range found.links {
		from, to := holders.of(link.Span)
		for i := from; i < to; i++ {
			chunks[i].Links = append(chunks[i].Links, link)
		}
	}
	holders.at = 0
	for _, tag := range found.tags {
		from, to := holders.of(sheaf.Span{Start: tag.start, End: tag.end})
		key := strings.ToLower(tag.text)
		last, known := seen[key]
		if !known {
			s.doc.Tags = append(s.doc.Tags, tag.text)
		}
		for i := max(from, last); i < to; i++ {
			chunks[i].Tags = append(chunks[i].Tags, tag.text)
		}
		seen[key] = max(to, last)
	}
	holders.at = 0
	for _, block := range found.blocks {
		from, to := holders.of(sheaf.Span{Start: block.start, End: block.end})
		if to < len(chunks) && chunks[to].HasHeading && s.src[block.start] == '<' && s.above(block.end, chunks[to].Heading.Start) {
			from, to = to, to+1
		}
		for i := from; i < to; i++ {
			chunks[i].Blocks = append(chunks[i].Blocks, block.text)
		}
	}
}

// holders finds the chunks that hold a part of the text. Starts and ends of the
// chunks never decrease, and it is asked for parts in order.
type holders struct {
	chunks []sheaf.Chunk
	at     int
}

// of is the range of the chunks that hold a byte of s; the chunk after it when
// none does, as in punctuation between windows, and the last one at the end.
func (h *holders) of(s sheaf.Span) (from, to int) {
	for h.at+1 < len(h.chunks) && h.chunks[h.at].Body.End <= s.Start {
		h.at++
	}
	to = h.at + 1
	for to < len(h.chunks) && begin(&h.chunks[to]) < s.End {
		to++
	}
	return h.at, to
}

// begin is the first byte that belongs to a chunk: of its heading, or its body.
func begin(c *sheaf.Chunk) int {
	if c.HasHeading {
		return c.Heading.Start
	}
	return c.Body.Start
}
