package chunk

import (
	"slices"
	"strings"

	"sheaf"
)

// These are sizes by which data (such as base64) within text is recognized.
const (
	// leastPayload is the smallest number of base64 characters that count as data. Fewer characters count as text.
	leastPayload = 200
	// leastRow is the smallest length of a row of base64 with several lines. The last row may be shorter.
	leastRow = 40
)

// base64Byte has the bytes of base64 (in both alphabets) and of percent-encoding.
var base64Byte = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_%")

// payloads returns the parts of text that are data instead of words, in order. These are long runs of base64, and whole
// data addresses such as "data:image/png;base64,…". A label's definition with such an address is one part.
func payloads(text string) (parts []sheaf.Span) {
	if len(text) < len("data:a/b,") {
		return nil
	}
	from := 0
	next := dataAddress(text, 0)
	for {
		end := len(text)
		if next.End > 0 {
			end = next.Start
		}
		parts = appendRuns(parts, text, from, end)
		if next.End == 0 {
			return parts
		}
		parts = append(parts, next)
		from = next.End
		next = dataAddress(text, from)
	}
}

// appendRuns appends to parts the long runs of base64 in text[from:to]. It does not read all bytes. It reads the next
// leastRow bytes backward up to a byte that is not base64. It goes on after this byte.
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

// rowsEnd returns the end of the base64 that begins at byte start, including the rows of base64 below.
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
		for row++; row < len(text) && (text[row] == ' ' || text[row] == '\t' || text[row] == '>'); {
			row++
		}
		last := row
		for last < len(text) && base64Byte[text[last]] {
			last++
		}
		if last == row || last < len(text) && strings.IndexByte("\r\n\"')>", text[last]) < 0 {
			return end
		}
		if last-row < leastRow && !mixed(text[row:last]) && text[last-1] != '=' {
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

// closedBy returns the position of the mark that closes opening, the quotation mark or parenthesis before a data
// address. The data begins at byte i. If the line ends first, or other data begins, it returns 0.
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

// Readable returns text with "…" in place of data such as base64, for callers that pay for each word. It keeps line
// endings.
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

// withoutPayload returns the target of a link. It cuts a data address after the comma, where the data begins.
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

// payloadsOf returns the ranges of data in the part of content that of covers, relative to this part. The part may
// begin or end within data.
func payloadsOf(content string, of sheaf.Span) []sheaf.Span {
	const around = 2 * leastPayload
	from := max(0, of.Start-around)
	parts := payloads(content[from:min(len(content), of.End+around)])
	inside := parts[:0]
	for _, p := range parts {
		p = sheaf.Span{Start: max(p.Start+from-of.Start, 0), End: min(p.End+from, of.End) - of.Start}
		if p.Start < p.End {
			inside = append(inside, p)
		}
	}
	return inside
}

// Left is what is left of a text after some parts were removed.
type Left struct {
	Text string
	// cut lists the removed parts in order, with their positions in the whole text.
	cut []sheaf.Span
}

// WithoutPayloads returns text without the data in it, such as base64.
func WithoutPayloads(text string) Left { return withoutParts(text, payloads(text)) }

// withoutParts returns text without parts. The parts must be in order and must not overlap.
func withoutParts(text string, parts []sheaf.Span) Left {
	if len(parts) == 0 {
		return Left{Text: text}
	}
	size := len(text)
	for _, p := range parts {
		size -= p.Len()
	}
	left := make([]byte, 0, size)
	from := 0
	for _, p := range parts {
		left = append(left, text[from:p.Start]...)
		from = p.End
	}
	left = append(left, text[from:]...)
	return Left{string(left), parts}
}

// At converts a position in the shorter text to the position of the same byte in the whole text.
func (l Left) At(i int) int {
	for _, p := range l.cut {
		if i < p.Start || i == p.Start && i == len(l.Text) {
			break
		}
		i += p.Len()
	}
	return i
}

// IndexedText returns the indexed text of a chunk. This is the chunk's body without
//   - frontmatter that has entries, because their values become fields;
//   - data, such as a picture in base64;
//   - hyphens at the ends of code lines, because these would join words.
func IndexedText(doc *sheaf.Document, c *sheaf.Chunk, content string) Left {
	body, front := c.Body, doc.Frontmatter
	text := content[body.Start:body.End]
	parts := payloadsOf(content, body)
	from := 0
	if front.Len() > 0 && !doc.FrontmatterText && front.End > body.Start && front.Start < body.End {
		at := sheaf.Span{Start: max(front.Start-body.Start, 0), End: min(front.End, body.End) - body.Start}
		parts = slices.DeleteFunc(parts, func(p sheaf.Span) bool { return p.Start < at.End && at.Start < p.End })
		i := 0
		for i < len(parts) && parts[i].Start < at.Start {
			i++
		}
		parts = slices.Insert(parts, i, at)
		from = at.End
	}
	hyphens := slices.DeleteFunc(codeHyphens(text, from, KindOf(doc.Path) == KindCode), func(h sheaf.Span) bool {
		return slices.ContainsFunc(parts, func(p sheaf.Span) bool { return p.Start < h.End && h.Start < p.End })
	})
	if len(hyphens) > 0 {
		parts = append(parts, hyphens...)
		slices.SortFunc(parts, func(a, b sheaf.Span) int { return a.Start - b.Start })
	}
	return withoutParts(text, parts)
}

// codeHyphens returns the hyphens at the ends of code lines in text[from:]. Unlike hyphens in prose, they split no
// word. If code is true, all of text is code; otherwise only its fences are.
func codeHyphens(text string, from int, code bool) (hyphens []sheaf.Span) {
	fenced := strings.Contains(text, "```") || strings.Contains(text, "~~~")
	if !code && !fenced || !strings.Contains(text, "-") {
		return nil
	}
	var open fence
	all := linesFrom(text, from)
	for l, more := all.next(); more; l, more = all.next() {
		line := strings.TrimSpace(text[l.start:l.end])
		inFence := open.next(line)
		if !code && !inFence || !strings.HasSuffix(line, "-") {
			continue
		}
		end := l.start + len(strings.TrimRight(text[l.start:l.end], " \t"))
		start := l.start + len(strings.TrimRight(text[l.start:end], "-"))
		hyphens = append(hyphens, sheaf.Span{Start: start, End: end})
	}
	return hyphens
}
