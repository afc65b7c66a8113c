package chunk

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf/internal/attributes"
	"sheaf/internal/pattern"
)

// headingTitle returns the title of a heading as plain text on one line, and the author's id for it, or "". If literal
// is true, attributes are part of the title.
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
				end++ // separates a backslash from a hard line break
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
		if !h.setext { // an underlined heading has no closing hashes
			content = content[:withoutClosingHashes(content, 0, len(content))]
		}
	}
	title = plainText(content, s.definitions)
	if strings.Contains(title, "\u00a0  ") {
		title = strings.TrimSpace(removedComment().ReplaceAllString(title, " "))
	}
	return title, id
}

// removedComment matches the blanks that [WithoutComments] leaves before other text.
var removedComment = pattern.Lazy(` *\x{a0} {2,}`)

// Slug returns the fragment that GitHub uses for a heading with this title. It writes letters in lower case, and keeps
// marks, digits, letter numbers, connectors and hyphens. It turns spaces into hyphens and drops all else. An empty
// result becomes "heading".
func Slug(title string) string {
	var b strings.Builder
	b.Grow(len(title))
	for _, r := range title {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteByte(byte(r))
		case r >= 'A' && r <= 'Z':
			b.WriteByte(byte(r) + 'a' - 'A')
		case r == ' ':
			b.WriteByte('-')
		case r < utf8.RuneSelf:
		case r == 'İ':
			b.WriteString("i\u0307")
		case unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	if b.Len() == 0 {
		return "heading"
	}
	return b.String()
}

// slugs maps each slug of a document to the last number that unique appended to this slug.
type slugs map[string]int

// unique returns slug if no earlier heading has it. Otherwise it appends -1, -2 or the next free number.
func (s slugs) unique(slug string) string {
	base := slug
	for n, used := s[base]; used; _, used = s[slug] {
		n++
		s[base], slug = n, base+"-"+strconv.Itoa(n)
	}
	s[slug] = 0
	return slug
}
