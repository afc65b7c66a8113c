package chunk

import "strings"

// The scanner follows the block structure of CommonMark 0.31 with GFM tables,
// as far as it is needed to tell which lines are headings that are direct
// children of the document, which are text, and which are code. It keeps the
// open containers (block quotes and list items) and the one open leaf, looks at
// each line once, and builds no tree. What stands in containers deeper than
// maxDepth is taken as text.

// maxDepth bounds how deep containers are followed, and with it the work a line
// can cost.
const maxDepth = 100

// rawHeading is a heading as it stands in the file.
type rawHeading struct {
	level int
	// start and end are the whole physical lines with their endings.
	start, end int
	// setext says that it is underlined.
	setext bool
	// text holds the title, without marks, indentation and spaces at the
	// ends; when that is several lines, they are lines.
	text  span
	lines []span
}

type span struct{ start, end int }

type container struct {
	item bool // a list item; a block quote otherwise
	// width is how many columns a line must be indented to belong to the
	// item. empty says that the item began with a blank line and has
	// nothing in it yet.
	width int
	empty bool
}

type leafKind uint8

const (
	leafNone leafKind = iota
	leafParagraph
	leafTable
	leafFence
	leafIndented
	leafHTML
	leafMath
)

type scanner struct {
	src   string
	stack []container
	leaf  leafKind

	// paragraph holds the stripped lines of the open paragraph, and
	// paragraphAt the start of the first one's physical line; text of it
	// that is lazy cannot become a heading's.
	paragraph   []span
	physical    []int
	fenceChar   byte
	fenceLength int
	htmlEnd     int // kind of the open HTML block, 1..7
	noMath      bool

	headings []rawHeading
	// text are runs of bytes that may hold links and tags: lines of
	// paragraphs, tables and headings, in order.
	text []textRun
	// attributes are the lists that were taken off titles, each to the end of a run of text.
	attributes []span
	// anchors are those of blocks of HTML.
	anchors []found
	// definitions are the targets of link reference definitions by label, the first of each.
	definitions map[string]string
}

// textRun is a line of text; more says that it goes on the paragraph of the
// run before.
type textRun struct {
	span
	more bool
}

// scan reads src from byte begin, which is where the frontmatter ends.
func (s *scanner) scan(src string, begin int) {
	s.src = src
	all := linesFrom(src, begin)
	for l, ok := all.next(); ok; l, ok = all.next() {
		s.line(l)
	}
	s.closeLeaf()
}

func (s *scanner) line(l line) {
	c := cursor{s: s.src[l.start:l.end]}
	matched := s.matchContainers(&c)
	all := matched == len(s.stack)
	if all && s.continueLeaf(&c, l) {
		return
	}
	// A paragraph can go on in a line that does not repeat its containers.
	inParagraph := s.leaf == leafParagraph
	for {
		indent, next := c.indent()
		if next == len(c.s) {
			s.blankLine(matched, all)
			return
		}
		if indent >= 4 {
			if inParagraph {
				break
			}
			s.closeFrom(matched)
			s.leaf = leafIndented
			return
		}
		ch := c.s[next]
		if !startsBlock[ch] && !(all && s.leaf == leafParagraph && mayUnderline[ch]) {
			break
		}
		rest := c.s[next:]
		if ch == '>' && len(s.stack) < maxDepth {
			s.closeFrom(matched)
			c.to(next)
			c.advance(1)
			if c.pos < len(c.s) && (c.s[c.pos] == ' ' || c.s[c.pos] == '\t') {
				c.skip(1)
			}
			s.push(container{})
			matched, all, inParagraph = len(s.stack), true, false
			continue
		}
		if s.startLeaf(rest, l, next, matched, all, inParagraph) {
			return
		}
		direct := all && s.leaf == leafParagraph
		if len(s.stack) < maxDepth {
			if marker, spaces, ok := listItem(&c, indent, next, direct); ok {
				s.closeFrom(matched)
				c.to(next)
				c.advance(marker)
				isBlank := blank(c.s[c.pos:])
				if isBlank {
					c.pos = len(c.s)
				} else {
					c.skip(spaces)
				}
				s.push(container{item: true, width: indent + marker + spaces, empty: isBlank})
				matched, all, inParagraph = len(s.stack), true, false
				if isBlank {
					return
				}
				continue
			}
		}
		if direct && s.tableStart(rest) {
			return
		}
		break
	}
	s.textLine(&c, l, matched, all)
}

