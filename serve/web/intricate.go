package web

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What rendering may take is bounded, since a small text can make the library take minutes
// and gigabytes. People's documents have thousandths of it.
const (
	// maxIntricacy is about half a second: time grows with the square of the marks in a
	// paragraph, of the quotes and lists in a line, of the link definitions of a paragraph,
	// and with how far what is nested is indented.
	maxIntricacy = 150_000_000
	// maxOpen is about 200 MB: so many lines times lists and quotes that are open there.
	maxOpen = 2_000_000
)

// blocks finds a document's blocks and looks into none of them.
var blocks = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
)

// intricate reports whether rendering a text would take too long.
func intricate(source []byte) bool {
	total, lines, definitions, open, blank := 0, 0, 0, 0, true
	for line := range bytes.Lines(source) {
		quotes, items, indent, rest := nesting(line)
		depth := quotes + items
		if len(rest) == 0 || items > 0 { // no paragraph goes on
			definitions = 0
		}
		switch {
		case len(rest) == 0: // what is open stays so
		case depth > 0:
			open = max(open, depth+indent/2)
		case blank && indent == 0:
			open = 0
		}
		if blank = len(rest) == 0; !blank && definitions > 0 || bytes.HasPrefix(rest, []byte("[")) {
			definitions++ // one may go on over lines
		}
		lines += open
		if total += depth*depth + 2*open*indent + 2*definitions; total > maxIntricacy || lines > maxOpen {
			return true
		}
	}
	_ = ast.Walk(blocks.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || n.IsRaw() {
			return ast.WalkContinue, nil
		}
		emphasis, links, others := 0, 0, 0
		for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
			text := line.Value(source)
			links += bytes.Count(text, []byte("]("))
			for _, b := range text {
				switch b {
				case '*', '_', '~':
					emphasis++
				case '[', ']', '!', '<', '`':
					others++
				}
			}
		}
		if total += emphasis*emphasis + links*links + others*others/40; total > maxIntricacy {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return total > maxIntricacy
}

// nesting is how many marks of quotes and of list items a line begins with, how far they and
// what is behind them are indented, and what that is.
func nesting(line []byte) (quotes, items, indent int, rest []byte) {
	for line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0; {
		switch b := line[0]; {
		case b == ' ':
			indent, line = indent+1, line[1:]
		case b == '\t':
			indent, line = indent+4, line[1:]
		case b == '>':
			quotes, line = quotes+1, line[1:]
		default:
			mark := 1
			if b != '-' && b != '*' && b != '+' {
				digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
				if digits == 0 || digits == len(line) || line[digits] != '.' && line[digits] != ')' {
					return quotes, items, indent, line
				}
				mark = digits + 1
			}
			if mark < len(line) && line[mark] != ' ' && line[mark] != '\t' {
				return quotes, items, indent, line
			}
			items, line = items+1, line[mark:]
		}
	}
	return quotes, items, indent, nil
}
