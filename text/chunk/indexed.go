package chunk

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// These are sizes by which data (such as base64) within text is recognized.
const (
	// leastPayload is the smallest number of base64 characters that count as data. Fewer characters count as text.
	leastPayload = 200
	// leastRow is the smallest length of a row if the base64 has several rows. Only the last row may be shorter.
	leastRow = 40
)

// base64Byte has the bytes of base64 (in both alphabets) and of percent-encoding.
var base64Byte = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_%")

// payloads returns the parts of text that are data instead of words, in order. These are long runs of base64, and whole
// data addresses such as "data:image/png;base64,…". If a line defines a label of links with such an address, the part
// is the whole definition.
func payloads(text string) (parts []sheaf.Span) {
	for from := 0; ; {
		next := dataAddress(text, from)
		if next.End == 0 {
			return appendRuns(parts, text, from, len(text))
		}
		parts = append(appendRuns(parts, text, from, next.Start), next)
		from = next.End
	}
}

// appendRuns appends to parts the long runs of base64 in text[from:to]. It checks the next leastRow bytes from the last
// to the first. If it finds a byte that is not base64, it goes on after this byte. So it does not read most bytes.
func appendRuns(parts []sheaf.Span, text string, from, to int) []sheaf.Span {
	for from+leastRow <= to {
		i := from + leastRow - 1
		for i >= from && base64Byte[text[i]] {
			i--
		}
		if i >= from {
			from = i + 1
			continue
		}
		end := rowsEnd(text[:to], from)
		if end-from >= leastPayload && mixed(text[from:end]) {
			parts = append(parts, sheaf.Span{Start: from, End: end})
		}
		from = end
	}
	return parts
}

// rowsEnd returns the end of the base64 that begins at byte start, including the rows of base64 below. Empty lines may
// follow a row of at least leastPayload bytes, as in drawings of Excalidraw.
func rowsEnd(text string, start int) int {
	for {
		end := start
		for end < len(text) && base64Byte[text[end]] {
			end++
		}
		if end-start < leastRow {
			return end
		}
		row := end
		for row < len(text) && (text[row] == '\r' || text[row] == ' ') {
			row++
		}
		if row == len(text) || text[row] != '\n' {
			return end
		}
		margin := " \t>"
		if end-start >= leastPayload {
			margin = " \t>\r\n"
		}
		for row++; row < len(text) && strings.IndexByte(margin, text[row]) >= 0; {
			row++
		}
		gap := strings.Count(text[end:row], "\n") > 1
		last := row
		for last < len(text) && base64Byte[text[last]] {
			last++
		}
		if last == row || last < len(text) && strings.IndexByte("\r\n\"')>", text[last]) < 0 {
			return end
		}
		if last-row < leastRow && (gap || !mixed(text[row:last])) && text[last-1] != '=' {
			return end // a word, for example of a heading
		}
		start = row
	}
}

// mixed reports whether text looks like base64, base32 or hexadecimal data: it has letters, many digits and few marks.
func mixed(text string) bool {
	const enough = 4096
	var letters, digit, marks int
	text = text[:min(len(text), enough)]
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			letters++
		case isDigit(c):
			digit++
		case c == '/' || c == '-' || c == '_' || c == '%':
			marks++
		}
	}
	path := marks*12 >= len(text) || digit*20 <= len(text) // base64 has one mark in 32, three digits in 20
	return letters > 0 && !path
}

// dataAddress returns the range of the first data address ("data:…") in text[from:], or the zero span. The range counts
// from the start of text.
func dataAddress(text string, from int) sheaf.Span {
	const scheme = "data:"
	const longestLabel = 1000
	for least := from; ; {
		colon := strings.IndexByte(text[from:], ':')
		if colon < 0 {
			return sheaf.Span{}
		}
		from += colon + 1
		start := from - len(scheme)
		if start < least || !strings.EqualFold(text[start:from], scheme) || start > 0 && isWordByte(text[start-1]) {
			continue
		}
		opening := byte(' ')
		if start > 0 {
			opening = text[start-1]
		}
		end := dataEnd(text, from, opening)
		if end == 0 {
			continue
		}
		at := sheaf.Span{Start: start, End: end}
		line := max(least, start-longestLabel)
		line += strings.LastIndexAny(text[line:start], "\r\n") + 1
		before := strings.TrimRight(strings.TrimRight(text[line:start], "<"), " \t")
		if strings.HasPrefix(before, "[") && strings.HasSuffix(before, "]:") {
			at.Start = line
			if at.End < len(text) && text[at.End] == '>' {
				at.End++
			}
		}
		return at
	}
}

