package chunk

import "strings"

// looseYAML reads what it can of malformed YAML: the keys that begin a line, each with what
// stands behind it, or in lines of list items below it. So one value without its quotation
// marks, as a title with a colon, loses no other. What is nested is left out, and a list on one line
// that does not end there.
func looseYAML(inner string) (entries []yamlEntry) {
	number, open := 1, false // whether the last key may have items
	all := linesFrom(inner, 0)
	for l, more := all.next(); more; l, more = all.next() {
		number++
		text := strings.TrimRight(inner[l.start:l.end], " \t")
		if item, isItem := strings.CutPrefix(strings.TrimLeft(text, " "), "- "); isItem && open {
			if value, ok := looseScalar(item); ok && !strings.Contains(item, ": ") {
				e := &entries[len(entries)-1]
				e.list, e.null, e.values = true, false, append(e.values, value)
			}
			continue
		}
		key, rest, found := strings.Cut(text, ":")
		if !found || rest != "" && rest[0] != ' ' {
			open = open && text == ""
			continue
		}
		if k := strings.Trim(key, `"'`); len(key)-len(k) == 2 {
			key = k
		}
		if !simpleKey(key) { // also what is indented
			open = false
			continue
		}
		e := yamlEntry{key: key, line: number}
		rest = strings.TrimSpace(rest)
		switch inside, list := strings.CutPrefix(rest, "["); {
		case list && strings.HasSuffix(inside, "]"):
			e.list = true
			for item := range strings.SplitSeq(strings.TrimSuffix(inside, "]"), ",") {
				if value, ok := looseScalar(item); ok {
					e.values = append(e.values, value)
				}
			}
		case list:
			e.null = true
		default:
			value, ok := looseScalar(rest)
			if e.null = !ok; ok {
				e.values = []yamlScalar{value}
			}
		}
		open = rest == ""
		entries = append(entries, e)
	}
	return entries
}

// looseScalar is a text as it stands, without a comment behind it and quotation marks around it.
// What says that lines follow, or brackets that hold more, is none.
func looseScalar(s string) (yamlScalar, bool) {
	s, _, _ = strings.Cut(s, " #")
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[:1], "#[]|>") {
		return yamlScalar{}, false
	}
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return yamlScalar{s[1 : n-1], true}, true
	}
	return yamlScalar{raw: s}, true
}
