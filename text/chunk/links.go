package chunk

import (
	"bytes"
	"iter"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/attributes"
	"sheaf/internal/pattern"
	"sheaf/internal/wikilink"
)

// foundMarks are the links, tags and block ids of a text, each sorted by start. HTML anchors count as block ids.
type foundMarks struct {
	links  []sheaf.Link
	tags   []found
	blocks []found
}

type found struct {
	span
	text string
}

// wikiLink converts a parsed wiki link to a link. at is its range in the file.
func wikiLink(kind sheaf.LinkKind, l wikilink.Link, at sheaf.Span) sheaf.Link {
	return sheaf.Link{
		Kind: kind, Target: showable(l.Target), Fragment: showable(l.Fragment), Text: showable(l.Text()), Span: at,
	}
}

// finder finds links, tags and block ids in linear time. Each call of find reads one paragraph, table row or heading.
type finder struct {
	inline
	base int // start of the text in the file
	out  *foundMarks
}

// finding lists the bytes at which the finder stops.
var finding = bytesOf("\\`<![]#^{")

func (f *finder) find(text string, base int) {
	f.reset(text)
	f.base = base
	first := len(f.out.links)
	for i := 0; i < len(text); {
		c := text[i]
		if !finding[c] {
			i++
			continue
		}
		switch c {
		case '{':
			i += max(1, attributes.Inside(text, i)) // a "#id" or a color in an attribute is not a tag
		case '#':
			i = f.tagAt(i)
		case '^':
			i = f.block(i)
		default:
			c := f.construct(i)
			f.take(&c, i)
			i = c.end
		}
	}
	// A link ends after the links inside it.
	slices.SortStableFunc(f.out.links[first:], func(a, b sheaf.Link) int { return a.Span.Start - b.Span.Start })
}

// take adds the link or the HTML anchor in the construct c, which begins at byte i.
func (f *finder) take(c *construct, i int) {
	at := sheaf.Span{Start: f.base + i, End: f.base + c.end}
	kind := sheaf.LinkMarkdown
	switch c.kind {
	case angleConstruct:
		if name := anchorName(f.text[i:c.end]); name != "" {
			f.out.blocks = append(f.out.blocks, found{span{at.Start, at.End}, name})
		}
	case wikiConstruct:
		if kind = sheaf.LinkWiki; f.text[i] == '!' {
			kind = sheaf.LinkEmbed
		}
		f.out.links = append(f.out.links, wikiLink(kind, c.wiki, at))
	case linkConstruct:
		if at.Start = f.base + c.opening.at; c.opening.image {
			kind = sheaf.LinkEmbed
		}
		address, fragment, _ := strings.Cut(withoutPayload(c.target), "#")
		f.out.links = append(f.out.links, sheaf.Link{
			Kind: kind, Target: percentDecode(address), Fragment: percentDecode(fragment),
			Text: plainLinkText(f.text[c.opening.from:i]), Span: at,
		})
	}
}

// percentDecode decodes escapes such as %20. If the result would be invalid text, it returns s.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return showable(s)
	}
	if decoded, err := url.PathUnescape(s); err == nil && utf8.ValidString(decoded) && strings.IndexByte(decoded, 0) < 0 {
		return decoded
	}
	return showable(s)
}

// maxLinkText limits the stored text of a link in bytes. Images can be nested, and the text of each contains all inner
// texts.
const maxLinkText = 2000

// plainLinkText returns the text of a link as plain text on one line.
func plainLinkText(s string) string {
	return plainText(joinLines(firstBytes(s, maxLinkText), "\n"), nil)
}

// tagAt adds the tag at byte i, if there is one by Obsidian's rule. It returns the byte from which the finder goes on.
// White space or nothing comes before the tag. A tag has letters, digits, _ - and /, and not only digits and slashes.
func (f *finder) tagAt(i int) int {
	t := f.text
	if i > 0 {
		if before, _ := utf8.DecodeLastRuneInString(t[:i]); !unicode.IsSpace(before) {
			return i + 1
		}
	}
	if inner, ok := strings.CutPrefix(t[i+1:], "[["); ok { // as Logseq writes tags of several words
		if l, size, ok := wikilink.Parse(inner); ok && l.Target != "" {
			at := span{f.base + i, f.base + i + len("#[[") + size}
			f.out.tags = append(f.out.tags, found{at, showable(l.Target)})
		}
		return i + 1
	}
	end, digitsOnly := i+1, true
	for end < len(t) {
		r, size := rune(t[end]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(t[end:])
		}
		if !isTagRune(r) || end == i+1 && unicode.IsMark(r) { // #️⃣ is no tag
			break
		}
		if r != '/' && !unicode.IsDigit(r) {
			digitsOnly = false
		}
		end += size
	}
	if !digitsOnly {
		f.out.tags = append(f.out.tags, found{span{f.base + i, f.base + end}, strings.TrimRight(t[i+1:end], "/")})
	}
	return end
}

func isTagRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r)) || r == '_' || r == '-' || r == '/'
	}
	return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsPunct(r)
}

// block adds the block id at byte i, if there is one. It returns the byte from which the finder goes on. A block id is
// "^id" at the end of a line, after white space.
func (f *finder) block(i int) int {
	t := f.text
	if i > 0 && !unicode.IsSpace(rune(t[i-1])) {
		return i + 1
	}
	end := i + 1
	for end < len(t) && (isWordByte(t[end]) || t[end] == '-') {
		end++
	}
	after := end
	for after < len(t) && (t[after] == ' ' || t[after] == '\t') {
		after++
	}
	if end > i+1 && (after == len(t) || t[after] == '\n' || t[after] == '\r') {
		f.out.blocks = append(f.out.blocks, found{span{f.base + i, f.base + end}, t[i+1 : end]})
	}
	return end
}

// inline finds the links, tags and block ids in all text runs of the scanner.
func (s *scanner) inline() foundMarks {
	var out foundMarks
	f := finder{inline: inline{definitions: s.definitions, footnotes: true}, out: &out}
	attributes := s.attributes
	for i := 0; i < len(s.text); {
		j := i + 1
		for j < len(s.text) && s.text[j].more {
			j++
		}
		end := s.text[j-1].end
		if len(attributes) > 0 && attributes[0].end == end { // the "#id" of a heading is not a tag
			end, attributes = attributes[0].start, attributes[1:]
		}
		if start := s.text[i].start; hasMark(s.src[start:end]) {
			f.find(s.src[start:end], start)
		}
		i = j
	}
	out.blocks = append(out.blocks, s.anchors...)
	slices.SortFunc(out.blocks, func(a, b found) int { return a.start - b.start })
	return out
}

// hasMark reports whether a text may have a link, a tag, a block name or an anchor.
func hasMark(text string) bool {
	return strings.IndexByte(text, '[') >= 0 || strings.IndexByte(text, '#') >= 0 ||
		strings.IndexByte(text, '^') >= 0 || strings.IndexByte(text, '<') >= 0
}

// attribute matches the next attribute of a tag. Some programs write an attribute's value in braces.
var attribute = pattern.Lazy("^[ \t\r\n\f]+([^ \t\r\n\f\"'<>/=]+)(?:[ \t\r\n\f]*=[ \t\r\n\f]*" +
	"(\"[^\"]*\"|'[^']*'|\\{[^}]*\\}|[^ \t\r\n\f\"'=<>`]+))?")

// anchorName returns the anchor that an HTML tag defines, or "". The anchor is the id of the tag, or the name of an
// <a>.
func anchorName(tag string) string {
	end := strings.IndexAny(tag, " \t\r\n\f")
	if end < 2 || !isLetter(tag[1]) || !mayName(tag[end:]) {
		return ""
	}
	anchor := strings.EqualFold(tag[1:end], "a")
	for rest := tag[end:]; ; {
		m := attribute().FindStringSubmatch(rest)
		if m == nil {
			return ""
		}
		rest = rest[len(m[0]):]
		value, quoted := unquoted(m[2])
		if !quoted {
			value = strings.TrimSuffix(m[2], "/")
		}
		if m[2] != "" && (strings.EqualFold(m[1], "id") || anchor && strings.EqualFold(m[1], "name")) &&
			!strings.ContainsAny(value, "<>{}") {
			return showable(value)
		}
	}
}

// mayName reports whether one of the attributes may be id or name. This test saves time: few tags have these
// attributes, and reading all attributes is slow.
func mayName(attributes string) bool {
	for {
		name, rest, found := strings.Cut(attributes, "=")
		if !found {
			return false
		}
		if name = strings.TrimRight(name, " \t\r\n\f"); name != "" && strings.IndexByte("dDeE", name[len(name)-1]) >= 0 {
			return true
		}
		attributes = rest
	}
}

// anchorsIn adds the anchors in text, a part of an HTML block. The part begins at byte base of the file.
func (s *scanner) anchorsIn(text string, base int) {
	for at := 0; ; {
		from := strings.IndexByte(text[at:], '<')
		if from < 0 {
			return
		}
		from += at
		at = from + strings.IndexByte(text[from:], '>') + 1
		if at == from {
			return
		}
		if name := anchorName(text[from:at]); name != "" {
			s.anchors = append(s.anchors, found{span{base + from, base + at}, name})
		}
	}
}