// dataEnd returns the end of the data address whose media type begins at byte i, or 0. opening is the character before
// the address, for example a quotation mark or parenthesis.
func dataEnd(text string, i int, opening byte) int {
	const longest = 200 // of media type and parameters
	head := text[i:min(len(text), i+longest)]
	comma := strings.IndexByte(head, ',')
	if comma < 0 || strings.ContainsAny(head[:comma], " \t\r\n()<>`") {
		return 0
	}
	kind, parameters, _ := strings.Cut(head[:comma], ";")
	based := strings.HasSuffix(strings.ToLower(parameters), "base64")
	if !based && !strings.Contains(kind, "/") {
		return 0
	}
	i += comma + 1
	if based {
		return rowsEnd(text, i)
	}
	if end := closedBy(text, i, opening); end > 0 {
		return end
	}
	for i < len(text) && text[i] > ' ' && strings.IndexByte("\"')>`", text[i]) < 0 {
		i++
	}
	return i
}

// closedBy returns the position of the mark that closes a "data:" address. The parameter opening is the quotation mark
// or parenthesis before the address. i is the first byte of its data. If the line ends or another "data:" address
// begins before the closing mark, closedBy returns 0.
func closedBy(text string, i int, opening byte) int {
	depth := 0
	for ; i < len(text) && text[i] != '\n'; i++ {
		switch c := text[i]; {
		case c == ':' && strings.EqualFold(text[i-len("data"):i], "data"):
			return 0
		case opening == '(' && c == '(':
			depth++
		case opening == '(' && c == ')' && depth > 0:
			depth--
		case opening == '(' && c == ')', (opening == '"' || opening == '\'') && c == opening:
			return i
		}
	}
	return 0
}

// Readable returns text with "…" in place of data such as base64, for models and people. It keeps line endings.
func Readable(text string) string {
	parts := payloads(text)
	if len(parts) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, p := range parts {
		b.WriteString(text[from:p.Start])
		b.WriteString("…")
		for range strings.Count(text[p.Start:p.End], "\n") {
			b.WriteByte('\n')
		}
		from = p.End
	}
	b.WriteString(text[from:])
	return b.String()
}

// withoutPayload returns the target of a link. Of a data address, it keeps only the part up to the comma.
func withoutPayload(target string) string {
	if len(target) < len("data:") || !strings.EqualFold(target[:len("data:")], "data:") {
		return target
	}
	if at := dataAddress(target, 0); at.Start == 0 && at.End > 0 {
		kind, _, _ := strings.Cut(target, ",")
		return kind + ","
	}
	return target
}

// payloadsOf returns the ranges of data in content[body.Start:body.End], relative to body.Start. If data begins before
// body or ends after it, the range has only the bytes in body.
func payloadsOf(content string, body sheaf.Span) []sheaf.Span {
	const around = 2 * leastPayload
	from, to := body.Start, body.End
	if mayCross(content, from) {
		from = max(0, from-around)
	}
	if mayCross(content, to) {
		to = min(len(content), to+around)
	}
	parts := payloads(content[from:to])
	inside := parts[:0]
	for _, p := range parts {
		p = sheaf.Span{Start: max(p.Start+from-body.Start, 0), End: min(p.End+from, body.End) - body.Start}
		if p.Start < p.End {
			inside = append(inside, p)
		}
	}
	return inside
}

