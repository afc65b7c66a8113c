package chunk

import "strings"

// line is one physical line: its text is src[start:end], its ending
// src[end:next]. Lines end with LF, CRLF, or a CR that no LF follows.
type line struct{ start, end, next int }

// lineAt is the line that begins at start, which is below len(src).
func lineAt(src string, start int) line {
	rest := src[start:]
	lf := strings.IndexByte(rest, '\n')
	if lf < 0 {
		lf = len(rest)
	}
	if cr := strings.IndexByte(rest[:lf], '\r'); cr >= 0 {
		if cr == lf-1 && lf < len(rest) {
			return line{start, start + cr, start + lf + 1}
		}
		return line{start, start + cr, start + cr + 1}
	}
	if lf == len(rest) {
		return line{start, len(src), len(src)}
	}
	return line{start, start + lf, start + lf + 1}
}

// blank reports whether a line's text is spaces and tabs only.
func blank(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' && s[i] != '\t' {
			return false
		}
	}
	return true
}

// cursor walks along a line, counting columns: a tab reaches to the next
// multiple of four. A tab can be consumed in part.
type cursor struct {
	s     string
	pos   int // next byte
	col   int // column of pos, plus what was consumed of the tab at pos
	inTab int // columns already consumed of the tab at pos
}

// indent is how many columns of white space come next, and where the first
// other byte stands.
func (c *cursor) indent() (columns, next int) {
	col := c.col
	for next = c.pos; next < len(c.s); next++ {
		switch c.s[next] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col, next
		}
	}
	return col - c.col, next
}

// skip consumes up to n columns of white space.
func (c *cursor) skip(n int) {
	for n > 0 && c.pos < len(c.s) {
		switch c.s[c.pos] {
		case ' ':
			c.pos++
			c.col++
			n--
		case '\t':
			width := 4 - c.col%4
			if width > n {
				c.col += n
				c.inTab += n
				return
			}
			c.pos++
			c.col += width
			c.inTab = 0
			n -= width
		default:
			return
		}
	}
}

// to moves to byte next, to which only white space leads.
func (c *cursor) to(next int) {
	for c.pos < next {
		if c.s[c.pos] == '\t' {
			c.col += 4 - c.col%4
		} else {
			c.col++
		}
		c.pos++
	}
	c.inTab = 0
}

// advance consumes n bytes that are not tabs.
func (c *cursor) advance(n int) {
	c.pos += n
	c.col += n
	c.inTab = 0
}
