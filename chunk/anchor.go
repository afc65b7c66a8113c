package chunk

import (
	"regexp"
	"strings"
)

// otherAttributes are those of a tag that stand before one.
const otherAttributes = `(?:\s+[^\s"'<>/=]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|\{[^{}<>]*\}|[^\s"'=<>{}]+))?)*?`

// anchorTag is an HTML tag that names the place where it stands.
var anchorTag = regexp.MustCompile(`(?is)^<(?:a` + otherAttributes + `\s+(?:id|name)|[a-z][a-z0-9]*` + otherAttributes + `\s+id)\s*=\s*(?:"([^"<>{}]+)"|'([^'<>{}]+)'|([^\s"'<>={}` + "`" + `/]+))`)

// anchorName is what a tag calls its place, "" when it names none.
func anchorName(tag string) string {
	if strings.IndexByte(tag, '=') < 0 {
		return ""
	}
	found := anchorTag.FindStringSubmatch(tag)
	if found == nil {
		return ""
	}
	return showable(found[1] + found[2] + found[3])
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
