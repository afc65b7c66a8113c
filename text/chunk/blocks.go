package chunk

import (
	"strings"

	"sheaf/internal/pattern"
)

// The scanner follows the block structure of CommonMark 0.31 with GFM tables. It distinguishes headings directly in
// the document, text, and code. It keeps the open containers (block quotes and list items) and one open leaf, and
// builds no tree. Lines in containers deeper than maxDepth count as text.

// maxDepth limits the depth of nested containers (quotes, lists). This also limits the work for a line.
const maxDepth = 100

// rawHeading is a heading of the file.
type rawHeading struct {
	level int
	// start and end cover the whole lines of the heading in the file, with their line endings.
	start, end int
	// setext says that the heading is a text with a line of '=' or '-' below.
	setext bool
	// text is the title without marks, indentation and spaces at its ends. A title of several lines is in lines.
	text  span
	lines []span
}

type span struct{ start, end int }

type container struct {
	item bool // a list item; a block quote otherwise
	// width is the smallest indentation, in columns, of a line that belongs to the list item. empty says that the item
	// began with a blank line and has no content yet.
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

	// paragraph has the lines of the open paragraph, without marks and outer spaces.
	paragraph   []span
	fenceChar   byte
	fenceLength int
	htmlEnd     int  // kind of the open HTML block, 1..7
	noMath      bool // no later line has $$

	headings []rawHeading
	// text has the runs of bytes that may contain links and tags: lines of paragraphs, tables and headings, in order.
	text []textRun
	// attributes are the attribute lists ("{#id}") that were removed from titles. Each was at the end of a run of text.
	attributes []span
	// anchors are the HTML anchors (ids and names of elements) in HTML blocks.
	anchors []found
	// definitions has the targets of link reference definitions by label. If two have the same label, the first counts.
	definitions map[string]string
}

// textRun is a line of text. more says that the line continues the paragraph of the previous run.
type textRun struct {
	span
	more bool
}