// anchorsOnly matches HTML that has only tags that may be anchors, and no text.
var anchorsOnly = pattern.Lazy(`(?i)^(?:\s|</?(?:a|span|div|p)(?:\s[^<>]*)?>)*$`)

// maxAbove is the largest distance in bytes between a heading and an anchor above it that names the heading.
const maxAbove = 500

// namesHeading reports whether an anchor names the heading below it. The anchor ends at byte end, and the heading
// begins at byte start.
func (s *source) namesHeading(end, start int) bool {
	return end <= start && start-end <= maxAbove && anchorsOnly().MatchString(s.src[end:start])
}

// leastLinks is the smallest number of links in a bare list of links.
const leastLinks = 3

// LinkList is a bare list of links and addresses: only list marks, table borders or commas separate the links. As an
// exception, up to three words may follow a link in a list item or before a line end.
type LinkList struct {
	sheaf.Span
	Links []string
}

// LinkLists returns the bare lists of links in a text of Markdown, in order.
func LinkLists(text string) (lists []LinkList) {
	if strings.Count(text, "[")+strings.Count(text, "://") < leastLinks {
		return nil
	}
	var list LinkList
	end := func() {
		if len(list.Links) >= leastLinks {
			lists = append(lists, list)
		}
		list = LinkList{}
	}
	behind, i := 0, 0 // end of the last link, and where to look for the next
	item := false     // the last link is in an item of a list
	next := func(at int, sign string) int {
		if at >= i {
			return at
		}
		if n := strings.Index(text[i:], sign); n >= 0 {
			return i + n
		}
		return len(text)
	}
	for bracket, address := -1, -1; ; {
		bracket, address = next(bracket, "["), next(address, "http")
		start := min(bracket, address)
		if start == len(text) {
			end()
			return lists
		}
		size := linkSize(text[start:])
		if size == 0 {
			i = start + 1
			continue
		}
		if !continues(text[behind:start], item) {
			end()
		}
		line := behind + strings.LastIndexByte(text[behind:start], '\n') + 1
		if len(list.Links) == 0 {
			list.Start = start
			if onlyMarks(text[line:start]) {
				list.Start = line
			}
		}
		if line > behind || behind == 0 {
			item = itemBegin(text[line:start]) >= 0 && onlyMarks(text[line:start])
		}
		i = start + size
		behind, list.End, list.Links = i, i, append(list.Links, text[start:i])
	}
}

// linkSize returns the length of the link at the start of text, or 0 when text begins no link.
func linkSize(text string) int {
	if rest, wiki := strings.CutPrefix(text, "[["); wiki {
		if _, size, ok := wikilink.Parse(rest); ok {
			return len("[[") + size
		}
	}
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return len(text) - len(strings.TrimLeftFunc(text, isAddress))
	}
	label := closingBracket(text)
	if label <= 0 || label+1 == len(text) {
		return 0
	}
	switch text[label+1] {
	case '(':
		if _, end, ok := inlineTarget(text, label+2); ok {
			return end
		}
	case '[':
		if name := closingBracket(text[label+1:]); name > 0 {
			return label + 1 + name + 1
		}
	}
	return 0
}

func isAddress(r rune) bool { return r > ' ' && !strings.ContainsRune("<>|()\"`,", r) }

// continues reports whether two links belong to one list of links. The parameter between is the text between the links.
// item says that the first link is in a list item.
func continues(between string, item bool) bool {
	const mostBytes, mostWords = 40, 3
	tail, next, lines := strings.Cut(between, "\n")
	if !lines && !item || len(tail) > mostBytes || strings.Contains(tail, "|") {
		return onlyMarks(between)
	}
	words := strings.FieldsFunc(tail, func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) <= mostWords && onlyMarks(next)
}

// onlyMarks reports whether text has no letters, except marks of finished tasks: [x] and [X].
func onlyMarks(text string) bool {
	for {
		i := strings.IndexFunc(text, unicode.IsLetter)
		if i < 0 {
			return true
		}
		if i == 0 || i+1 == len(text) || text[i-1] != '[' || text[i]|0x20 != 'x' || text[i+1] != ']' {
			return false
		}
		text = text[i+1:]
	}
}

// fence is the mark of the open code fence ("```" or "~~~"), or "" outside fences. The method next updates it.
type fence string

// next reads a line, and reports whether the line belongs to fenced code. line has no white space at its ends.
func (f *fence) next(line string) bool {
	switch mark := fence(line[:min(3, len(line))]); {
	case *f == "" && (mark == "```" || mark == "~~~"):
		*f = mark
		return true
	case *f != "" && mark == *f:
		*f = ""
	}
	return *f != ""
}