// startsBlock are the bytes that a block other than a paragraph can begin with.
var startsBlock = func() (set [256]bool) {
	for _, ch := range []byte(">#`~<-_*+$0123456789") {
		set[ch] = true
	}
	return set
}()

// mayUnderline are the bytes that a line which changes the paragraph above can
// begin with: setext underlines and delimiter rows of tables.
var mayUnderline = func() (set [256]bool) {
	for _, ch := range []byte("=-|:") {
		set[ch] = true
	}
	return set
}()

// matchContainers consumes the marks of the open containers and returns how
// many of them the line belongs to.
func (s *scanner) matchContainers(c *cursor) int {
	for i := range s.stack {
		k := &s.stack[i]
		indent, next := c.indent()
		isBlank := next == len(c.s)
		switch {
		case !k.item:
			if isBlank || indent > 3 || c.s[next] != '>' {
				return i
			}
			c.to(next)
			c.advance(1)
			if c.pos < len(c.s) && (c.s[c.pos] == ' ' || c.s[c.pos] == '\t') {
				c.skip(1)
			}
		case isBlank:
			if k.empty {
				return i
			}
			c.to(next)
		case indent >= k.width:
			c.skip(k.width)
			k.empty = false
		default:
			return i
		}
	}
	return len(s.stack)
}

// continueLeaf gives the line to the open leaf when that takes whole lines, and
// reports whether it did.
func (s *scanner) continueLeaf(c *cursor, l line) bool {
	switch s.leaf {
	case leafFence:
		indent, next := c.indent()
		if indent <= 3 && closesFence(c.s[next:], s.fenceChar, s.fenceLength) {
			s.leaf = leafNone
		}
		return true
	case leafHTML:
		rest := c.s[c.pos:]
		if s.htmlEnd >= 6 {
			if blank(rest) {
				s.leaf = leafNone
				return false
			}
			s.anchorsIn(rest, l.start+c.pos)
		} else if endsHTML(rest, s.htmlEnd) {
			s.leaf = leafNone
		}
		return true
	case leafMath:
		if strings.Contains(c.s, "$$") {
			s.leaf = leafNone
		}
		return true
	case leafIndented:
		indent, next := c.indent()
		if indent >= 4 || next == len(c.s) {
			return true
		}
		s.leaf = leafNone
	case leafTable:
		if _, next := c.indent(); next == len(c.s) {
			s.leaf = leafNone
		}
	}
	return false
}

func (s *scanner) push(k container) {
	if n := len(s.stack); n > 0 {
		s.stack[n-1].empty = false
	}
	s.stack = append(s.stack, k)
}

// closeFrom closes the containers from the n-th on, with the leaf in them. When
// all containers stay, an open leaf ends: a new block begins.
func (s *scanner) closeFrom(n int) {
	s.closeLeaf()
	s.stack = s.stack[:n]
	if n > 0 {
		s.stack[n-1].empty = false
	}
}

// closeLeaf ends the open leaf. A paragraph gives up its definitions.
func (s *scanner) closeLeaf() {
	if s.leaf == leafParagraph && len(s.paragraph) > 0 && s.src[s.paragraph[0].start] == '[' {
		s.takeDefinitions()
	}
	s.leaf = leafNone
	s.paragraph, s.physical = s.paragraph[:0], s.physical[:0]
}

func (s *scanner) blankLine(matched int, all bool) {
	if !all {
		s.closeFrom(matched)
		return
	}
	if s.leaf == leafParagraph || s.leaf == leafTable {
		s.closeLeaf()
	}
}

