package snippet

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/attributes"
	"sheaf/internal/wikilink"
	"sheaf/text/chunk"
)

// cleaner copies Markdown as a reader sees it. Line breaks become spaces. It drops marks of headings, quotes, lists,
// fences, tables, emphasis, links, footnotes and highlights. It also drops comments, kinds of callouts and names of
// blocks. Tasks show a box. Code and unknown marks do not change.
type cleaner struct {
	text    string
	pos     int
	matches []match
	line    line
	marked  markedMatches
	open    openConstructs
}

// line is the output of a cleaner so far: one line of text.
type line struct {
	text           []byte
	columns, width int  // the width so far, and the wanted width
	space          bool // write a space before the next character
}

// markedMatches are the positions of matches in the output of a cleaner.
type markedMatches struct {
	ranges  []sheaf.Span
	weights []float64 // the weight of each term of matches
	terms   uint64    // a bit for each term that ranges contain
	begin   int       // the field rarest considers only matches at this byte of the text or later
	most    float64   // the weight of the rarest match
	rarest  int       // where the rarest match begins in the text
}

// openConstructs records which constructs (code, quotes, comments and so on) are open at the current position.
type openConstructs struct {
	fence  fence
	code   int          // the end of the last code span
	labels []sheaf.Span // of links by reference: "][label]"
	signs  []int        // where highlights and comments end
	row    bool         // the line is a row of a table
}

