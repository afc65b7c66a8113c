package chunk

import "strings"

// simpleYAML reads the part of YAML that nearly all frontmatter is written in:
// top-level keys with plain or simply quoted scalars, and lists of those. ok is
// false when there is anything else, which says nothing about its validity.
func simpleYAML(inner string) (entries []yamlEntry, ok bool) {
	number := 1
	all := linesFrom(inner, 0)
	for l, more := all.next(); more; l, more = all.next() {
		number++
		text := strings.TrimRight(inner[l.start:l.end], " \t")
		if text == "" || text[0] == '#' {
			continue
		}
		if item, isItem := strings.CutPrefix(strings.TrimLeft(text, " "), "- "); isItem && len(entries) > 0 {
			e := &entries[len(entries)-1]
			value, ok := simpleScalar(strings.TrimLeft(item, " "))
			if !ok || !(e.null || e.list) || strings.Contains(item, ": ") || strings.HasSuffix(item, ":") {
				return nil, false
			}
			e.list, e.null = true, false
			e.values = append(e.values, value)
			continue
		}
		key, rest, found := strings.Cut(text, ":")
		if !found || !simpleKey(key) || rest != "" && rest[0] != ' ' {
			return nil, false
		}
		e := yamlEntry{key: key, line: number}
		if ok := e.simpleValue(strings.TrimLeft(rest, " ")); !ok {
			return nil, false
		}
		entries = append(entries, e)
	}
	return entries, true
}

func (e *yamlEntry) simpleValue(rest string) bool {
	if rest == "" {
		e.null = true
		return true
	}
	if inside, ok := strings.CutPrefix(rest, "["); ok {
		inside, ok = strings.CutSuffix(inside, "]")
		e.list = true
		return ok && e.simpleItems(strings.Trim(inside, " "))
	}
	value, ok := simpleScalar(rest)
	e.values = append(e.values, value)
	return ok
}

// simpleItems reads the items between the brackets of a list on one line.
func (e *yamlEntry) simpleItems(rest string) bool {
	for rest != "" {
		end := -1
		if c := rest[0]; c == '"' || c == '\'' {
			if end = strings.IndexByte(rest[1:], c) + 2; end < 2 {
				return false
			}
			if after := strings.TrimLeft(rest[end:], " "); after != "" && after[0] != ',' {
				return false
			}
		} else if end = strings.IndexByte(rest, ','); end < 0 {
			end = len(rest)
		}
		item := strings.TrimRight(rest[:end], " ")
		value, ok := simpleScalar(item)
		if !ok || !value.quoted && strings.ContainsAny(item, "[]{}\"'#&*:") {
			return false
		}
		e.values = append(e.values, value)
		rest = strings.TrimLeft(rest[end:], " ")
		if rest != "" {
			rest = strings.TrimLeft(rest[1:], " ") // the comma
		}
	}
	return true
}

func simpleKey(key string) bool {
	for i := 0; i < len(key); i++ {
		if c := key[i]; !isWordByte(c) && (c != '_' && c != '-' && c != '.' && c != ' ' || i == 0) {
			return false
		}
	}
	return key != "" && key[len(key)-1] != ' '
}

// simpleScalar reads a scalar on one line without escapes or anything special.
func simpleScalar(s string) (yamlScalar, bool) {
	if s == "" || strings.ContainsRune(s, '\t') {
		return yamlScalar{}, false
	}
	if c := s[0]; c == '"' || c == '\'' {
		if len(s) < 2 || s[len(s)-1] != c || strings.IndexByte(s[1:len(s)-1], c) >= 0 || c == '"' && strings.IndexByte(s, '\\') >= 0 {
			return yamlScalar{}, false
		}
		return yamlScalar{s[1 : len(s)-1], true}, true
	}
	if strings.IndexByte("[]{}&*!|>%@`#,?-:", s[0]) >= 0 && !(s[0] == '-' && len(s) > 1 && isDigit(s[1])) {
		return yamlScalar{}, false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") {
		return yamlScalar{}, false
	}
	return yamlScalar{raw: s}, true
}
