package chunk

import "strings"

// tableStart makes a table of the open paragraph's last line when s is a
// delimiter row with as many cells. A line of hyphens alone never is one: it
// underlines a heading.
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

// DelimiterRow reports whether a line stands between the heading row of a table and the
// others, as in "| --- | :-: |".
func DelimiterRow(line string) bool { return delimiterRow(line) > 0 }

// delimiterRow is the number of cells of a row such as "| :--- | ---: |", or 0.
func delimiterRow(s string) int {
	cells, marked := 0, false
	s = strings.Trim(s, " \t")
	if rest, ok := strings.CutPrefix(s, "|"); ok {
		s, marked = rest, true
	}
	for {
		s = strings.TrimLeft(s, " \t")
		if rest, ok := strings.CutPrefix(s, ":"); ok {
			s, marked = rest, true
		}
		dashes := 0
		for dashes < len(s) && s[dashes] == '-' {
			dashes++
		}
		if dashes == 0 {
			return 0
		}
		s = s[dashes:]
		if rest, ok := strings.CutPrefix(s, ":"); ok {
			s, marked = rest, true
		}
		cells++
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			break
		}
		rest, ok := strings.CutPrefix(s, "|")
		if !ok {
			return 0
		}
		s, marked = rest, true
		if blank(s) {
			break
		}
	}
	if !marked {
		return 0
	}
	return cells
}

// tableCells is the number of cells of a table's row.
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