// mayCross reports whether data may begin before byte at and end after it. It returns false if byte at begins a line
// and the line before is no row of base64.
func mayCross(content string, at int) bool {
	if at == 0 || content[at-1] != '\n' {
		return at > 0
	}
	before := strings.TrimRight(content[:at], " \t>\r\n")
	for n := range leastRow {
		if i := len(before) - 1 - n; i < 0 || !base64Byte[before[i]] {
			return false
		}
	}
	return true
}

// Left is what is left of a text after some parts were removed.
type Left struct {
	Text string
	cuts []cut
}

// cut is a place in a Left where bytes of the whole text are missing. bytes counts the bytes missing here and before.
type cut struct{ at, bytes int }

// WithoutPayloads returns text without the data in it, such as base64.
func WithoutPayloads(text string) Left { return withoutParts(text, payloads(text)) }

// AsRead returns Markdown text with its inline marks as readers see them: see [IndexedText].
func AsRead(text string) Left { return withoutParts(text, lineParts(text, 0, KindMarkdown)) }

// withoutParts returns text without parts, or with what readers see in their place. The parts must be in order and must
// not overlap.
func withoutParts(text string, parts []sheaf.Span) Left {
	if len(parts) == 0 {
		return Left{Text: text}
	}
	size := len(text)
	for _, p := range parts {
		size -= p.Len() - 1
	}
	var left strings.Builder
	left.Grow(size)
	cuts := make([]cut, len(parts))
	from := 0
	for i, p := range parts {
		left.WriteString(text[from:p.Start])
		_, stands := inlineMark(text, p.Start)
		left.WriteString(stands)
		from = p.End
		cuts[i] = cut{left.Len() - max(len(stands)-1, 0), from - left.Len()}
	}
	left.WriteString(text[from:])
	return Left{left.String(), cuts}
}

// At converts a position in the shorter text to the position of the same byte in the whole text. An entity may have
// become one character of several bytes. The first of these bytes maps to the first byte of the entity. The last byte
// maps to its last byte.
func (l Left) At(i int) int {
	n := sort.Search(len(l.cuts), func(k int) bool { return l.cuts[k].at > min(i, len(l.Text)-1) })
	if n == 0 {
		return i
	}
	return i + l.cuts[n-1].bytes
}

// IndexedText returns the indexed text of a chunk. This is the chunk's body without
//   - frontmatter that has entries, because their values become fields;
//   - data, such as a picture in base64;
//   - hyphens at the ends of code lines, because these would join words;
//   - HTML tags without attributes, and "**" within words, in Markdown outside code. A tag such as <br> leaves a space;
//   - the backslash of an escaped sign that words may have, as in my\_name and C\#.
//
// Entities of Markdown, such as &nbsp;, become their characters.
func IndexedText(doc *sheaf.Document, c *sheaf.Chunk, content string) Left {
	body, front := c.Body, doc.Frontmatter
	text := content[body.Start:body.End]
	parts := payloadsOf(content, body)
	from := 0
	if front.Len() > 0 && !doc.FrontmatterText && front.End > body.Start && front.Start < body.End {
		from = min(front.End, body.End) - body.Start
		parts = slices.Insert(parts, 0, sheaf.Span{Start: max(front.Start-body.Start, 0), End: from})
	}
	parts = append(parts, lineParts(text, from, KindOf(doc.Path))...)
	slices.SortStableFunc(parts, func(a, b sheaf.Span) int { return a.Start - b.Start })
	end := 0
	return withoutParts(text, slices.DeleteFunc(parts, func(p sheaf.Span) bool {
		inside := p.Start < end
		end = max(end, p.End)
		return inside
	}))
}

