package chunk

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// line is one physical line. Its text is src[start:end], its line ending src[end:next]: LF, CRLF or CR.
type line struct{ start, end, next int }

// linesFrom yields the lines of src[pos:].
func linesFrom(src string, pos int) iter.Seq[line] {
	return func(yield func(line) bool) {
		for lf := pos - 1; pos < len(src); {
			if lf < pos {
				lf = indexByteFrom(src, '\n', pos)
			}
			l := line{pos, lf, min(lf+1, len(src))}
			if cr := strings.IndexByte(src[pos:lf], '\r'); cr >= 0 {
				if l.end = pos + cr; l.end+1 < lf || lf == len(src) {
					l.next = l.end + 1
				}
			}
			if !yield(l) {
				return
			}
			pos = l.next
		}
	}
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

func blank(s string) bool { return strings.TrimLeft(s, " \t") == "" }

// cursor walks along a line and counts columns. A tab ends at a multiple of four columns, and the cursor can stop
// inside a tab.
type cursor struct {
	s   string
	pos int // next byte
	col int // column of pos, plus the consumed columns of the tab at pos
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
				return
			}
			c.pos++
			c.col += width
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
}

// advance consumes n bytes that are not tabs.
func (c *cursor) advance(n int) {
	c.pos += n
	c.col += n
}

// blankText reports whether a text has only white space, by Unicode's White_Space. Invalid bytes are not white space.
func blankText(s string) bool { return strings.TrimSpace(s) == "" }
