package chunk

import (
	"strings"

	"sheaf"
	"sheaf/internal/wikilink"
)

// leastLinks is how many items a bare list of links has at least.
const leastLinks = 3

// LinkList is a bare list of links: items that hold a link each and nothing else.
type LinkList struct {
	sheaf.Span
	// Items are the lines of the items.
	Items []string
}

// LinkLists are the bare lists of links in a text of Markdown, in order.
func LinkLists(text string) (lists []LinkList) {
	if !strings.Contains(text, "[") {
		return nil
	}
	var list LinkList
	end := func() {
		if len(list.Items) >= leastLinks {
			lists = append(lists, list)
		}
		list = LinkList{}
	}
	all := linesFrom(text, 0)
	for l, ok := all.next(); ok; l, ok = all.next() {
		switch row := text[l.start:l.end]; {
		case bareLink(row):
			if len(list.Items) == 0 {
				list.Start = l.start
			}
			list.End, list.Items = l.end, append(list.Items, row)
		case !blank(row):
			end()
		}
	}
	end()
	return lists
}

// bareLink reports whether a line is an item of a list that holds one link and nothing else.
func bareLink(row string) bool {
	c := cursor{s: row}
	indent, next := c.indent()
	if next == len(row) {
		return false
	}
	marker, _, ok := listItem(&c, indent, next, false)
	if !ok {
		return false
	}
	item := strings.TrimSpace(row[next+marker:])
	if rest, wiki := strings.CutPrefix(item, "[["); wiki {
		_, size, ok := wikilink.Parse(rest)
		return ok && size == len(rest)
	}
	text := closingBracket(item)
	return text > 0 && item[0] == '[' && strings.HasPrefix(item[text+1:], "(") && linkEnds(item, text+2)
}

// linkEnds reports whether the target of a link that begins at byte i ends with item.
func linkEnds(item string, i int) bool {
	_, end, ok := inlineTarget(item, i)
	return ok && end == len(item)
}