func (c *cleaner) run() {
	begin := lineBegin(c.text, c.pos, c.pos)
	c.open.fence.read(c.text[max(0, begin-scanBytes):begin])
	c.open.row = isRow(firstLine(c.text[begin:]))
	if strings.Trim(c.text[begin:c.pos], " \t>#|-*+[xX]") == "" { // also within the marks of a line
		c.pos = begin
		c.lineStart()
	} else if c.open.fence.next(firstLine(c.text[begin:])); c.open.fence.mark == "" {
		c.open.code = codeSpanEnd(c.text, c.pos)
	}
	for c.pos < len(c.text) && c.line.columns < c.line.width {
		if c.matchAhead() || c.plain() {
			continue
		}
		if c.open.fence.mark == "" && c.pos >= c.open.code {
			if c.text[c.pos] == '`' {
				c.open.code = c.pos + codeSpan(c.text[c.pos:])
			} else if c.mark() {
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(c.text[c.pos:])
		c.pos += size
		switch {
		case r == '\n' || r == '\r':
			c.pos += lineEnd(c.text[c.pos-size:]) - size
			c.line.space = true
			if c.pos >= c.open.code {
				c.lineStart()
			}
		default:
			c.show(r)
		}
	}
}

// show writes a character, or a space for white space and control characters. It drops byte order marks and spaces of
// no width.
func (c *cleaner) show(r rune) {
	switch {
	case r == '\ufeff' || r == '\u200b':
	case unicode.IsSpace(r) || unicode.IsControl(r):
		c.line.space = true
	default:
		c.put(r)
	}
}

// plainBytes[b] reports whether the byte b is a character of one column. Marks and spaces do not count.
var plainBytes = func() (plain [256]bool) {
	for c := '!'; c <= '~'; c++ {
		plain[c] = !strings.ContainsRune("`*_![]|<&{=%^\\", c)
	}
	return plain
}()

// plain copies plain characters, and single spaces between them, up to the next match. It is faster than put. While a
// highlight or comment is open, plain copies no spaces, because the method mark must see them. If plain copies nothing,
// it returns false.
func (c *cleaner) plain() bool {
	rest := c.text[c.pos:]
	if len(c.matches) > 0 {
		rest = rest[:min(len(rest), c.matches[0].start-c.pos)]
	}
	if rest == "" || !plainBytes[rest[0]] {
		return false
	}
	c.separate()
	n, most, words := 1, min(len(rest), c.line.width-c.line.columns), len(c.open.signs) == 0
	for n < most {
		if plainBytes[rest[n]] {
			n++
		} else if words && rest[n] == ' ' && n+1 < most && plainBytes[rest[n+1]] {
			n += 2
		} else {
			break
		}
	}
	c.line.text = append(c.line.text, rest[:n]...)
	c.line.columns += n
	c.pos += n
	return true
}

// separate writes the pending space.
func (c *cleaner) separate() {
	if c.line.space && len(c.line.text) > 0 {
		c.line.text = append(c.line.text, ' ')
		c.line.columns++
	}
	c.line.space = false
}

func (c *cleaner) put(r rune) {
	c.separate()
	c.line.text = utf8.AppendRune(c.line.text, r)
	c.line.columns += runeColumns(r)
}

// matchAhead copies the whole match that starts here. It returns false if no match starts here.
func (c *cleaner) matchAhead() bool {
	for len(c.matches) > 0 && c.matches[0].end <= c.pos {
		c.matches = c.matches[1:]
	}
	if len(c.matches) == 0 || c.matches[0].start > c.pos {
		return false
	}
	m := c.matches[0]
	c.marked.terms |= 1 << m.term
	if w := c.marked.weights[m.term]; c.pos >= c.marked.begin && w > c.marked.most*(1+1e-9) {
		c.marked.most, c.marked.rarest = w, c.pos
	}
	start := -1
	for c.pos < m.end {
		rest := c.text[c.pos:m.end]
		r, size := utf8.DecodeRuneInString(rest)
		shown := rest[:size]
		switch {
		case r == '\n' || r == '\r': // of a hyphenated word
			size = len(rest) - len(strings.TrimLeft(rest, " \t\r\n>"))
			shown, c.line.space = "", true
		case r == '&':
			shown, size = chunk.Entity(c.text[c.pos:])
		case r == '<':
			shown = ""
			size, _, _ = chunk.Tag(rest)
		case strings.HasPrefix(rest, "**"):
			shown, size = "", len("**")
		case isEscape(rest):
			shown = ""
		}
		c.pos += max(size, 1)
		for _, r := range shown {
			c.put(r)
			if start < 0 {
				start = len(c.line.text) - utf8.RuneLen(r)
			}
		}
	}
	n := len(c.marked.ranges)
	if n > 0 && c.marked.ranges[n-1].End == start && m.start < m.end && !noWordBefore(c.text, m.start) {
		c.marked.ranges[n-1].End = len(c.line.text)
	} else {
		c.marked.ranges = append(c.marked.ranges, sheaf.Span{Start: start, End: len(c.line.text)})
	}
	return true
}

// noWordBefore reports whether no letter, digit or mark comes before byte i of text.
func noWordBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// untilMatch returns the number of bytes before the next match. The cleaner must not drop more bytes than these.
func (c *cleaner) untilMatch() int {
	for _, m := range c.matches {
		if m.end > c.pos {
			return max(m.start-c.pos, 0)
		}
	}
	return len(c.text) - c.pos
}

// skip drops n bytes if they contain no match. It reports whether it dropped them.
func (c *cleaner) skip(n int) bool {
	if n <= 0 || n > c.untilMatch() {
		return false
	}
	c.pos += n
	return true
}

// lineStart drops the Markdown marks at the beginning of a line.
func (c *cleaner) lineStart() {
	if marks, code := c.open.fence.next(firstLine(c.text[c.pos:])); code {
		c.skip(marks)
		return
	}
	c.open.row = isRow(firstLine(c.text[c.pos:]))
	for {
		indent := 0
		for rest := c.text[c.pos:]; indent < len(rest) && (rest[indent] == ' ' || rest[indent] == '\t'); {
			indent++
		}
		if indent > 0 && !c.skip(indent) {
			return
		}
		line := c.text[c.pos:]
		if !c.skip(lineMark(line)) {
			return
		}
		switch line[0] {
		case '-', '*', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			c.task()
		case '>':
			c.skip(calloutKind(c.text[c.pos:]))
		}
	}
}

// task writes a box if a list item begins with the mark of a task.
func (c *cleaner) task() {
	rest := c.text[c.pos:]
	for _, box := range []struct {
		written string
		stands  rune
	}{{"[ ] ", '☐'}, {"[x] ", '☑'}, {"[X] ", '☑'}} {
		if strings.HasPrefix(rest, box.written) && c.skip(len(box.written)-1) {
			c.put(box.stands)
			c.line.space = true
			return
		}
	}
}

// calloutKind returns the length of [!kind] at the beginning of a callout, including a sign that folds the callout.
// Without such a kind, the result is 0.
func calloutKind(line string) int {
	kind, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "[!")
	end := strings.IndexAny(kind[:min(len(kind), labelReach)], "[]\r\n")
	if !ok || end < 1 || kind[end] != ']' {
		return 0
	}
	rest := strings.TrimLeft(kind[end+1:], "+-")
	return len(line) - len(rest)
}

// lineMark returns the length of the mark at the beginning of a line. A mark is a quote sign, bullet, number, heading
// sign, fence with info, or row of dashes. Without a mark, the result is 0.
func lineMark(line string) int {
	if line != "" && line[0]|0x20 >= 'a' && line[0]|0x20 <= 'z' { // true for most lines
		return 0
	}
	line = firstLine(line[:min(len(line), 512)])
	switch {
	case fenceMark(line) != "", isDefinition(line):
		return len(line)
	case line != "" && strings.Trim(line, "-=*_|: +") == "" && len(line) >= 3:
		return len(line)
	case strings.HasPrefix(line, "> "), strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "),
		strings.HasPrefix(line, "+ "):
		return 2
	case strings.HasPrefix(line, ">"), strings.HasPrefix(line, "|"):
		return 1
	}
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 0 && n <= 6 && (n == len(line) || line[n] == ' ' || line[n] == '\t') {
		return min(n+1, len(line))
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 && digits <= 3 && strings.HasPrefix(line[digits:], ". ") {
		return digits + 2
	}
	if n := footnote(line); n > 0 && strings.HasPrefix(line[n:], ": ") {
		return n + len(": ")
	}
	return 0
}

// labelReach is the largest number of bytes in the label of a footnote or callout. A longer label counts as text.
const labelReach = 100

// footnote returns the length of [^label] at the beginning of text, or 0.
func footnote(text string) int {
	label, ok := strings.CutPrefix(text[:min(len(text), labelReach)], "[^")
	end := strings.IndexAny(label, "[]\r\n")
	if !ok || end < 1 || label[end] != ']' || strings.TrimSpace(label[:end]) == "" {
		return 0
	}
	return len("[^") + end + 1
}

// footnoteMark returns the length of the footnote mark at byte i. It returns 0 if no mark is there, or if the mark does
// not follow a word or number. So it returns 0 for [^a-z] in a regular expression.
func footnoteMark(text string, i int) int {
	n := footnote(text[i:])
	if n == 0 || i+n < len(text) && strings.IndexByte("+*?{[(:", text[i+n]) >= 0 {
		return 0
	}
	number := strings.Trim(text[i+len("[^"):i+n-1], "0123456789") == ""
	if !number && (i == 0 || strings.IndexByte(" \t\r\n(/`", text[i-1]) >= 0) {
		return 0
	}
	return n
}

// wordByte reports whether the byte at i is an ASCII letter or digit. A sign next to it is usually an operator, not
// markup.
func wordByte(text string, i int) bool {
	return i >= 0 && i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z')
}

// blockName returns the length of the ^name that begins at byte i and ends a line, or 0. Links use this name for the
// block. A number does not count, because it may be an exponent.
func blockName(text string, i int) int {
	if i > 0 && strings.IndexByte(" \t\r\n", text[i-1]) < 0 {
		return 0
	}
	end := i + 1
	for wordByte(text, end) || end < len(text) && text[end] == '-' {
		end++
	}
	rest := firstLine(text[end:min(len(text), end+linkReach)])
	if strings.Trim(text[i+1:end], "0123456789") == "" || strings.TrimRight(rest, " \t\r\n") != "" {
		return 0
	}
	return end - i
}

// mark skips the sign of Markdown at the current position, such as "**", "[" or the target of a link. It returns false
// if no such sign begins there, or if the sign contains a part of a match.
func (c *cleaner) mark() bool {
	rest := c.text[c.pos:]
	if n := len(c.open.signs); n > 0 && c.pos >= c.open.signs[n-1] {
		here := c.pos == c.open.signs[n-1]
		if c.open.signs = c.open.signs[:n-1]; here && c.skip(2) {
			return true
		}
	}
	switch rest[0] {
	case '=', '%':
		if len(rest) < 2 || rest[1] != rest[0] {
			return false
		}
		end := signsEnd(c.text, c.pos)
		if end == 0 {
			return false
		}
		if rest[0] == '%' && c.skip(end+2-c.pos) {
			return true
		}
		if c.skip(2) {
			c.open.signs = append(c.open.signs, end)
			return true
		}
	case '^':
		return c.skip(blockName(c.text, c.pos))
	case '*', '_':
		n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		if n == 2 && rest[0] == '*' || n == 3 || n == 1 && isEmphasis(c.text, c.pos) {
			return c.skip(n)
		}
	case '!':
		if strings.HasPrefix(rest, "![") && !c.targetAhead(rest[1:]) {
			return c.picture(rest) || c.skip(1)
		}
	case '[':
		if label := linkLabel(c.text, c.pos); label.End > 0 && c.skip(1) {
			c.open.labels = append(c.open.labels, label)
			return true
		}
		if c.skip(footnoteMark(c.text, c.pos)) {
			return true
		}
		if strings.HasPrefix(rest, "[[") {
			return (c.pos == 0 || c.text[c.pos-1] != '!') && c.skip(wikiTarget(rest)) || c.skip(2)
		}
		if linkTextEnd(rest) > 0 && !c.targetAhead(rest) {
			return c.skip(1)
		}
	case ']':
		if n := len(c.open.labels); n > 0 {
			switch label := c.open.labels[n-1]; label.Start - c.pos {
			case 1: // this bracket ends a picture in the link
				return false
			case 0:
				c.open.labels = c.open.labels[:n-1]
				return c.skip(label.End - label.Start)
			}
		}
		switch {
		case strings.HasPrefix(rest, "]]"):
			if wikilink.BeginsAddress(rest[2:]) {
				return c.skip(1)
			}
			return c.skip(2)
		case strings.HasPrefix(rest, "]("):
			return c.skip(linkTarget(rest))
		}
	case '\\':
		lineBreak := strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r")
		if lineBreak || strings.HasPrefix(rest, `\|`) && c.inWikiLink() { // a bar in a table
			return c.skip(1)
		}
		if isEscape(rest) && c.skip(2) {
			c.put(rune(rest[1]))
			return true
		}
	case '|':
		if (c.open.row || c.inWikiLink()) && c.skip(1) {
			c.line.space = true
			return true
		}
	case '<':
		if n := markupLength(rest); n > 0 && !strings.HasSuffix(c.text[:c.pos], "](") && c.skip(n) {
			_, _, within := chunk.Tag(rest)
			c.line.space = c.line.space || !strings.HasPrefix(rest, "<!--") && !within
			return true
		}
	case '{':
		return c.skip(headingAttributes(c.text, c.pos))
	case '&':
		if stands, n := chunk.Entity(rest); n > 1 && c.skip(n) {
			for _, r := range stands {
				c.show(r)
			}
			return true
		}
	}
	return false
}

// isEscape reports whether text begins with a backslash that readers do not see, because a sign of Markdown follows.
func isEscape(text string) bool {
	return len(text) > 1 && text[0] == '\\' && strings.IndexByte("|_*#+.@-&<>[](){}!~`", text[1]) >= 0
}

// isRow reports whether a line begins or ends with a bar, like the rows of most tables.
func isRow(line string) bool {
	row := strings.Trim(line, " \t>\r\n")
	return strings.HasPrefix(row, "|") || strings.HasSuffix(row, "|")
}

// inWikiLink reports whether a wiki link is open at the current position.
func (c *cleaner) inWikiLink() bool {
	before := c.text[lineBegin(c.text, c.pos, linkReach):c.pos]
	return strings.LastIndex(before, "[[") > strings.LastIndex(before, "]]")
}

// targetAhead reports whether the target or title of a link contains a match. If so, the cleaner keeps the link as it
// is. rest begins with the link.
func (c *cleaner) targetAhead(rest string) bool {
	end := linkTextEnd(rest)
	if end == 0 {
		return false
	}
	from := len(c.text) - len(rest) + end
	to := from + linkTarget(rest[end:])
	return slices.ContainsFunc(c.matches, func(m match) bool { return m.start < to && m.end > from })
}

// picture drops a picture without an address, as in "![text]()", or without a text, as in "![][label]". It reports
// whether it dropped one. An embedded picture has no address here, because its data was removed from the indexed text.
// rest begins with "![".
func (c *cleaner) picture(rest string) bool {
	rest = rest[:min(len(rest), linkReach)]
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return false
	}
	if strings.HasPrefix(rest, "![][") {
		return c.skip(end + labelLength(rest[end:]))
	}
	for _, empty := range []string{"]()", "](<>)"} {
		if strings.HasPrefix(rest[end:], empty) {
			return c.skip(end + len(empty))
		}
	}
	return false
}

// headingAttributes returns the length of the attribute list at byte i, or 0. An example is {#id} after a heading.
func headingAttributes(text string, i int) int {
	list := strings.TrimRight(firstLine(text[i:min(len(text), i+linkReach)]), " \t\r\n#")
	line := strings.TrimLeft(text[lineBegin(text, i, linkReach):i], " >\t")
	if rest, _, ok := attributes.Cut(list); !ok || rest != "" || !strings.HasPrefix(line, "#") {
		return 0
	}
	return len(list)
}

// linkReach is the largest number of bytes that are searched for the end of a link.
const linkReach = 512

// linkTextEnd returns where "](" ends the text of the link at the beginning of rest. If the text or the target does not
// end nearby, it returns 0. The text may contain pictures and line breaks, but not a paragraph break.
func linkTextEnd(rest string) int {
	all := rest
	rest = rest[:min(len(rest), linkReach)]
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth > 0 {
				continue
			}
			if strings.HasPrefix(rest[i:], "](") && linkTarget(all[i:]) > 0 && !endsParagraph(rest[:i]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// wikiTarget returns the length of "[[target|" before the text of a wiki link. If the link has no text of its own, or
// does not end nearby, it returns 0. It also returns 0 for "[[ ", which begins a test in a shell program.
func wikiTarget(rest string) int {
	rest = rest[:min(len(rest), linkReach)]
	l, _, ok := wikilink.Parse(rest[len("[["):])
	if !ok || l.Alias == "" || rest[len("[[")] == ' ' {
		return 0
	}
	return strings.IndexByte(rest, '|') + 1
}

// linkTarget returns the length of "](target)" at the beginning of rest, or 0 if the target does not end nearby.
func linkTarget(rest string) int {
	rest = rest[:min(len(rest), linkReach)]
	depth := 0
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n', '\r': // only before and in a title
			title := strings.TrimLeft(rest[i:], " \t\r\n>")
			if endsParagraph(rest[:i+1]) || !strings.ContainsAny(rest[:i], `"'`) && strings.IndexAny(title, `"')`) != 0 {
				return 0
			}
		}
	}
	return 0
}

// linkLabel returns the range of "][label]" in a link [text][label] that begins at byte i. For anything else, such as
// x[a][b] and [1][2], the range is zero.
func linkLabel(text string, i int) sheaf.Span {
	rest := text[i:min(len(text), i+linkReach)]
	if i > 0 && !noWordBefore(text, i) || !strings.Contains(rest, "][") {
		return sheaf.Span{}
	}
	rest = firstLine(rest)
	depth := 0
	for j := range len(rest) {
		switch rest[j] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth > 0 {
			continue
		}
		label, ok := strings.CutPrefix(rest[j:], "][")
		end := strings.IndexByte(label, ']')
		if !ok || end < 0 || strings.IndexByte(label[:end], '[') >= 0 || !strings.ContainsFunc(rest[:j], unicode.IsLetter) {
			break
		}
		return sheaf.Span{Start: i + j, End: i + j + len("][") + end + 1}
	}
	return sheaf.Span{}
}

// isDefinition reports whether a line defines a label of links, as in [label]: https://example.org "Title".
func isDefinition(line string) bool {
	end := strings.Index(line, "]: ")
	if end < 2 || line[0] != '[' || line[1] == '^' || strings.ContainsAny(line[1:end], "[]") {
		return false
	}
	target, title, _ := strings.Cut(strings.TrimSpace(line[end+len("]: "):]), " ")
	title = strings.TrimSpace(title)
	return strings.ContainsAny(target, "/#.<") && (title == "" || strings.ContainsRune(`"'(`, rune(title[0])))
}

// markup finds the markup that hides bytes of a text from readers.
type markup struct {
	text   string
	next   [4]int // the next byte of each kind in marks
	link   int    // the last byte that may belong to a link or to a heading's attributes
	tagEnd int    // the end of the last HTML tag or comment
}

// marks are the bytes of markup that hides text.
const marks = "<[]{"

// newMarkup returns a markup for the bytes of text between two offsets.
func newMarkup(text string, from, to int) *markup {
	m := &markup{text: text[:min(len(text), to+markupReach)], link: -1}
	for kind := range m.next {
		m.find(kind, max(0, from-markupReach))
	}
	return m
}

func (m *markup) find(kind, from int) {
	m.next[kind] = len(m.text)
	if n := strings.IndexByte(m.text[from:], marks[kind]); n >= 0 {
		m.next[kind] = from + n
	}
}

// endAt returns the end of the markup that hides the byte at i, or 0 if readers see the byte. Readers do not see HTML
// tags and comments outside code spans. If tagsOnly is false, they also do not see a link's target, label or
// definition, and a heading's attributes. i must not be smaller than in the last call.
func (m *markup) endAt(i int, tagsOnly bool) int {
	for kind := range m.next {
		for m.next[kind] < i {
			at := m.next[kind]
			if kind > 0 {
				m.link = max(m.link, at)
			} else if n := markupLength(m.text[at:]); n > 0 {
				m.tagEnd = at + n
			}
			m.find(kind, at+1)
		}
	}
	if m.tagEnd > i && codeSpanEnd(m.text, i) == 0 {
		return m.tagEnd
	}
	if tagsOnly || m.link < max(0, i-linkReach) || strings.IndexByte(m.text[m.link:i], '\n') >= 0 {
		return 0
	}
	return linkEnd(m.text, i)
}

// linkEnd returns the end of the hidden part of a link or heading around byte i, or 0.
func linkEnd(text string, i int) int {
	from := lineBegin(text, i, linkReach) // links and attributes end at the latest with their line
	before := text[from:i]
	hides := func(mark string, length func(at int) int) (end int) {
		if at := from + strings.LastIndex(before, mark); at >= from && at+length(at) > i {
			end = at + length(at)
		}
		return end
	}
	if end := hides("{", func(at int) int { return headingAttributes(text, at) }); end > 0 {
		return end
	}
	if strings.IndexByte(before, '[') < 0 && strings.IndexByte(before, ']') < 0 { // true for most lines
		return 0
	}
	if line := firstLine(text[from:min(len(text), i+linkReach)]); len(before) < linkReach && isDefinition(line) {
		return from + len(line)
	}
	return cmp.Or(
		hides("][", func(at int) int { return labelLength(text[at:]) }),
		hides("[[", func(at int) int {
			if at > 0 && text[at-1] == '!' {
				return 0
			}
			return wikiTarget(text[at:])
		}),
		hides("](", func(at int) int { return linkTarget(text[at:]) }))
}

// labelLength returns the length of "][label]" at the beginning of rest. If the label does not end nearby, only "]"
// counts, and the length is 1.
func labelLength(rest string) int {
	return strings.IndexByte(rest[1:min(len(rest), linkReach)], ']') + 2
}

// markupReach is the largest number of bytes that are searched for the end of a tag or comment.
const markupReach = 1024

// markupLength returns the length of the HTML tag or comment at the beginning of text, or 0.
func markupLength(text string) int {
	text = text[:min(len(text), markupReach)]
	if strings.HasPrefix(text, "<!--") {
		if i := strings.Index(text, "-->"); i >= 0 {
			return i + 3
		}
		return 0
	}
	n, _, _ := chunk.Tag(text)
	return n
}
