package chunk

import (
	"strings"
	"unicode/utf8"
)

// line is one physical line. Its text is src[start:end], its line ending src[end:next]: LF, CRLF or CR.
type line struct{ start, end, next int }

type lines struct {
	src    string
	pos    int
	lf, cr int // the first LF and the first CR at or after pos; len(src) for none
}

func linesFrom(src string, pos int) lines { return lines{src, pos, pos - 1, pos - 1} }

// next returns the next line; ok is false at the end of the text.
func (r *lines) next() (l line, ok bool) {
	if r.pos >= len(r.src) {
		return line{}, false
	}
	if r.lf < r.pos {
		r.lf = indexByteFrom(r.src, '\n', r.pos)
	}
	if r.cr < r.pos {
		r.cr = indexByteFrom(r.src, '\r', r.pos)
	}
	l = line{r.pos, r.lf, min(r.lf+1, len(r.src))}
	if r.cr < r.lf {
		l.end = r.cr
		if l.next = l.end + 1; l.next == r.lf && r.lf < len(r.src) {
			l.next++
		}
	}
	r.pos = l.next
	return l, true
}

func bytesOf(s string) (set [256]bool) {
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}

// runOf returns the number of characters c at the beginning of s.
func runOf(s string, c byte) (n int) {
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// indexByteFrom returns the position of the first c in s at or after byte from. Without such a byte, it returns len(s).
func indexByteFrom(s string, c byte, from int) int {
	if i := strings.IndexByte(s[from:], c); i >= 0 {
		return from + i
	}
	return len(s)
}

// firstBytes returns the beginning of s, at most n bytes and only whole characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func blank(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' && s[i] != '\t' {
			return false
		}
	}
	return true
}

// cursor walks along a line and counts columns. A tab ends at a multiple of four columns, and the cursor can stop
// inside a tab.
type cursor struct {
	s     string
	pos   int // next byte
	col   int // column of pos, plus the consumed columns of the tab at pos
	inTab int // consumed columns of the tab at pos
}

// indent returns how many columns of white space are at the cursor, and the byte after this white space.
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

// moveTo moves the cursor to byte next. Before next, there must be only white space.
func (c *cursor) moveTo(next int) {
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

// blankText reports whether a text has only white space, by Unicode's White_Space. Invalid bytes are not white space.
func blankText(s string) bool { return strings.TrimSpace(s) == "" }