// textLine takes a line that begins no block: it goes on a paragraph or a
// table, or begins a paragraph.
func (s *scanner) textLine(c *cursor, l line, matched int, all bool) {
	_, next := c.indent()
	end := len(c.s)
	for end > next && (c.s[end-1] == ' ' || c.s[end-1] == '\t') {
		end--
	}
	part := span{l.start + next, l.start + end}
	if s.leaf == leafTable && all {
		s.text = append(s.text, textRun{part, false})
		return
	}
	lazy := !all && s.leaf == leafParagraph
	if !lazy && (!all || s.leaf != leafParagraph) {
		s.closeFrom(matched)
		s.leaf = leafParagraph
	}
	s.text = append(s.text, textRun{part, len(s.paragraph) > 0})
	s.paragraph = append(s.paragraph, part)
	s.physical = append(s.physical, l.start)
}

// startLeaf tries the leaves that a line can begin, in the order of the
// specification, and reports whether the line is used up.
func (s *scanner) startLeaf(rest string, l line, next, matched int, all, inParagraph bool) bool {
	switch ch := rest[0]; ch {
	case '#':
		level, from, to, ok := atxHeading(rest)
		if !ok {
			return false
		}
		s.closeFrom(matched)
		text := span{l.start + next + from, l.start + next + to}
		if len(s.stack) == 0 {
			s.headings = append(s.headings, rawHeading{level: level, start: l.start, end: l.next, text: text})
		}
		s.text = append(s.text, textRun{text, false})
		return true
	case '`', '~':
		n, ok := opensFence(rest)
		if !ok {
			return false
		}
		s.closeFrom(matched)
		s.leaf, s.fenceChar, s.fenceLength = leafFence, ch, n
		return true
	case '<':
		kind := startsHTML(rest, inParagraph)
		if kind == 0 {
			return false
		}
		s.closeFrom(matched)
		tags := rest
		if kind < 6 { // behind it stands what is no HTML
			tags = rest[:strings.IndexByte(rest, '>')+1]
		}
		s.anchorsIn(tags, l.start+next)
		if kind >= 6 || !endsHTML(rest, kind) {
			s.leaf, s.htmlEnd = leafHTML, kind
		}
		return true
	case '$':
		if matched == 0 && s.opensMath(rest, l) {
			s.closeFrom(0)
			s.leaf = leafMath
			return true
		}
		return false
	}
	if all && s.leaf == leafParagraph {
		if s.setext(rest, l) {
			return true
		}
	}
	if thematicBreak(rest) {
		s.closeFrom(matched)
		return true
	}
	return false
}

// setext makes a heading of the open paragraph when rest underlines it.
func (s *scanner) setext(rest string, l line) bool {
	level := setextLevel(rest)
	if level == 0 {
		return false
	}
	if s.src[s.paragraph[0].start] == '[' {
		s.takeDefinitions()
	}
	if len(s.paragraph) == 0 {
		// Only definitions stood there, so the line is text itself.
		s.leaf = leafNone
		return false
	}
	if len(s.stack) == 0 {
		h := rawHeading{level: level, start: s.physical[0], end: l.next, setext: true, text: s.paragraph[0]}
		if len(s.paragraph) > 1 {
			h.lines = append(h.lines, s.paragraph...)
		}
		s.headings = append(s.headings, h)
	}
	s.leaf = leafNone
	s.paragraph, s.physical = s.paragraph[:0], s.physical[:0]
	return true
}

// opensMath reports whether a line that begins with $$ opens a block of
// formulas: no second $$ on it, and a later line that has one.
func (s *scanner) opensMath(rest string, l line) bool {
	if s.noMath || !strings.HasPrefix(rest, "$$") || strings.Contains(rest[2:], "$$") {
		return false
	}
	if !strings.Contains(s.src[l.next:], "$$") {
		s.noMath = true
		return false
	}
	return true
}
