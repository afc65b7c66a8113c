package chunk

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

func isPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// unescape decodes backslash escapes and entities of Markdown text.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && isPunctuation(s[i+1]):
			b.WriteByte(s[i+1])
			i += 2
		case c == '&':
			text, size := entity(s[i:])
			b.WriteString(text)
			i += size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// maxEntity is longer than the longest name of an entity.
const maxEntity = 40

// entity decodes the entity that s begins with; when there is none, it is the
// ampersand itself.
func entity(s string) (text string, size int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "&", 1
	}
	name := s[1:end]
	if name[0] != '#' {
		if decoded := html.UnescapeString(s[:end+1]); !strings.HasPrefix(decoded, "&") || name == "amp" || name == "AMP" {
			if !strings.HasSuffix(decoded, ";") || name == "semi" {
				return decoded, end + 1
			}
		}
		return "&", 1
	}
	digits, base, most := name[1:], 10, 7
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		digits, base, most = digits[1:], 16, 6
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > most || digits[0] == '+' {
		return "&", 1
	}
	if n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		n = utf8.RuneError
	}
	return string(rune(n)), end + 1
}

// codeSpans finds the code spans of a text, each run of backticks in linear
// time overall.
type codeSpans struct {
	text string
	// missing holds lengths of runs of which no further one exists.
	missing map[int]bool
}

// end is the byte after the code span that opens with the run of backticks at
// byte i, and the span of its content; when nothing closes it, end is the byte
// after the run and ok is false.
func (c *codeSpans) end(i int) (content span, end int, ok bool) {
	n := 0
	for i+n < len(c.text) && c.text[i+n] == '`' {
		n++
	}
	from := i + n
	if c.missing[n] {
		return span{}, from, false
	}
	for j := from; ; {
		k := strings.IndexByte(c.text[j:], '`')
		if k < 0 {
			break
		}
		j += k
		m := 0
		for j+m < len(c.text) && c.text[j+m] == '`' {
			m++
		}
		if m == n {
			return span{from, j}, j + m, true
		}
		j += m
	}
	if c.missing == nil {
		c.missing = map[int]bool{}
	}
	c.missing[n] = true
	return span{}, from, false
}
