package chunk

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/attributes"
	"sheaf/internal/wikilink"
)

// finds are the links, tags and block ids of a text, each in the order in which
// they begin. Anchors of HTML are among the block ids.
type finds struct {
	links  []sheaf.Link
	tags   []found
	blocks []found
}

type found struct {
	span
	text string
}

// wikiLink is a link that stands at a place.
func wikiLink(kind sheaf.LinkKind, l wikilink.Link, at sheaf.Span) sheaf.Link {
	return sheaf.Link{Kind: kind, Target: showable(l.Target), Fragment: showable(l.Fragment), Text: showable(l.Text()), Span: at}
}

// finder finds links, tags and block ids in one paragraph, table row or heading
// after another. It is linear in their length.
type finder struct {
	inline
	base     int // of the text in the file
	brackets brackets
	out      *finds
}

// finding are the bytes at which the finder stops.
var finding = func() (set [256]bool) {
	for _, c := range []byte("\\`<![]#^{") {
		set[c] = true
	}
	return set
}()

func (f *finder) find(text string, base int) {
	f.reset(text)
	f.brackets.reset()
	f.base = base
	first := len(f.out.links)
	for i := 0; i < len(text); {
		c := text[i]
		if !finding[c] {
			i++
			continue
		}
		switch c {
		case '\\':
			i++
			if i < len(text) && isPunctuation(text[i]) {
				i++
			}
		case '`':
			_, i, _ = f.codeSpan(i)
		case '<':
			if _, end, ok := f.angle(i); ok {
				if name := anchorName(text[i:end]); name != "" {
					f.out.blocks = append(f.out.blocks, found{span{base + i, base + end}, name})
				}
				i = end
				break
			}
			i++
		case '!', '[':
			i = f.open(i)
		case ']':
			i = f.close(i)
		case '{':
			i += max(1, attributes.Inside(text, i)) // a "#id" or a color in it is no tag
		case '#':
			i = f.tagAt(i)
		case '^':
			i = f.block(i)
		}
	}
	// A link is complete after those inside it.
	if links := f.out.links[first:]; len(links) > 1 {
		slices.SortStableFunc(links, func(a, b sheaf.Link) int { return a.Span.Start - b.Span.Start })
	}
}

func (f *finder) open(i int) int {
	t, from := f.text, i
	image := t[i] == '!'
	if image {
		if i++; i == len(t) || t[i] != '[' {
			return i
		}
	}
	if i+1 < len(t) && t[i+1] == '[' {
		if l, size, ok := wikilink.Parse(t[i+2:]); ok {
			kind := sheaf.LinkWiki
			if image {
				kind = sheaf.LinkEmbed
			}
			end := i + 2 + size
			f.out.links = append(f.out.links, wikiLink(kind, l, sheaf.Span{Start: f.base + from, End: f.base + end}))
			return end
		}
	}
	f.brackets.push(bracket{at: from, from: i + 1, image: image})
	return i + 1
}

func (f *finder) close(i int) int {
	k, ok := f.brackets.pop()
	if !ok {
		return i + 1
	}
	text := f.text[k.from:i]
	if strings.HasPrefix(text, "^") {
		return i + 1 // a footnote
	}
	target, end, ok := f.destination(k, i)
	if !ok {
		return i + 1
	}
	kind := sheaf.LinkMarkdown
	if k.image {
		kind = sheaf.LinkEmbed
	} else {
		f.brackets.linked()
	}
	address, fragment, _ := strings.Cut(withoutPayload(target), "#")
	f.out.links = append(f.out.links, sheaf.Link{
		Kind: kind, Target: percentDecode(address), Fragment: percentDecode(fragment), Text: plainLinkText(text),
		Span: sheaf.Span{Start: f.base + k.at, End: f.base + end},
	})
	return end
}

// percentDecode decodes %20 and the like, unless that gives no valid text.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return showable(s)
	}
	if decoded, err := url.PathUnescape(s); err == nil && utf8.ValidString(decoded) && strings.IndexByte(decoded, 0) < 0 {
		return decoded
	}
	return showable(s)
}

// maxLinkText is how much of a link's text is kept. Images can be nested in each
// other, and each would hold all inside it.
const maxLinkText = 2000

// plainLinkText is a link's text on one line.
func plainLinkText(s string) string {
	if len(s) > maxLinkText {
		end := maxLinkText
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	if strings.ContainsAny(s, "\n\r") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "\n")
	}
	return plainText(s, nil)
}

// tagAt reads an inline tag at byte i. Obsidian's rule is white space or nothing
// before it, letters, digits, _ - / and no white space or other punctuation in
// it, and at least one character that is no digit.
func (f *finder) tagAt(i int) int {
	t := f.text
	if i > 0 {
		if before, _ := utf8.DecodeLastRuneInString(t[:i]); !isSpace(before) {
			return i + 1
		}
	}
	end, digitsOnly := i+1, true
	for end < len(t) {
		r, size := rune(t[end]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(t[end:])
		}
		if !isTagRune(r) {
			break
		}
		if r != '/' && !unicode.IsDigit(r) {
			digitsOnly = false
		}
		end += size
	}
	if !digitsOnly {
		f.out.tags = append(f.out.tags, found{span{f.base + i, f.base + end}, strings.TrimRight(t[i+1:end], "/")})
	}
	return end
}

func isTagRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r)) || r == '_' || r == '-' || r == '/'
	}
	return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsPunct(r)
}

// block reads a block id, "^id" at the end of a line after white space.
func (f *finder) block(i int) int {
	t := f.text
	if i > 0 && !isSpace(rune(t[i-1])) {
		return i + 1
	}
	end := i + 1
	for end < len(t) && (isWordByte(t[end]) || t[end] == '-') {
		end++
	}
	after := end
	for after < len(t) && (t[after] == ' ' || t[after] == '\t') {
		after++
	}
	if end > i+1 && (after == len(t) || t[after] == '\n' || t[after] == '\r') {
		f.out.blocks = append(f.out.blocks, found{span{f.base + i, f.base + end}, t[i+1 : end]})
	}
	return end
}

// inline finds the links, tags and block ids of everything that the scanner took
// as text.
func (s *scanner) inline() finds {
	var out finds
	f := finder{inline: inline{definitions: s.definitions}, out: &out}
	attributes := s.attributes
	for i := 0; i < len(s.text); {
		j := i + 1
		for j < len(s.text) && s.text[j].more {
			j++
		}
		end := s.text[j-1].end
		if len(attributes) > 0 && attributes[0].end == end { // the "#id" of a heading is no tag
			end, attributes = attributes[0].start, attributes[1:]
		}
		part := s.src[s.text[i].start:end]
		if strings.IndexByte(part, '[') >= 0 || strings.IndexByte(part, '#') >= 0 || strings.IndexByte(part, '^') >= 0 || strings.IndexByte(part, '<') >= 0 {
			f.find(part, s.text[i].start)
		}
		i = j
	}
	if len(s.anchors) > 0 {
		out.blocks = append(out.blocks, s.anchors...)
		slices.SortFunc(out.blocks, func(a, b found) int { return a.start - b.start })
	}
	return out
}
