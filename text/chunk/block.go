package chunk

import (
	"strings"

	"sheaf"
)

// fence follows the fences of code, "```" or "~~~", from line to line: it is the fence that is
// open, "" between fences.
type fence string

// next reports whether a line, without white space at its ends, stands in a fence.
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

// codeHyphens returns the hyphens that end lines of code in text, from byte from on: they do not
// cut a word. All of text is code, or its fences are.
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

// BlockLines are the lines, from 1, of the block called name, without "^", in content: the
// paragraph or the item of a list that ends with the name, with what is indented below the
// item; or the block above a line that holds the name alone. Capitals and small letters are the
// same, but a block that is called exactly so comes first. ok is false without such a block.
func BlockLines(content, name string) (first, last int, ok bool) {
	var rows []string
	mark := "^" + name
	at, exact := -1, false
	var open fence
	all := linesFrom(content, 0)
	for l, more := all.next(); more; l, more = all.next() {
		text := content[l.start:l.end]
		rows = append(rows, text)
		trimmed := strings.TrimSpace(text)
		start := len(trimmed) - len(mark)
		if open.next(trimmed) || exact || start < 0 || !strings.EqualFold(trimmed[start:], mark) {
			continue
		}
		if start > 0 && trimmed[start-1] != ' ' && trimmed[start-1] != '\t' {
			continue
		}
		if exact = trimmed[start:] == mark; exact || at < 0 {
			at = len(rows) - 1
		}
	}
	if at < 0 {
		return 0, 0, false
	}
	from, to := at, at
	if strings.EqualFold(strings.Trim(rows[at], " \t>"), mark) { // of the block above
		for from > 0 && blank(strings.Trim(rows[from-1], ">")) {
			from--
		}
		if from == 0 {
			return at + 1, at + 1, true
		}
		for from > 0 && !blank(strings.Trim(rows[from-1], ">")) {
			from--
		}
		return from + 1, at + 1, true
	}
	for from > 0 && !beginsItem(rows[from]) && !blank(strings.Trim(rows[from-1], " >")) && !strings.HasPrefix(rows[from-1], "#") {
		from--
	}
	if beginsItem(rows[from]) {
		for depth := indentOf(rows[from]); to+1 < len(rows) && !blank(rows[to+1]) && indentOf(rows[to+1]) > depth; {
			to++
		}
	}
	return from + 1, to + 1, true
}

// blockReach bounds how many lines around a place are looked at for the name of its block.
const blockReach = 100

// BlockAt is the name, without "^", of the smallest block of content that holds byte at and
// has one; "" where none does.
func BlockAt(content string, at int) string {
	at = min(at, len(content))
	begin := at
	for n := 0; begin > 0 && n <= blockReach; begin-- {
		if content[begin-1] == '\n' || content[begin-1] == '\r' {
			if n++; n > blockReach {
				break
			}
		}
	}
	var ids []string
	here, last := 0, begin
	all := linesFrom(content, begin)
	for n := 1; here == 0 || n < here+blockReach; n++ {
		l, ok := all.next()
		if !ok {
			break
		}
		if last = l.next; here == 0 && at < last {
			here = n
		}
		if id := blockID(content[l.start:l.end]); id != "" {
			ids = append(ids, id)
		}
	}
	name, least := "", len(content)
	for _, id := range ids {
		if first, last, ok := BlockLines(content[begin:last], id); ok && first <= here && here <= last && last-first < least {
			name, least = id, last-first
		}
	}
	return name
}

// blockID is the name of a block that a line ends with, "" for none.
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

// beginsItem reports whether a line begins an item of a list.
func beginsItem(row string) bool {
	c := cursor{s: row}
	indent, next := c.indent()
	if next == len(row) {
		return false
	}
	_, _, ok := listItem(&c, indent, next, false)
	return ok
}

func indentOf(row string) int {
	c := cursor{s: row}
	n, _ := c.indent()
	return n
}
