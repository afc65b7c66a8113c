package chunk

import (
	"regexp"
	"strings"
)

// tagSpace is what stands between the attributes of a tag.
const tagSpace = " \t\r\n\f"

// anchorName is what an HTML tag calls the place where it stands, "" when it names none: its
// id, or the name of an <a>.
func anchorName(tag string) string {
	if strings.IndexByte(tag, '=') < 0 {
		return ""
	}
	end := strings.IndexAny(tag, tagSpace)
	if end < 2 || !isLetter(tag[1]) {
		return ""
	}
	anchor, rest := strings.EqualFold(tag[1:end], "a"), tag[end:]
	for {
		begin := strings.TrimLeft(rest, tagSpace)
		end := strings.IndexAny(begin, tagSpace+`"'<>/=`)
		if end <= 0 || len(begin) == len(rest) {
			return ""
		}
		key := begin[:end]
		rest = begin[end:]
		given, ok := strings.CutPrefix(strings.TrimLeft(rest, tagSpace), "=")
		if !ok {
			continue
		}
		var value string
		if value, rest, ok = tagValue(strings.TrimLeft(given, tagSpace)); !ok {
			return ""
		}
		if (strings.EqualFold(key, "id") || anchor && strings.EqualFold(key, "name")) && !strings.ContainsAny(value, "<>{}") {
			return showable(value)
		}
	}
}

// tagValue splits what follows the "=" of an attribute behind its value, which programs write
// in braces.
func tagValue(text string) (value, rest string, ok bool) {
	if text == "" {
		return "", "", false
	}
	switch text[0] {
	case '"', '\'':
		value, rest, ok = strings.Cut(text[1:], text[:1])
		return value, rest, ok
	case '{':
		value, rest, ok = strings.Cut(text, "}")
		return value + "}", rest, ok
	}
	end := strings.IndexAny(text, tagSpace+"\"'=<>`")
	if end < 0 {
		end = len(text)
	}
	return strings.TrimSuffix(text[:end], "/"), text[end:], end > 0
}

// anchorsIn notes the anchors in a part of a block of HTML that begins at byte base.
func (s *scanner) anchorsIn(text string, base int) {
	for at := 0; ; {
		from := strings.IndexByte(text[at:], '<')
		if from < 0 {
			return
		}
		from += at
		at = from + strings.IndexByte(text[from:], '>') + 1
		if at == from {
			return
		}
		if name := anchorName(text[from:at]); name != "" {
			s.anchors = append(s.anchors, found{span{base + from, base + at}, name})
		}
	}
}

// anchorsOnly is text in which nothing but anchors stands.
var anchorsOnly = regexp.MustCompile(`(?i)^(?:\s|</?(?:a|span|div|p)(?:\s[^<>]*)?>)*$`)

// maxAbove is how far above a heading its anchor may stand.
const maxAbove = 500

// above reports whether what is named by an anchor that ends at byte end is the heading that
// begins at byte start.
func (s *source) above(end, start int) bool {
	return end <= start && start-end <= maxAbove && anchorsOnly.MatchString(s.src[end:start])
}