// names yields each row that ends with the name of a block (^name): its number and the name. It skips fenced code.
func names(rows []string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var open fence
		for i, row := range rows {
			inCode := open.next(strings.TrimSpace(row))
			if name := blockID(row); name != "" && !inCode && !yield(i, name) {
				return
			}
		}
	}
}

// BlockLines returns the first and last line, from 1, of the block in content with this name (without "^"). The name
// is at the end of a paragraph or list item, or alone on the line after the block. A list item includes the indented
// lines below it. An exact name wins over a name in another case. ok is false when there is no such block.
func BlockLines(content, name string) (first, last int, ok bool) {
	var rows []string
	for l := range linesFrom(content, 0) {
		rows = append(rows, content[l.start:l.end])
	}
	at := -1
	for i, other := range names(rows) {
		if other == name {
			at = i
			break
		}
		if at < 0 && strings.EqualFold(other, name) {
			at = i
		}
	}
	if at < 0 {
		return 0, 0, false
	}
	first, last = blockAround(rows, at)
	return first + 1, last + 1, true
}

// blockAround returns the first and the last row of the block whose name is at the end of rows[row].
func blockAround(rows []string, row int) (from, to int) {
	from, to = row, row
	if strings.LastIndexByte(strings.TrimLeft(rows[row], " \t>"), '^') == 0 { // a name alone means the block above
		for from > 0 && blank(strings.Trim(rows[from-1], ">")) {
			from--
		}
		if from == 0 {
			return row, row
		}
		for from > 0 && !blank(strings.Trim(rows[from-1], ">")) {
			from--
		}
		return from, row
	}
	for from > 0 && itemBegin(rows[from]) < 0 {
		if above := rows[from-1]; blank(strings.Trim(above, " >")) || strings.HasPrefix(above, "#") {
			break
		}
		from--
	}
	if itemBegin(rows[from]) >= 0 {
		for depth := indentOf(rows[from]); to+1 < len(rows) && !blank(rows[to+1]) && indentOf(rows[to+1]) > depth; {
			to++
		}
	}
	return from, to
}

// blockReach is the largest number of lines that BlockAt searches before a position, and after it.
const blockReach = 100

// BlockAt returns the name, without "^", of the smallest named block of content that contains the byte at offset. It
// returns "" when there is no such block. If blocks have the same name, only the first counts.
func BlockAt(content []byte, offset int) string {
	if bytes.IndexByte(content, '^') < 0 { // true for most documents
		return ""
	}
	offset = min(offset, len(content))
	begin, end := offset, offset
	for n := 0; begin > 0 && n <= blockReach; begin-- {
		if content[begin-1] == '\n' || content[begin-1] == '\r' {
			if n++; n > blockReach {
				break
			}
		}
	}
	for n := 0; end < len(content) && n < blockReach; end++ {
		if content[end] == '\n' {
			n++
		}
	}
	if bytes.IndexByte(content[begin:end], '^') < 0 {
		return ""
	}
	text := string(content[begin:end])
	var rows []string
	here := -1
	for l := range linesFrom(text, 0) {
		if here < 0 && offset-begin < l.next {
			here = len(rows)
		}
		rows = append(rows, text[l.start:l.end])
	}
	smallest, least := "", len(rows)
	seen := map[string]bool{}
	for i, name := range names(rows) {
		first, last := blockAround(rows, i)
		if key := strings.ToLower(name); !seen[key] {
			seen[key] = true
			if first <= here && here <= last && last-first < least {
				smallest, least = name, last-first
			}
		}
	}
	return smallest
}

// blockID returns the block name at the end of a line, or "".
func blockID(row string) string {
	row = strings.TrimRight(row, " \t")
	at := strings.LastIndexByte(row, '^')
	if at < 0 || at > 0 && strings.IndexByte(" \t>", row[at-1]) < 0 {
		return ""
	}
	for i := at + 1; i < len(row); i++ {
		if !isWordByte(row[i]) && row[i] != '-' {
			return ""
		}
	}
	return row[at+1:]
}

// itemBegin returns the byte after the list mark that begins the row, or -1 without a list mark.
func itemBegin(row string) int {
	c := cursor{s: row}
	indent, next := c.indent()
	if next < len(row) {
		if marker, _, ok := listItem(&c, indent, next, false); ok {
			return next + marker
		}
	}
	return -1
}

func indentOf(row string) int {
	c := cursor{s: row}
	n, _ := c.indent()
	return n
}
