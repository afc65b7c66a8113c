package chunk

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// finds are the links, tags and block ids of a text, in order.
type finds struct {
	links  []sheaf.Link
	tags   []found
	blocks []found
}

type found struct {
	at   int
	text string
}

// wikiLink reads what follows "[[" up to "]]": size reaches behind it.
func wikiLink(s string) (target, fragment, alias string, size int, ok bool) {
	end := strings.Index(s[:min(len(s), maxTitle)], "]]")
	if end <= 0 || strings.ContainsAny(s[:end], "\n\r") || strings.Contains(s[:end], "[[") {
		return "", "", "", 0, false
	}
	inner := s[:end]
	if bar := strings.IndexByte(inner, '|'); bar >= 0 {
		inner, alias = inner[:bar], strings.TrimSpace(inner[bar+1:])
		inner = strings.TrimSuffix(inner, `\`) // as written inside tables
	}
	target, fragment, _ = strings.Cut(inner, "#")
	target, fragment = strings.TrimSpace(target), strings.TrimSpace(fragment)
	return target, fragment, alias, end + 2, target != "" || fragment != ""
}

// wikiText is what a reader sees of a wiki link.
func wikiText(target, fragment, alias string) string {
	switch {
	case alias != "":
		return alias
	case fragment != "":
		return target + "#" + fragment
	}
	return target
}

// inlineScanner finds links, tags and block ids in one paragraph (or table row,
// or heading). It is linear in the paragraph's length.
type inlineScanner struct {
	text        string
	base        int // of text in the file
	definitions map[string]definition
	out         *finds
	brackets    []bracket
	code        codeSpans
	noGreater   bool
}

type bracket struct {
	at    int // of '[', or of '!' before it
	from  int // of the text inside
	image bool
}

const maxBrackets = 100

func (s *inlineScanner) scan() {
	s.code = codeSpans{text: s.text}
	t := s.text
	for i := 0; i < len(t); {
		switch c := t[i]; c {
		case '\\':
			i++
			if i < len(t) && t[i] < utf8.RuneSelf {
				i++
			}
		case '`':
			_, i, _ = s.code.end(i)
		case '<':
			i = s.angle(i)
		case '!', '[':
			i = s.open(i)
		case ']':
			i = s.close(i)
		case '#':
			i = s.tag(i)
		case '^':
			i = s.block(i)
		default:
			i++
		}
	}
}

// angle skips an HTML tag, comment or address in angle brackets.
func (s *inlineScanner) angle(i int) int {
	t := s.text
	if i+1 == len(t) || s.noGreater || !isLetter(t[i+1]) && t[i+1] != '/' && t[i+1] != '!' && t[i+1] != '?' {
		return i + 1
	}
	end := strings.IndexByte(t[i:], '>')
	if end < 0 {
		s.noGreater = true
		return i + 1
	}
	if strings.HasPrefix(t[i:], "<!--") {
		if end := strings.Index(t[i:], "-->"); end >= 0 {
			return i + end + 3
		}
		return i + 4
	}
	return i + end + 1
}

func (s *inlineScanner) open(i int) int {
	t, from := s.text, i
	image := t[i] == '!'
	if image {
		i++
		if i == len(t) || t[i] != '[' {
			return i
		}
	}
	if i+1 < len(t) && t[i+1] == '[' {
		if target, fragment, alias, size, ok := wikiLink(t[i+2:]); ok {
			kind := sheaf.LinkWiki
			if image {
				kind = sheaf.LinkEmbed
			}
			end := i + 2 + size
			s.out.links = append(s.out.links, sheaf.Link{Kind: kind, Target: target, Fragment: fragment, Text: wikiText(target, fragment, alias),
				Span: sheaf.Span{Start: s.base + from, End: s.base + end}})
			return end
		}
	}
	if len(s.brackets) == maxBrackets {
		s.brackets = append(s.brackets[:0], s.brackets[1:]...)
	}
	s.brackets = append(s.brackets, bracket{from, i + 1, image})
	return i + 1
}

func (s *inlineScanner) close(i int) int {
	t := s.text
	if len(s.brackets) == 0 {
		return i + 1
	}
	b := s.brackets[len(s.brackets)-1]
	s.brackets = s.brackets[:len(s.brackets)-1]
	target, end, ok := s.destination(b.from, i)
	if !ok {
		return i + 1
	}
	kind := sheaf.LinkMarkdown
	if b.image {
		kind = sheaf.LinkEmbed
	}
	address, fragment, _ := strings.Cut(target, "#")
	s.out.links = append(s.out.links, sheaf.Link{Kind: kind, Target: percentDecode(address), Fragment: percentDecode(fragment),
		Text: plainLinkText(t[b.from:i]), Span: sheaf.Span{Start: s.base + b.at, End: s.base + end}})
	return end
}

