package chunk

import (
	"strings"

	"sheaf/internal/attributes"
)

// headingTitle is the title of a heading as plain text on one line, and the id
// that its author gave it, or "". With literal, attributes are part of the title.
func (s *scanner) headingTitle(h *rawHeading, literal bool) (title, id string) {
	content := s.src[h.text.start:h.text.end]
	if len(h.lines) > 0 {
		var b strings.Builder
		for i, l := range h.lines {
			if i > 0 {
				b.WriteByte('\n')
			}
			end := l.end
			for i+1 < len(h.lines) && (s.src[end] == ' ' || s.src[end] == '\t') {
				end++ // it tells a backslash from a hard line break
			}
			b.WriteString(s.src[l.start:end])
		}
		content = b.String()
	}
	if rest, given, ok := attributes.Cut(content); ok && !literal {
		end := h.text.end
		if len(h.lines) > 0 {
			end = h.lines[len(h.lines)-1].end
		}
		s.attributes = append(s.attributes, span{end - (len(content) - len(rest)), end})
		content, id = strings.TrimRight(rest, " \t\n"), showable(given)
		if !h.setext { // an underlined one has no closing hashes
			content = content[:withoutClosingHashes(content, 0, len(content))]
		}
	}
	return plainText(content, s.definitions), id
}
