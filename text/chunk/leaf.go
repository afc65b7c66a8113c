package chunk

import "strings"

// atxHeading reads "## Title ##": the level and where its text stands in s,
// without closing hashes and spaces at the ends.
func atxHeading(s string) (level, from, to int, ok bool) {
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, 0, 0, false
	}
	from, to = trimSpan(s, level, len(s))
	to = withoutClosingHashes(s, from, to)
	return level, from, to, true
}

// withoutClosingHashes is the end of s[from:to] without a run of hashes at its
// end that a space or tab precedes, or that is all there is.
func withoutClosingHashes(s string, from, to int) int {
	end := to
	for end > from && s[end-1] == '#' {
		end--
	}
	if end == to || end > from && s[end-1] != ' ' && s[end-1] != '\t' {
		return to
	}
	_, end = trimSpan(s, from, end)
	return end
}

// trimSpan is s[from:to] without spaces and tabs at its ends.
func trimSpan(s string, from, to int) (int, int) {
	for from < to && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	for to > from && (s[to-1] == ' ' || s[to-1] == '\t') {
		to--
	}
	return from, to
}

// opensFence reports whether s opens fenced code, and with how many marks.
func opensFence(s string) (length int, ok bool) {
	ch := s[0]
	n := 0
	for n < len(s) && s[n] == ch {
		n++
	}
	if n < 3 || ch == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return 0, false
	}
	return n, true
}

// closesFence reports whether s ends fenced code that n marks ch opened.
func closesFence(s string, ch byte, n int) bool {
	i := 0
	for i < len(s) && s[i] == ch {
		i++
	}
	return i >= n && blank(s[i:])
}

// setextLevel is 1 for a line of '=', 2 for one of '-', else 0.
func setextLevel(s string) int {
	ch := s[0]
	if ch != '=' && ch != '-' {
		return 0
	}
	i := 0
	for i < len(s) && s[i] == ch {
		i++
	}
	if !blank(s[i:]) {
		return 0
	}
	if ch == '=' {
		return 1
	}
	return 2
}

// thematicBreak reports whether s is a rule: three or more of one of - _ * with
// spaces and tabs between them.
func thematicBreak(s string) bool {
	ch, n := s[0], 0
	if ch != '-' && ch != '_' && ch != '*' {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ch:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// listItem reads the marker of a list item at byte next of c, which is indented
// by indent columns: how many bytes it has, and how many columns of white space
// belong to it. inParagraph says that the item would interrupt a paragraph.
func listItem(c *cursor, indent, next int, inParagraph bool) (marker, spaces int, ok bool) {
	s := c.s[next:]
	switch {
	case s[0] == '-' || s[0] == '+' || s[0] == '*':
		marker = 1
	case isDigit(s[0]):
		for marker < len(s) && marker < 10 && isDigit(s[marker]) {
			marker++
		}
		if marker > 9 || marker == len(s) || s[marker] != '.' && s[marker] != ')' {
			return 0, 0, false
		}
		if inParagraph && s[:marker] != "1" {
			return 0, 0, false
		}
		marker++
	default:
		return 0, 0, false
	}
	if marker < len(s) && s[marker] != ' ' && s[marker] != '\t' {
		return 0, 0, false
	}
	after := cursor{s: c.s, pos: next + marker, col: c.col + indent + marker}
	spaces, content := after.indent()
	switch {
	case content == len(c.s):
		return marker, 1, !inParagraph // an empty item cannot interrupt a paragraph
	case spaces > 4:
		spaces = 1
	}
	return marker, spaces, true
}