// lineParts returns the ranges of inline marks in text[from:], and of hyphens at the ends of code lines, in order.
// Unlike hyphens in prose, hyphens in code split no word.
func lineParts(text string, from int, kind Kind) (parts []sheaf.Span) {
	var marks []sheaf.Span
	if kind == KindMarkdown {
		marks = inlineMarks(text, from)
	}
	hyphens := (kind == KindCode || strings.Contains(text, "```") || strings.Contains(text, "~~~")) &&
		strings.Contains(text, "-")
	if !hyphens && len(marks) == 0 {
		return nil
	}
	var open fence
	for l := range linesFrom(text, from) {
		line := strings.TrimSpace(text[l.start:l.end])
		inCode := open.next(line) || kind == KindCode
		row, code := inline{text: text[:l.end]}, l.start
		for ; len(marks) > 0 && marks[0].Start < l.end; marks = marks[1:] {
			at := marks[0].Start
			for code < at && !inCode {
				if code = indexByteFrom(text[:at], '`', code); code < at {
					_, code, _ = row.codeSpan(code)
				}
			}
			if !inCode && code <= at {
				parts = append(parts, marks[0])
			}
		}
		if inCode && strings.HasSuffix(line, "-") {
			end := l.start + len(strings.TrimRightFunc(text[l.start:l.end], unicode.IsSpace))
			start := l.start + len(strings.TrimRight(text[l.start:end], "-"))
			parts = append(parts, sheaf.Span{Start: start, End: end})
		}
	}
	return parts
}

// inlineMarks returns the inline marks in text[from:], in order. Some of these may be in code.
func inlineMarks(text string, from int) (marks []sheaf.Span) {
	for _, sign := range []byte("&<*\\") {
		for i := indexByteFrom(text, sign, from); i < len(text); i = indexByteFrom(text, sign, i) {
			n, _ := inlineMark(text, i)
			if n > 0 {
				marks = append(marks, sheaf.Span{Start: i, End: i + n})
			}
			i += max(n, 1)
		}
	}
	slices.SortFunc(marks, func(a, b sheaf.Span) int { return a.Start - b.Start })
	return marks
}

// inlineMark returns the length of the inline mark at byte i, or 0. stands is what readers see in place of the mark. An
// inline mark is an entity, an HTML tag without attributes, "**" between letters, or the backslash before a sign.
func inlineMark(text string, i int) (n int, stands string) {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	switch {
	case before == '\\':
	case text[i] == '\\':
		if i+1 < len(text) && strings.IndexByte("_#+.@-&", text[i+1]) >= 0 {
			return 1, ""
		}
	case text[i] == '&':
		if stands, n = Entity(text[i:]); n > 1 {
			return n, stands
		}
	case text[i] == '<':
		n, bare, within := Tag(text[i:])
		if bare && !within {
			stands = " "
		}
		if bare {
			return n, stands
		}
	case strings.HasPrefix(text[i:], "**") && unicode.IsLetter(before):
		if after, _ := utf8.DecodeRuneInString(text[i+2:]); unicode.IsLetter(after) {
			return 2, ""
		}
	}
	return 0, ""
}

// longestTag is the largest number of bytes in a tag with its attributes.
const longestTag = 1024

// lineTags and wordTags are the HTML tags that readers do not see. Tags in wordTags may be inside a word; tags in
// lineTags end a line. Other tags count as text, because they may be type parameters or placeholders, such as <T> and
// <file>.
var (
	lineTags = wordsOf("blockquote br center dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr iframe img " +
		"li ol p picture pre section source summary table tbody td th thead tr ul video")
	wordTags = wordsOf("a b code del em font i ins kbd mark s small span strong sub sup u wbr")
)

// Tag returns the length of the HTML tag at the beginning of text, or 0 if readers see the tag. bare says that the tag
// has no attributes. within says that the tag may be inside a word.
func Tag(text string) (size int, bare, within bool) {
	name := strings.TrimPrefix(text[1:min(len(text), 16)], "/")
	rest := ""
	if i := strings.IndexAny(name, " />\t\r\n"); i > 0 {
		name, rest = name[:i], strings.TrimLeft(name[i:], " \t\r\n")
	}
	if len(name) > 1 { // one capital letter may be a type parameter
		name = strings.ToLower(name)
	}
	first, _ := utf8.DecodeRuneInString(rest)
	attribute := rest == "" || unicode.IsLetter(first) || strings.ContainsRune("_:/>{", first)
	if within = wordTags[name]; attribute && (within || lineTags[name]) {
		size = strings.IndexByte(text[:min(len(text), longestTag)], '>') + 1
	}
	return size, size > 0 && len(strings.Trim(text[:size-1], "</ ")) == len(name), within
}
