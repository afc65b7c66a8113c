package chunk

import (
	"strings"
	"unicode/utf8"
)

// cutAttributes splits a heading's text before the list of attributes that ends it, as
// renderers take it off: "{#id}", "{/*id*/}", "{ #id .class key="value" }", "{: #id }",
// "{.unnumbered}", "{-}". A space, a tab, a line break or nothing stands before it. id is the
// first that the list gives, or "". What looks otherwise in any way is text: braces are common
// in prose, code, templates and formulas.
func cutAttributes(content string) (rest, id string, ok bool) {
	open := strings.LastIndexByte(content, '{')
	if open < 0 || !strings.HasSuffix(content, "}") || open > 0 && strings.IndexByte(" \t\n", content[open-1]) < 0 {
		return content, "", false
	}
	inner := content[open+1 : len(content)-1]
	if comment, is := strings.CutPrefix(inner, "/*"); is {
		id, ok = strings.CutSuffix(comment, "*/")
		ok = ok && isHeadingID(id)
	} else {
		id, ok = readAttributes(inner)
	}
	if !ok {
		return content, "", false
	}
	return content[:open], showable(id), true
}

// readAttributes reads what stands between the braces of a list. Of unquoted values alone
// nobody can tell whether they are one: "{x=1}" is prose too.
func readAttributes(inner string) (id string, ok bool) {
	rest, sure := strings.CutPrefix(inner, ":")
	rest = strings.Trim(rest, " \t")
	if rest == "" {
		return "", false
	}
	for rest != "" {
		name, value, after, quoted := cutAttribute(rest)
		if name == "" {
			return "", false
		}
		if name == "id" && id == "" {
			id = value
		}
		sure = sure || quoted || name == "id" || name == "class"
		rest = strings.TrimLeft(after, " \t")
	}
	return id, sure
}

// cutAttribute takes the first attribute off a list. name is "" when there is none.
func cutAttribute(list string) (name, value, rest string, quoted bool) {
	word, rest := list, ""
	if end := strings.IndexAny(list, " \t"); end >= 0 {
		word, rest = list[:end], list[end:]
	}
	switch {
	case list[0] == '#' && isHeadingID(word[1:]):
		return "id", word[1:], rest, false
	case list[0] == '.' && isAttributeName(word[1:]), word == "-": // which stands for ".unnumbered"
		return "class", word[1:], rest, false
	}
	name, value, ok := strings.Cut(word, "=")
	if !ok || !isAttributeName(name) || value == "" {
		return "", "", "", false
	}
	if quote := value[:1]; quote == `"` || quote == "'" {
		quoted = true
		value, rest, ok = strings.Cut(list[len(name)+2:], quote)
		ok = ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
	} else {
		ok = !strings.ContainsAny(value, "\"'`=<>}")
	}
	if !ok || strings.ContainsAny(value, "`\n") || name == "id" && !isHeadingID(value) {
		return "", "", "", false
	}
	return name, value, rest, quoted
}

// isHeadingID reports whether an author may call a heading so.
func isHeadingID(id string) bool {
	return id != "" && !strings.ContainsAny(id, "{}#/*") && !strings.ContainsFunc(id, isSpace)
}

// isAttributeName reports whether a class or a key may be called so.
func isAttributeName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != ':' && c != '.') {
			return false
		}
	}
	return name != ""
}