// scan reads src[begin:], where begin is the end of the frontmatter. It fills the fields of s.
func (s *scanner) scan(src string, begin int) {
	s.src = src
	for l := range linesFrom(src, begin) {
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
	// A paragraph can continue in a line that does not repeat its containers.
	inParagraph := s.leaf == leafParagraph
	for {
		indent, next := c.indent()
		if next == len(c.s) {
			if !all {
				s.closeFrom(matched)
			} else if s.leaf == leafParagraph || s.leaf == leafTable {
				s.closeLeaf()
			}
			return
		}
		if indent >= 4 {
			if inParagraph {
				break
			}
			s.closeFrom(matched)
			s.leaf = leafIndented
			s.continueLeaf(&c, l)
			return
		}
		ch := c.s[next]
		if !startsBlock[ch] && !(all && s.leaf == leafParagraph && mayUnderline[ch]) {
			break
		}
		rest := c.s[next:]
		if ch == '>' && len(s.stack) < maxDepth {
			s.closeFrom(matched)
			c.moveTo(next)
			c.advance(1)
			c.skip(1)
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
				c.moveTo(next)
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

// outlineItem returns the text of a line that is an item of an outline, but code or text to Markdown. Tabs and a dash
// begin the line. Logseq writes such items below a heading.
func (s *scanner) outlineItem(l line) (item textRun, ok bool) {
	text := strings.TrimRight(s.src[l.start:l.end], " \t")
	rest := strings.TrimLeft(text, "\t")
	end := l.start + len(text)
	item.span = span{end - len(rest) + len("- "), end}
	return item, len(rest) < len(text) && strings.HasPrefix(rest, "- ")
}

// startsBlock has the bytes with which a block other than a paragraph can begin.
var startsBlock = bytesOf(">#`~<-_*+$0123456789")

// mayUnderline has the bytes that can begin a line below a heading's text or below a table's heading row.
var mayUnderline = bytesOf("=-|:")

// matchContainers consumes the marks of the open containers (quotes, list items) to which the line belongs. It returns
// the number of these containers.
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
			c.moveTo(next)
			c.advance(1)
			c.skip(1)
		case isBlank:
			if k.empty {
				return i
			}
			c.moveTo(next)
		case indent >= k.width:
			c.skip(k.width)
			k.empty = false
		default:
			return i
		}
	}
	return len(s.stack)
}

// continueLeaf reports whether the open leaf block takes the whole line, as code does. If not, it may close the block.
func (s *scanner) continueLeaf(c *cursor, l line) bool {
	switch s.leaf {
	case leafFence:
		indent, next := c.indent()
		if n := runOf(c.s[next:], s.fenceChar); indent <= 3 && n >= s.fenceLength && blank(c.s[next+n:]) {
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
			if item, ok := s.outlineItem(l); ok {
				s.text = append(s.text, item)
			}
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

// closeFrom closes the open leaf block and the containers from number n on, because a new block begins.
func (s *scanner) closeFrom(n int) {
	s.closeLeaf()
	s.stack = s.stack[:n]
	if n > 0 {
		s.stack[n-1].empty = false
	}
}

// closeLeaf ends the open leaf block. From a paragraph, it removes link definitions.
func (s *scanner) closeLeaf() {
	if s.leaf == leafParagraph && len(s.paragraph) > 0 && s.src[s.paragraph[0].start] == '[' {
		s.takeDefinitions()
	}
	s.leaf = leafNone
	s.paragraph = s.paragraph[:0]
}

// textLine handles a line that begins no block: it continues a paragraph or a table, or begins a paragraph. matched is
// the number of open containers that contain the line, and all says that all of them do.
func (s *scanner) textLine(c *cursor, l line, matched int, all bool) {
	_, next := c.indent()
	part := span{l.start + next, l.start + len(strings.TrimRight(c.s, " \t"))}
	if s.leaf == leafTable && all {
		s.text = append(s.text, textRun{part, false})
		return
	}
	if s.leaf != leafParagraph {
		s.closeFrom(matched)
		s.leaf = leafParagraph
	}
	run, ok := s.outlineItem(l)
	if !ok || len(s.paragraph) == 0 {
		run = textRun{part, len(s.paragraph) > 0}
	}
	s.text = append(s.text, run)
	s.paragraph = append(s.paragraph, part)
}

// startLeaf opens the leaf block that begins on a line, such as a heading or a fence of code. If no such block begins
// there, it returns false. rest is the text of l from byte next, after the marks of containers and the indentation.
// matched is the number of open containers that contain the line, and all says that all of them do. inParagraph says
// that a paragraph was open before the line.
func (s *scanner) startLeaf(rest string, l line, next, matched int, all, inParagraph bool) bool {
	switch ch := rest[0]; ch {
	case '#':
		level := runOf(rest, '#')
		if level > 6 || level < len(rest) && rest[level] != ' ' && rest[level] != '\t' {
			return false
		}
		from, to := trimSpan(rest, level, len(rest))
		to = withoutClosingHashes(rest, from, to)
		s.closeFrom(matched)
		text := span{l.start + next + from, l.start + next + to}
		if len(s.stack) == 0 {
			s.headings = append(s.headings, rawHeading{level: level, start: l.start, end: l.next, text: text})
		}
		s.text = append(s.text, textRun{text, false})
		return true
	case '`', '~':
		n := runOf(rest, ch)
		if n < 3 || ch == '`' && strings.IndexByte(rest[n:], '`') >= 0 {
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
		if kind < 6 { // text that is not HTML follows
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
	if all && s.leaf == leafParagraph && s.setext(rest, l) {
		return true
	}
	if thematicBreak(rest) {
		s.closeFrom(matched)
		return true
	}
	return false
}

// setext turns the open paragraph into a heading, and returns true, if the text rest underlines the paragraph.
func (s *scanner) setext(rest string, l line) bool {
	level := strings.IndexByte("=-", rest[0]) + 1
	if level == 0 || !blank(rest[runOf(rest, rest[0]):]) {
		return false
	}
	if s.src[s.paragraph[0].start] == '[' {
		s.takeDefinitions()
	}
	if len(s.paragraph) == 0 {
		// The paragraph had only definitions, so the line is text.
		s.leaf = leafNone
		return false
	}
	if len(s.stack) == 0 {
		text := s.paragraph[0]
		h := rawHeading{level: level, start: text.start, end: l.next, setext: true, text: text}
		for h.start > 0 && blank(s.src[h.start-1:h.start]) {
			h.start--
		}
		if len(s.paragraph) > 1 {
			h.lines = append(h.lines, s.paragraph...)
		}
		s.headings = append(s.headings, h)
	}
	s.leaf = leafNone
	s.paragraph = s.paragraph[:0]
	return true
}

// opensMath reports whether a line that begins with $$ opens a block of formulas. A line with a second $$ does not.
func (s *scanner) opensMath(rest string, l line) bool {
	if s.noMath || !strings.HasPrefix(rest, "$$") || strings.Contains(rest[2:], "$$") {
		return false
	}
	s.noMath = !strings.Contains(s.src[l.next:], "$$")
	return !s.noMath
}

// withoutClosingHashes returns the end of the title s[from:to] without closing hashes. Closing hashes follow a space or
// tab, or are the whole title.
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

// trimSpan returns from and to, moved inward past the spaces and tabs at the ends of s[from:to].
func trimSpan(s string, from, to int) (int, int) {
	for from < to && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	for to > from && (s[to-1] == ' ' || s[to-1] == '\t') {
		to--
	}
	return from, to
}

// thematicBreak reports whether s is a rule: three or more of one of - _ * with spaces and tabs between them.
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

// listItem parses the marker of a list item at byte next of c. indent is its indentation in columns. marker is the
// length of the marker in bytes. spaces is the number of columns of white space after the marker that belong to the
// item. ok is false without a marker. inParagraph says that the item would interrupt a paragraph.
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

// startsHTML returns the kind (1..7, as in CommonMark) of the HTML block that s begins, or 0. If inParagraph is true, s
// is in a paragraph, which kind 7 cannot interrupt.
func startsHTML(s string, inParagraph bool) int {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return 2
	case strings.HasPrefix(s, "<?"):
		return 3
	case strings.HasPrefix(s, "<![CDATA["):
		return 5
	case len(s) > 2 && s[1] == '!' && isLetter(s[2]):
		return 4
	}
	i := 1
	closing := i < len(s) && s[i] == '/'
	if closing {
		i++
	}
	name := i
	for i < len(s) && (isLetter(s[i]) || i > name && (isDigit(s[i]) || s[i] == '-')) {
		i++
	}
	if i == name {
		return 0
	}
	tag := strings.ToLower(s[name:i])
	ends := i == len(s) || s[i] == ' ' || s[i] == '\t' || s[i] == '>'
	end, whole := htmlTag(s, i, closing)
	switch {
	case !closing && rawHTMLNames[tag]:
		if ends {
			return 1
		}
	case (ends || strings.HasPrefix(s[i:], "/>")) && blockHTMLNames[tag]:
		return 6
	case !inParagraph && whole && blank(s[end:]):
		return 7
	}
	return 0
}

// rawEnd matches the end of an element whose content is not Markdown.
var rawEnd = pattern.Lazy(`(?i)</(?:script|pre|style|textarea)>`)

// htmlEnds are the ends of HTML blocks of kind 2..5.
var htmlEnds = [...]string{2: "-->", 3: "?>", 4: ">", 5: "]]>"}

// endsHTML reports whether a line ends an HTML block of kind 1..5.
func endsHTML(s string, kind int) bool {
	return kind == 1 && rawEnd().MatchString(s) || kind > 1 && strings.Contains(s, htmlEnds[kind])
}

// htmlTag parses the rest of a tag whose name ends at byte i of s. closing says that it is an end tag, as in </p>. end
// is the byte after the closing '>'. If ok is false, s is not a tag, and end is where the search stopped.
func htmlTag(s string, i int, closing bool) (end int, ok bool) {
	i, spaced := skipTagSpace(s, i)
	if closing {
		return i + 1, i < len(s) && s[i] == '>'
	}
	for {
		if i == len(s) {
			return i, false
		}
		switch {
		case s[i] == '>':
			return i + 1, true
		case s[i] == '/':
			return i + 2, i+1 < len(s) && s[i+1] == '>'
		case !spaced || !(isLetter(s[i]) || s[i] == '_' || s[i] == ':'):
			return i, false
		}
		for i < len(s) && (isWordByte(s[i]) || strings.IndexByte("_.:-", s[i]) >= 0) {
			i++
		}
		i, spaced = skipTagSpace(s, i)
		if i == len(s) || s[i] != '=' {
			continue
		}
		i, _ = skipTagSpace(s, i+1)
		if i, ok = attributeValue(s, i); !ok {
			return i, false
		}
		i, spaced = skipTagSpace(s, i)
	}
}

func skipTagSpace(s string, i int) (next int, skipped bool) {
	for next = i; next < len(s) && strings.IndexByte(" \t\n\r", s[next]) >= 0; next++ {
	}
	return next, next > i
}

// attributeValue returns the byte after the attribute value that begins at byte i. ok is false for an empty or unclosed
// value.
func attributeValue(s string, i int) (end int, ok bool) {
	if i == len(s) {
		return i, false
	}
	if quote := s[i]; quote == '"' || quote == '\'' {
		end := indexByteFrom(s, quote, i+1)
		return min(end+1, len(s)), end < len(s)
	}
	for end = i; end < len(s) && strings.IndexByte(" \t\n\r\"'=<>`", s[end]) < 0; end++ {
	}
	return end, end > i
}

func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

var rawHTMLNames = map[string]bool{"script": true, "pre": true, "style": true, "textarea": true}

var blockHTMLNames = wordsOf(`address article aside base basefont blockquote body caption center col colgroup
	dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header
	hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary
	table tbody td tfoot th thead title tr track ul`)

// tableStart makes the open paragraph's last line a table if rest is a delimiter row with equally many cells. It
// reports whether a table begins. A line of only hyphens is never a delimiter row: it underlines a heading.
func (s *scanner) tableStart(rest string) bool {
	cells := delimiterRow(rest)
	if cells == 0 {
		return false
	}
	last := s.paragraph[len(s.paragraph)-1]
	if tableCells(s.src[last.start:last.end]) != cells {
		return false
	}
	s.closeLeaf()
	s.leaf = leafTable
	return true
}

// DelimiterRow reports whether a line separates the heading row of a table from the other rows, as in "| --- | :-: |".
func DelimiterRow(line string) bool { return delimiterRow(line) > 0 }

// delimiterRow returns the number of cells of a delimiter row such as "| :--- | ---: |", or 0 for any other line.
func delimiterRow(s string) int {
	s = strings.Trim(s, " \t")
	if !strings.ContainsAny(s, "|:") || strings.Trim(s, "|:- \t") != "" {
		return 0
	}
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(s, "|"), "|"), "|")
	for _, c := range cells {
		c = strings.TrimSuffix(strings.TrimPrefix(strings.Trim(c, " \t"), ":"), ":")
		if c == "" || strings.Trim(c, "-") != "" {
			return 0
		}
	}
	return len(cells)
}

// tableCells returns the number of cells of a table's row.
func tableCells(s string) int {
	s = strings.Trim(s, " \t")
	s = strings.TrimPrefix(s, "|")
	cells := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			if !blank(s[i+1:]) {
				cells++
			}
		}
	}
	return cells
}
