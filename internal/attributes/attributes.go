// Package attributes reads attribute lists at the end of headings. Renderers remove such lists: "{#id}", "{/*id*/}",
// "{ #id .class key="value" }", "{: #id }", "{.unnumbered}", "{-}". Any other text in braces is not a list, because
// braces are common in prose, code, templates and formulas.
package attributes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns a heading without the attribute list at its end. White space before the list stays in rest. id is the
// first ID in the list, or "". ok is false if no list is at the end; rest is then text.
func Cut(text string) (rest, id string, ok bool) {
	if !strings.HasSuffix(text, "}") {
		return text, "", false
	}
	open := strings.LastIndexByte(text, '{')
	if open < 0 || open > 0 && strings.IndexByte(" \t\n", text[open-1]) < 0 {
		return text, "", false
	}
	inner := text[open+1 : len(text)-1]
	if comment, is := strings.CutPrefix(inner, "/*"); is {
		id, ok = strings.CutSuffix(comment, "*/")
		ok = ok && isID(id)
	} else {
		id, ok = read(inner)
	}
	if !ok {
		return text, "", false
	}
	return text[:open], id, true
}

// reach is the largest number of bytes in a list. A longer list counts as text.
const reach = 512

// Inside returns the length of the attribute list at byte i of a text, or 0 without a list. A list begins with a colon,
// or directly follows a picture, link, code or emphasis, as in "![](a.png){ #a }".
func Inside(text string, i int) int {
	list := text[i:min(len(text), i+reach)]
	if !strings.HasPrefix(list, "{:") && (i == 0 || strings.IndexByte("])`:*_", text[i-1]) < 0) {
		return 0
	}
	end := strings.IndexByte(list, '}')
	if end < 0 {
		return 0
	}
	if _, ok := read(list[1:end]); !ok {
		return 0
	}
	return end + 1
}

// read parses the text between the braces of a list. id is the first ID in the list, or "". ok is false if the text is
// malformed, or may be prose, as in "{x=1}". Unlike prose, a list has a colon at its start, an ID, a class or a quoted
// value.
func read(inner string) (id string, ok bool) {
	rest, sure := strings.CutPrefix(inner, ":")
	rest = strings.Trim(rest, " \t")
	if rest == "" {
		return "", false
	}
	for rest != "" {
		name, value, after, quoted := first(rest)
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

// first splits the first attribute off a list that is not empty. rest is the text after it, and quoted says that value
// was in quotes. If the list does not begin with a valid attribute, name is "".
func first(list string) (name, value, rest string, quoted bool) {
	word, rest := list, ""
	if end := strings.IndexAny(list, " \t"); end >= 0 {
		word, rest = list[:end], list[end:]
	}
	switch {
	case list[0] == '#' && isID(word[1:]):
		return "id", word[1:], rest, false
	case list[0] == '.' && isName(word[1:]), word == "-": // "-" means ".unnumbered"
		return "class", word[1:], rest, false
	}
	name, value, ok := strings.Cut(word, "=")
	if !ok || !isName(name) || value == "" {
		return "", "", "", false
	}
	if quote := value[:1]; quote == `"` || quote == "'" {
		quoted = true
		value, rest, ok = strings.Cut(list[len(name)+2:], quote)
		ok = ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
	} else {
		ok = !strings.ContainsAny(value, "\"'`=<>}")
	}
	if !ok || strings.ContainsAny(value, "`\n") || name == "id" && !isID(value) {
		return "", "", "", false
	}
	return name, value, rest, quoted
}

// isID reports whether id is a valid ID of a heading.
func isID(id string) bool {
	return id != "" && !strings.ContainsAny(id, "{}#/*") && !strings.ContainsFunc(id, unicode.IsSpace)
}

// isName reports whether name is valid for a class or a key.
func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != ':' && c != '.') {
			return false
		}
	}
	return name != ""
}
