package chunk

import "strings"

// BlockLines are the lines, from 1, of the block called name, without "^", in content: the
// paragraph or the item of a list that ends with the name, with what is indented below the
// item; or the block above a line that holds the name alone. ok is false without such a block.
func BlockLines(content, name string) (first, last int, ok bool) {
	var rows []string
	mark := "^" + name
	at, fence := -1, ""
	all := linesFrom(content, 0)
	for l, more := all.next(); more; l, more = all.next() {
		text := content[l.start:l.end]
		rows = append(rows, text)
		trimmed := strings.TrimSpace(text)
		if f := trimmed[:min(3, len(trimmed))]; fence == "" && (f == "```" || f == "~~~") {
			fence = f
		} else if fence != "" && strings.HasPrefix(trimmed, fence) {
			fence = ""
		}
		if at >= 0 {
			continue
		}
		if before, found := strings.CutSuffix(trimmed, mark); found && fence == "" && (before == "" || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\t")) {
			at = len(rows) - 1
		}
	}
	if at < 0 {
		return 0, 0, false
	}
	from, to := at, at
	if strings.Trim(rows[at], " \t>") == mark { // of the block above
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
