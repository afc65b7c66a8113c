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
		depth, indent, rest := nesting(line)
		switch {
		case len(rest) == 0: // what is open stays so
			definitions = 0
		case depth > 0:
			open = max(open, depth+indent/2)
		case blank && indent == 0:
			open = 0
		}
		if blank = len(rest) == 0; bytes.HasPrefix(rest, []byte("[")) {
			definitions++
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
		marks := 0
		for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
			for _, b := range line.Value(source) {
				if isMark[b] {
					marks++
				}
			}
		}
		if total += marks * marks; total > maxIntricacy {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return total > maxIntricacy
}

// isMark tells the bytes that may begin or end something in a paragraph.
var isMark = func() (is [256]bool) {
	for _, b := range []byte("*_~[]!<`") {
		is[b] = true
	}
	return is
}()

// nesting is how many marks of quotes and lists a line begins with, how far they and what
// is behind them are indented, and what that is.
func nesting(line []byte) (depth, indent int, rest []byte) {
	for line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0; {
		mark := 1
		switch b := line[0]; {
		case b == ' ' || b == '\t':
			if indent++; b == '\t' {
				indent += 3
			}
			line = line[1:]
			continue
		case b == '>':
		case b == '-' || b == '*' || b == '+':
			if len(line) > 1 && line[1] != ' ' && line[1] != '\t' {
				return depth, indent, line
			}
		default:
			mark = len(line) - len(bytes.TrimLeft(line, "0123456789")) + 1
			if mark == 1 || mark > len(line) || line[mark-1] != '.' && line[mark-1] != ')' {
				return depth, indent, line
			}
		}
		depth, line = depth+1, line[mark:]
	}
	return depth, indent, nil
}
