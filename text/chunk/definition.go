package chunk

import (
	"strings"
	"unicode/utf8"
)

// takeDefinitions removes the link reference definitions that the open
// paragraph begins with, and keeps the first of each label.
func (s *scanner) takeDefinitions() {
	var joined strings.Builder
	for _, part := range s.paragraph {
		joined.WriteString(s.src[part.start:part.end])
		joined.WriteByte('\n')
	}
	text, lines := joined.String(), 0
	for strings.HasPrefix(text, "[") {
		label, target, size := readDefinition(text)
		if size == 0 {
			break
		}
		if s.definitions == nil {
			s.definitions = map[string]string{}
		}
		if _, ok := s.definitions[label]; !ok {
			s.definitions[label] = target
		}
		lines += strings.Count(text[:size], "\n")
		text = text[size:]
	}
	// The runs of text end with the paragraph's; definitions are no text.
	first := len(s.text) - len(s.paragraph)
	s.text = append(s.text[:first], s.text[first+lines:]...)
	if first < len(s.text) {
		s.text[first].more = false
	}
	s.paragraph, s.physical = s.paragraph[lines:], s.physical[lines:]
}

// foldLabel is the form in which labels are compared.
func foldLabel(label string) string {
	return strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(label), " ")))
}

// readDefinition reads "[label]: target 'title'" at the start of text, whose
// lines all end with LF. size is 0 when there is none, else it reaches to the
// end of a line.
func readDefinition(text string) (label, target string, size int) {
	end := closingBracket(text)
	if end < 0 || end+1 >= len(text) || text[end+1] != ':' {
		return "", "", 0
	}
	label = foldLabel(text[1:end])
	if label == "" {
		return "", "", 0
	}
	pos := skipSpace(text, end+2)
	target, pos = readTarget(text, pos)
	if pos < 0 {
		return "", "", 0
	}
	target = unescape(target)
	// The title stands apart, and nothing follows it on its line; else, when
	// the target ends its line, the definition has none.
	if at := skipSpace(text, pos); at > pos {
		if after := skipTitle(text, at); after >= 0 {
			if eol := strings.IndexByte(text[after:], '\n'); eol >= 0 && blank(text[after:after+eol]) {
				return label, target, after + eol + 1
			}
		}
	}
	if eol := strings.IndexByte(text[pos:], '\n'); eol >= 0 && blank(text[pos:pos+eol]) {
		return label, target, pos + eol + 1
	}
	return "", "", 0
}

// maxLabel is the most bytes of a label; the specification allows 999
// characters.
const maxLabel = 999 * utf8.UTFMax

// closingBracket is the bracket that closes the one at the start of text, with
// no other unescaped bracket between them and at most maxLabel bytes, or -1.
func closingBracket(text string) int {
	for i := 1; i < len(text) && i <= maxLabel+1; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			if utf8.RuneCountInString(text[1:i]) > 999 {
				return -1
			}
			return i
		}
	}
	return -1
}

// skipSpace skips spaces, tabs and at most one line ending from byte i.
func skipSpace(text string, i int) int {
	ended := false
	for ; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t':
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				continue
			}
			fallthrough
		case '\n':
			if ended {
				return i
			}
			ended = true
		default:
			return i
		}
	}
	return i
}

// readTarget reads a link's target at byte i: "<...>", or bytes without white
// space and control characters whose brackets balance. after is -1 when there
// is none.
func readTarget(text string, i int) (target string, after int) {
	if i < len(text) && text[i] == '<' {
		for j := i + 1; j < len(text); j++ {
			switch text[j] {
			case '\\':
				j++
			case '\n', '\r', '<':
				return "", -1
			case '>':
				return text[i+1 : j], j + 1
			}
		}
		return "", -1
	}
	depth, j := 0, i
loop:
	for ; j < len(text); j++ {
		switch c := text[j]; {
		case c == '\\' && j+1 < len(text) && isPunctuation(text[j+1]):
			j++
		case c <= ' ' || c == 0x7f:
			break loop
		case c == '(':
			if depth++; depth > 32 {
				return "", -1
			}
		case c == ')':
			if depth == 0 {
				break loop
			}
			depth--
		}
	}
	if j == i || depth != 0 {
		return "", -1
	}
	return text[i:j], j
}

// skipTitle is the byte behind the title of a link, in quotes or round brackets, at
// byte i, or -1 when there is none.
func skipTitle(text string, i int) int {
	if i >= len(text) {
		return -1
	}
	closing := text[i]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return -1
	}
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case closing:
			return j + 1
		case '(':
			if closing == ')' {
				return -1
			}
		}
	}
	return -1
}
