package chunk

import (
	"strings"
	"unicode"
)

// looseYAML reads what it can of malformed YAML: the keys that begin a line, each with what
// stands behind it, or in lines of list items below it. So one value without its quotation
// marks, as a title with a colon, loses no other. What is nested is left out.
func looseYAML(inner string) (entries []yamlEntry) {
	number, below, bracket := 1, false, false // whether the last key may have items, and whether in brackets
	all := linesFrom(inner, 0)
	for l, more := all.next(); more; l, more = all.next() {
		number++
		text := strings.TrimRight(inner[l.start:l.end], " \t")
		inside := strings.TrimLeft(text, " \t")
		if inside == "" || inside[0] == '#' {
			continue
		}
		if bracket && (len(inside) < len(text) || inside[0] == ']') {
			bracket = !entries[len(entries)-1].looseItems(inside)
			continue
		}
		bracket = false
		if below && len(inside) > 1 && inside[0] == '-' && (inside[1] == ' ' || inside[1] == '\t') {
			if value, ok := looseScalar(inside[2:]); ok && !strings.Contains(inside, ": ") {
				entries[len(entries)-1].add(value)
			}
			continue
		}
		key, rest, found := strings.Cut(text, ":")
		if found = found && (rest == "" || rest[0] == ' ' || rest[0] == '\t'); !found {
			below = false
			continue
		}
		key = strings.TrimRight(key, " \t")
		if inside, ok := unquoted(key); ok {
			key = inside
		}
		if below = false; !looseKey(key) { // also what is indented
			continue
		}
		e := yamlEntry{key: key, line: number, null: true}
		rest = strings.TrimSpace(rest)
		if items, isList := strings.CutPrefix(rest, "["); isList {
			bracket = !e.looseItems(items)
		} else if value, ok := looseScalar(rest); ok {
			e.null, e.values = false, []yamlScalar{value}
		} else {
			below = rest == "" || rest[0] == '#'
		}
		entries = append(entries, e)
	}
	return entries
}

// looseKey reports whether a text may be a key: it begins with a letter, a digit or an
// underscore, and has few other signs.
func looseKey(key string) bool {
	for i, c := range key {
		if !unicode.In(c, unicode.L, unicode.M, unicode.Nd) && c != '_' && (i == 0 || !strings.ContainsRune("-. /", c)) {
			return false
		}
	}
	return key != ""
}

// add makes a value one of a list.
func (e *yamlEntry) add(value yamlScalar) {
	e.list, e.null, e.values = true, false, append(e.values, value)
}

// looseItems adds what stands between brackets and commas on a line to a list, and reports
// whether the list ends there.
func (e *yamlEntry) looseItems(s string) (ended bool) {
	for {
		s = strings.TrimLeft(s, " \t,[")
		switch {
		case s == "" || s[0] == '#':
			return ended
		case s[0] == ']':
			s, ended = s[1:], true
			continue
		}
		end := 0
		if s[0] == '"' || s[0] == '\'' {
			end = strings.IndexByte(s[1:], s[0]) + 2
		}
		if end < 2 {
			if end = strings.IndexAny(s, ",]"); end < 0 {
				end = len(s)
			}
			if comment := strings.Index(s[:end], " #"); comment >= 0 {
				end = comment
			}
		}
		if value, ok := looseScalar(s[:end]); ok {
			e.add(value)
		}
		s, ended = s[end:], false
	}
}

// looseScalar is a text as it stands, without a comment behind it and quotation marks around it.
// What says that lines follow, or brackets that hold more, is none.
func looseScalar(s string) (yamlScalar, bool) {
	s = strings.TrimSpace(s)
	if inside, ok := unquoted(s); ok {
		return yamlScalar{inside, true}, true
	}
	s, _, _ = strings.Cut(s, " #")
	s = strings.TrimSpace(s)
	if inside, ok := unquoted(s); ok {
		return yamlScalar{inside, true}, true
	}
	return yamlScalar{raw: s}, s != "" && !strings.ContainsAny(s[:1], "#[]|>")
}

// unquoted is what stands between quotation marks; ok is false where there are none.
func unquoted(s string) (inside string, ok bool) {
	n := len(s)
	if n < 2 || s[0] != '"' && s[0] != '\'' || s[n-1] != s[0] {
		return "", false
	}
	return s[1 : n-1], true
}