// destination is where the link whose text is t[from:to] leads: "(target)",
// "[label]", or its own text as a label. end is the byte after the link.
func (s *inlineScanner) destination(from, to int) (target string, end int, ok bool) {
	t := s.text
	if to+1 < len(t) && t[to+1] == '(' {
		i := skipSpace(t, to+2, 1)
		if i < len(t) && t[i] == ')' {
			return "", i + 1, true
		}
		if target, after := readTarget(t, i); after >= 0 {
			i = skipSpace(t, after, 1)
			if i > after {
				if _, after := readTitle(t, i); after >= 0 {
					i = skipSpace(t, after, 1)
				}
			}
			if i < len(t) && t[i] == ')' {
				return unescape(target), i + 1, true
			}
		}
	}
	if len(s.definitions) == 0 {
		return "", 0, false
	}
	label, end := t[from:to], to+1
	if to+1 < len(t) && t[to+1] == '[' {
		if size := closingBracket(t[to+1:]); size > 0 {
			if size > 1 {
				label = t[to+2 : to+1+size]
			}
			end = to + 2 + size
		}
	}
	if len(label) > 1000 {
		return "", 0, false
	}
	def, ok := s.definitions[foldLabel(label)]
	return def.target, end, ok
}

func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	if decoded, err := url.PathUnescape(s); err == nil && utf8.ValidString(decoded) {
		return decoded
	}
	return s
}

// plainLinkText is a link's text on one line, bounded.
func plainLinkText(s string) string {
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle], "")
	}
	if strings.ContainsAny(s, "\n\r") {
		s = strings.Join(strings.Fields(s), " ")
	}
	if !strings.ContainsAny(s, special) {
		return s
	}
	if text, ok := simpleText(s, false); ok {
		return text
	}
	return strings.NewReplacer("**", "", "`", "", "*", "").Replace(unescape(s))
}

// tag reads an inline tag at byte i: Obsidian's rule is white space or nothing
// before it, letters, digits, _ - / and no white space or other punctuation in
// it, and at least one character that is no digit.
func (s *inlineScanner) tag(i int) int {
	t := s.text
	if i > 0 {
		if before, _ := utf8.DecodeLastRuneInString(t[:i]); !isSpace(before) {
			return i + 1
		}
	}
	end, digitsOnly := i+1, true
	for end < len(t) {
		r, size := utf8.DecodeRuneInString(t[end:])
		if !isTagRune(r) {
			break
		}
		if r != '/' && !unicode.IsDigit(r) {
			digitsOnly = false
		}
		end += size
	}
	if digitsOnly {
		return end
	}
	s.out.tags = append(s.out.tags, found{s.base + i, strings.TrimRight(t[i+1:end], "/")})
	return end
}

func isTagRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r)) || r == '_' || r == '-' || r == '/'
	}
	return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsPunct(r)
}

// block reads a block id, "^id" at the end of a line after white space.
func (s *inlineScanner) block(i int) int {
	t := s.text
	if i > 0 && !isSpace(rune(t[i-1])) {
		return i + 1
	}
	end := i + 1
	for end < len(t) && (isWordByte(t[end]) || t[end] == '-') {
		end++
	}
	if end > i+1 && (end == len(t) || t[end] == '\n' || t[end] == '\r') {
		s.out.blocks = append(s.out.blocks, found{s.base + i, t[i+1 : end]})
	}
	return end
}

// inline finds the links, tags and block ids of everything that the scanner took
// as text.
func (s *scanner) inline() finds {
	var out finds
	scan := inlineScanner{definitions: s.definitions, out: &out}
	for i := 0; i < len(s.text); {
		j := i + 1
		for j < len(s.text) && s.text[j].more {
			j++
		}
		part := s.src[s.text[i].start:s.text[j-1].end]
		if strings.ContainsAny(part, "[#^") {
			scan.text, scan.base = part, s.text[i].start
			scan.brackets, scan.noGreater = scan.brackets[:0], false
			scan.scan()
		}
		i = j
	}
	return out
}
