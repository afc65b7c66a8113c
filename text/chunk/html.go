package chunk

import "strings"

// startsHTML is the kind (1..7) of the HTML block that s begins, or 0. Kind 7
// cannot interrupt a paragraph.
func startsHTML(s string, inParagraph bool) int {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return 2
	case strings.HasPrefix(s, "<?"):
		return 3
	case strings.HasPrefix(s, "<![CDATA["):
		return 5
	case len(s) > 2 && s[1] == '!' && isLetter(s[2]):
		return 4
	}
	i := 1
	closing := i < len(s) && s[i] == '/'
	if closing {
		i++
	}
	name := i
	for i < len(s) && (isLetter(s[i]) || i > name && (isDigit(s[i]) || s[i] == '-')) {
		i++
	}
	if i == name {
		return 0
	}
	if i-name <= longestHTMLName {
		tag := strings.ToLower(s[name:i])
		ends := i == len(s) || s[i] == ' ' || s[i] == '\t' || s[i] == '>'
		if !closing && rawHTMLNames[tag] {
			if ends {
				return 1
			}
			return 0
		}
		if (ends || strings.HasPrefix(s[i:], "/>")) && blockHTMLNames[tag] {
			return 6
		}
	}
	if inParagraph {
		return 0
	}
	if end, ok := htmlTag(s, i, closing); ok && blank(s[end:]) {
		return 7
	}
	return 0
}

// endsHTML reports whether a line ends an HTML block of kind 1..5.
func endsHTML(s string, kind int) bool {
	switch kind {
	case 1:
		for i := strings.Index(s, "</"); i >= 0; {
			if rawEnd(s[i+2:]) {
				return true
			}
			next := strings.Index(s[i+2:], "</")
			if next < 0 {
				return false
			}
			i += 2 + next
		}
		return false
	case 2:
		return strings.Contains(s, "-->")
	case 3:
		return strings.Contains(s, "?>")
	case 4:
		return strings.IndexByte(s, '>') >= 0
	case 5:
		return strings.Contains(s, "]]>")
	}
	return false
}

// rawEnd reports whether s begins with the name of an element whose content is
// not Markdown and '>'.
func rawEnd(s string) bool {
	end := strings.IndexByte(s[:min(len(s), longestHTMLName+1)], '>')
	return end >= 0 && rawHTMLNames[strings.ToLower(s[:end])]
}

// htmlTag reads the rest of a tag whose name ends at byte i of s. It returns the
// byte after its '>', or, when it is no tag, where that became clear.
func htmlTag(s string, i int, closing bool) (end int, ok bool) {
	i, spaced := skipTagSpace(s, i)
	if closing {
		return i + 1, i < len(s) && s[i] == '>'
	}
	for {
		if i == len(s) {
			return i, false
		}
		switch {
		case s[i] == '>':
			return i + 1, true
		case s[i] == '/':
			return i + 2, i+1 < len(s) && s[i+1] == '>'
		case !spaced || !(isLetter(s[i]) || s[i] == '_' || s[i] == ':'):
			return i, false
		}
		for i < len(s) && (isWordByte(s[i]) || strings.IndexByte("_.:-", s[i]) >= 0) {
			i++
		}
		i, spaced = skipTagSpace(s, i)
		if i == len(s) || s[i] != '=' {
			continue
		}
		i, _ = skipTagSpace(s, i+1)
		if i, ok = attributeValue(s, i); !ok {
			return i, false
		}
		i, spaced = skipTagSpace(s, i)
	}
}

func skipTagSpace(s string, i int) (next int, skipped bool) {
	for next = i; next < len(s) && strings.IndexByte(" \t\n\r", s[next]) >= 0; next++ {
	}
	return next, next > i
}

// attributeValue is the byte after the value that begins at byte i.
func attributeValue(s string, i int) (end int, ok bool) {
	if i == len(s) {
		return i, false
	}
	if quote := s[i]; quote == '"' || quote == '\'' {
		end := indexByteFrom(s, quote, i+1)
		return min(end+1, len(s)), end < len(s)
	}
	for end = i; end < len(s) && strings.IndexByte(" \t\n\r\"'=<>`", s[end]) < 0; end++ {
	}
	return end, end > i
}

func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

var rawHTMLNames = map[string]bool{"script": true, "pre": true, "style": true, "textarea": true}

const longestHTMLName = 10

var blockHTMLNames = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`address article aside base basefont blockquote body caption center col colgroup
		dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header
		hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary
		table tbody td tfoot th thead title tr track ul`) {
		names[name] = true
	}
	return names
}()
