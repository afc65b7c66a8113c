package chunk

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// headingTitle is the title of a heading as plain text on one line, and the id
// that its author gave it, or "".
func (s *scanner) headingTitle(h rawHeading) (title, id string) {
	var content string
	if len(h.text) == 1 {
		content = s.src[h.text[0].start:h.text[0].end]
	} else {
		parts := make([]string, len(h.text))
		for i, part := range h.text {
			parts[i] = s.src[part.start:part.end]
			if i+1 < len(h.text) && (len(parts[i])-len(strings.TrimRight(parts[i], `\`)))%2 == 1 {
				parts[i] = parts[i][:len(parts[i])-1] // a hard line break
			}
		}
		content = strings.Join(parts, " ")
	}
	content, id = cutHeadingID(content)
	return plainText(content, s.definitions), id
}

// cutHeadingID takes "{#id}" or "{/*id*/}" off the end of a heading's text. A
// space, a tab or nothing stands before it; closing hashes before it go too.
func cutHeadingID(content string) (rest, id string) {
	if !strings.HasSuffix(content, "}") {
		return content, ""
	}
	open := strings.LastIndexByte(content, '{')
	if open < 0 || open > 0 && content[open-1] != ' ' && content[open-1] != '\t' {
		return content, ""
	}
	inner := content[open+1 : len(content)-1]
	if rest, ok := strings.CutPrefix(inner, "#"); ok {
		id = rest
	} else if rest, ok := strings.CutPrefix(inner, "/*"); ok {
		if rest, ok = strings.CutSuffix(rest, "*/"); ok {
			id = rest
		}
	}
	if id == "" || strings.ContainsAny(id, "{}#/*") || strings.ContainsFunc(id, isSpace) {
		return content, ""
	}
	from, to := trimSpan(content, 0, open)
	to = withoutClosingHashes(content, from, to)
	return content[from:to], id
}

// special are the bytes at which inline Markdown can begin.
const special = "\\`*_[]<&!~"

// plainText is inline Markdown as plain text: marks and HTML tags dropped, code,
// link and image texts kept, escapes and entities decoded.
func plainText(content string, definitions map[string]definition) string {
	content = strings.ToValidUTF8(content, "\uFFFD")
	if strings.IndexByte(content, 0) >= 0 {
		content = strings.ReplaceAll(content, "\x00", "\uFFFD")
	}
	if !strings.ContainsAny(content, special) {
		return content
	}
	if simple, ok := simpleText(content, len(definitions) > 0); ok {
		return simple
	}
	return parsedText(replaceWikiLinks(content), definitions)
}

// simpleText is plainText for text whose only marks are code spans, escapes,
// underscores inside words, a lone asterisk, and brackets that make no link,
// which is nearly all that has any; ok is false when there is more.
func simpleText(s string, definitions bool) (text string, ok bool) {
	var b strings.Builder
	spans := codeSpans{text: s}
	from, asterisks := 0, 0
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '`':
			content, end, ok := spans.end(i)
			b.WriteString(s[from:i])
			if ok {
				b.WriteString(codeText(s[content.start:content.end]))
			} else {
				b.WriteString(s[i:end])
			}
			i, from = end, end
		case '\\':
			if i+1 < len(s) && isPunctuation(s[i+1]) {
				b.WriteString(s[from:i])
				from = i + 1
				i++
			}
			i++
		case '_':
			if i == 0 || i+1 == len(s) || !isWordByte(s[i-1]) || !isWordByte(s[i+1]) {
				return "", false
			}
			i++
		case '*':
			if asterisks++; asterisks > 1 {
				return "", false
			}
			i++
		case '[', ']':
			if definitions || i+1 < len(s) && (c == '[' && s[i+1] == '[' || c == ']' && s[i+1] == '(') {
				return "", false
			}
			i++
		case '&', '<':
			if i+1 < len(s) && s[i+1] != ' ' {
				return "", false
			}
			i++
		case '~':
			return "", false
		default:
			i++
		}
	}
	b.WriteString(s[from:])
	return b.String(), true
}

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

// codeText is the content of a code span: one space goes from both ends when it
// does not consist of spaces only.
func codeText(s string) string {
	if len(s) > 1 && s[0] == ' ' && s[len(s)-1] == ' ' && !blank(strings.ReplaceAll(s, "\t", "x")) {
		return s[1 : len(s)-1]
	}
	return s
}

// replaceWikiLinks writes every [[link]] outside code as the text that a reader
// sees, escaped.
func replaceWikiLinks(s string) string {
	if !strings.Contains(s, "[[") {
		return s
	}
	var b strings.Builder
	spans := codeSpans{text: s}
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i += 2
		case s[i] == '`':
			_, end, _ := spans.end(i)
			b.WriteString(s[i:end])
			i = end
		case strings.HasPrefix(s[i:], "[[") || strings.HasPrefix(s[i:], "![["):
			open := i + strings.IndexByte(s[i:], '[') + 2
			target, fragment, alias, size, ok := wikiLink(s[open:])
			if !ok {
				b.WriteByte(s[i])
				i++
				continue
			}
			for _, c := range []byte(wikiText(target, fragment, alias)) {
				if isPunctuation(c) {
					b.WriteByte('\\')
				}
				b.WriteByte(c)
			}
			i = open + size
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// inlineParser reads headings that have more than the simplest marks. It is
// made when the first such heading comes.
var inlineParser = sync.OnceValue(func() parser.Parser {
	inline := append(parser.DefaultInlineParsers(), util.Prioritized(extension.NewStrikethroughParser(), 500))
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(inline...),
	)
})

// parsedText is plainText by a CommonMark parser.
func parsedText(content string, definitions map[string]definition) string {
	// As a heading the text is one line of inline Markdown, whatever it
	// begins with. A space and a closing hash keep hashes at its end.
	source := []byte("# " + content + " #")
	ctx := parser.NewContext()
	if strings.IndexByte(content, '[') >= 0 {
		for label, d := range definitions {
			ctx.AddReference(parser.NewReference([]byte(label), []byte(d.target), []byte(d.title)))
		}
	}
	root := inlineParser().Parse(text.NewReader(source), parser.WithContext(ctx))
	var b strings.Builder
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(unescape(string(n.Segment.Value(source))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					b.Write(t.Segment.Value(source))
				}
			}
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return strings.Trim(b.String(), " \t")
}
