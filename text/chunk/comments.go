package chunk

import (
	"bytes"
	"strings"

	"sheaf/internal/pattern"
)

// WithoutComments returns content with blanks in place of its comments: <!-- … --> of HTML and %% … %% of Obsidian.
// Readers of the page do not see comments. All other bytes and the line endings stay where they are. WithoutComments
// finds comments of Markdown outside code, formulas and frontmatter; other kinds of files have no comments. Content
// without comments is returned unchanged.
func WithoutComments(name string, content []byte) []byte {
	if KindOf(name) != KindMarkdown || !bytes.Contains(content, []byte("<!--")) && !bytes.Contains(content, []byte("%%")) {
		return content
	}
	text := string(content)
	comments := commentsOf(text, read("", name, content, false).front.whole.end)
	if len(comments) == 0 {
		return content
	}
	out := []byte(text)
	for _, c := range comments {
		for i := c.start; i < c.end; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	for _, c := range comments {
		keepIndent(out, c)
	}
	return out
}

// keepIndent replaces the first blank of a comment's last line by a nonbreaking space if text follows. Without the
// nonbreaking space, four spaces before the text would turn the text into code.
func keepIndent(out []byte, comment span) {
	const blank = "\u00a0"
	begin := comment.start + bytes.LastIndexAny(out[comment.start:comment.end], "\r\n") + 1
	rest := out[comment.end:]
	if end := bytes.IndexAny(rest, "\r\n"); end >= 0 {
		rest = rest[:end]
	}
	if comment.end-begin >= len(blank) && len(bytes.TrimSpace(rest)) > 0 {
		copy(out[begin:], blank)
	}
}

// commenter finds the comments of a Markdown text, line by line.
type commenter struct {
	scanner
	// block is the start of an open Obsidian comment (%%), or -1 if none is open.
	block int
	// until is the end of the last comment or code span. It may be in a later line.
	until int
	found []span
}

// commentsOf returns the ranges of the comments in text that begin at byte begin or later, in order.
func commentsOf(text string, begin int) []span {
	c := commenter{block: -1}
	c.src = text
	for l := range linesFrom(text, begin) {
		c.line(l)
	}
	if c.block >= 0 {
		c.found = append(c.found, span{c.block, len(text)})
	}
	return c.found
}

func (c *commenter) line(l line) {
	row := c.src[l.start:l.end]
	if c.block < 0 && c.until >= l.next {
		return
	}
	if c.block >= 0 {
		// Pairs of signs within the comment do not end it.
		if strings.Count(row, "%%")%2 == 0 {
			return
		}
		end := l.start + strings.LastIndex(row, "%%") + len("%%")
		c.found = append(c.found, span{c.block, end})
		c.block, c.until = -1, end
		return
	}
	before, depth := c.leaf, len(c.stack)
	inText := before == leafNone || before == leafParagraph || before == leafTable
	// A line with only %%, perhaps after marks of quotes and lists, begins a comment.
	if inText && c.until <= l.start && strings.TrimLeft(strings.TrimSpace(row), "> \t-*+") == "%%" {
		c.block = l.start + strings.Index(row, "%%")
		c.closeLeaf()
		return
	}
	inComment := before == leafHTML && c.htmlEnd == 2
	c.scanner.line(l)
	switch c.leaf {
	case leafFence, leafIndented, leafMath:
		return
	case leafNone:
		if (before == leafFence || before == leafMath) && len(c.stack) == depth { // the last line of the block
			return
		}
	case leafHTML:
		if inComment && c.htmlEnd == 2 {
			c.extend(l.end)
			return
		}
	}
	if inComment && strings.Contains(row, "-->") {
		end := l.start + strings.Index(row, "-->") + len("-->")
		c.extend(end)
		c.until = end
	}
	c.findComments(l)
}

// extend moves the end of the last comment to byte end.
func (c *commenter) extend(end int) {
	if n := len(c.found); n > 0 {
		c.found[n-1].end = max(c.found[n-1].end, end)
	}
}

// findComments finds the comments that begin in the line l.
func (c *commenter) findComments(l line) {
	for i := max(l.start, c.until); i < l.end; {
		switch rest := c.src[i:l.end]; {
		case rest[0] == '`': // skip the code span, or else the backticks
			r := inline{text: c.paragraph(i)}
			_, end, _ := r.codeSpan(0)
			i += end
		case rest[0] == '\\':
			i += 2
		case strings.HasPrefix(rest, "<!--"):
			i = c.html(i, l)
		case strings.HasPrefix(rest, "%%"):
			i = c.signs(i, l)
		default:
			i++
		}
		c.until = max(c.until, i)
	}
}

// paragraph returns the text from byte i to the end of its paragraph.
func (c *commenter) paragraph(i int) string {
	rest := c.src[i:]
	for l := range linesFrom(rest, 0) {
		row := strings.TrimLeft(rest[l.start:l.end], "> \t")
		if l.start > 0 &&
			(row == "" || row[0] == '#' || strings.HasPrefix(row, "```") || strings.HasPrefix(row, "~~~")) {
			return rest[:l.start]
		}
	}
	return rest
}

// html reads the HTML comment at byte i of the line l, and returns the byte after the comment. Without a comment, it
// returns the byte after "<!--". A comment that begins a block ends with the block; html then returns the end of l. Any
// other comment must end in its paragraph.
func (c *commenter) html(i int, l line) int {
	const sign = "<!--"
	rest := c.src[i+len(sign) : l.end]
	for _, empty := range []string{">", "->"} {
		if strings.HasPrefix(rest, empty) {
			c.found = append(c.found, span{i, i + len(sign) + len(empty)})
			return i + len(sign) + len(empty)
		}
	}
	if c.leaf == leafHTML && c.htmlEnd == 2 { // the block ends in a later line
		c.found = append(c.found, span{i, l.end})
		return l.end
	}
	end := strings.Index(c.paragraph(i+len(sign)), "-->")
	if end < 0 {
		return i + len(sign)
	}
	end += i + len(sign) + len("-->")
	c.found = append(c.found, span{i, end})
	return end
}

// signs reads the Obsidian comment (%%) at byte i of a line, and returns the byte after the comment. Without a comment,
// it returns the byte after %%. The comment ends in the same paragraph. The exception is a comment that begins a line:
// it may end later, at a %% that ends a line.
func (c *commenter) signs(i int, l line) int {
	const sign = "%%"
	from := i + len(sign)
	if i > l.start && (isWordByte(c.src[i-1]) || c.src[i-1] == '%') || strings.HasPrefix(c.src[from:l.end], "%") {
		return from
	}
	end := strings.Index(c.paragraph(from), sign)
	if end < 0 && blank(strings.TrimLeft(c.src[l.start:i], " >\t")) {
		end = strings.Index(c.src[from:], sign)
		if end >= 0 && !blank(c.src[from+end+len(sign):indexByteFrom(c.src, '\n', from+end)]) {
			end = -1
		}
	}
	if end < 0 {
		return from
	}
	end += from + len(sign)
	c.found = append(c.found, span{i, end})
	return end
}

// Squeezed returns text with one space in place of each run of at least 40 spaces. Such runs are in texts from
// [WithoutComments], which puts spaces in place of comments.
func Squeezed(text string) string { return manySpaces().ReplaceAllString(text, " ") }

var manySpaces = pattern.Lazy(` {40,}`)
