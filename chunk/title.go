package chunk

import "strings"

// headingTitle is the title of a heading as plain text on one line, and the id
// that its author gave it, or "". With literal, ids are part of the title.
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
	if !literal && strings.HasSuffix(content, "}") {
		content, id = cutHeadingID(content, h.setext)
	}
	return plainText(content, s.definitions), id
}

// cutHeadingID takes "{#id}" or "{/*id*/}" off the end of a heading's text. A
// space, a tab or nothing stands before it; closing hashes before it go too,
// which an underlined heading has none of.
func cutHeadingID(content string, setext bool) (rest, id string) {
	open := strings.LastIndexByte(content, '{')
	if open < 0 || open > 0 && strings.IndexByte(" \t\n", content[open-1]) < 0 {
		return content, ""
	}
	inner := content[open+1 : len(content)-1]
	if rest, ok := strings.CutPrefix(inner, "#"); ok {
		id = rest
	} else if rest, ok := strings.CutPrefix(inner, "/*"); ok {
		if rest, ok = strings.CutSuffix(rest, "*/"); ok {
			id = rest
		}
	}
	if id == "" || strings.ContainsAny(id, "{}#/*") || strings.ContainsFunc(id, isSpace) {
		return content, ""
	}
	content = strings.TrimRight(content[:open], " \t\n")
	if !setext {
		content = content[:withoutClosingHashes(content, 0, len(content))]
	}
	return content, showable(id)
}
