package chunk

import "regexp"

// moduleStatement matches the beginning of an import or export of JavaScript.
var moduleStatement = regexp.MustCompile(`^(import[ \t]*([{*"']|[ \t][A-Za-z_$])|export[ \t]*([{*]|[ \t](async|class|const|default|function|let|var)[ \t({]))`)

// moduleEnd is where the imports and exports end with which an MDX file goes on at
// byte begin, or begin when there are none: blocks of lines up to a blank line, as
// MDX reads them. They are read like frontmatter: bytes of the document that are no
// text of it. A later export stays text.
func moduleEnd(src string, begin int) int {
	end, inside := begin, false
	all := linesFrom(src, begin)
	for l, ok := all.next(); ok; l, ok = all.next() {
		text := src[l.start:l.end]
		switch {
		case blank(text):
			inside = false
		case inside || moduleStatement.MatchString(text):
			inside, end = true, l.next
		default:
			return end
		}
	}
	return end
}
