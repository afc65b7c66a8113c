package web

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// These limit the cost of rendering. Without limits, the library would need minutes and gigabytes for some small texts.
// A usual document costs a thousandth of the limits.
const (
	// maxIntricacy limits the estimated time to about half a second. The estimate grows with these numbers:
	//   - the square of a paragraph's marks, and of its link definitions
	//   - the square of a line's quotes and lists
	//   - the square of the pipes in a table's code
	//   - the indentation of nested blocks
	//   - rows times columns of a table
	//   - the length of the text in which the renderer searches for the end of a mark and finds none
	maxIntricacy = 150_000_000
	// maxOpen limits the estimated memory to about 200 MB. The estimate is the number of open lists and quotes, summed
	// over all lines.
	maxOpen = 2_000_000
)

// blocks finds the blocks of a document, as the renderer does. It does not parse the text inside the blocks.
var blocks = parser.NewParser(
	parser.WithBlockParsers(append(parser.DefaultBlockParsers(), obsidianBlocks()...)...),
	parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
)

// intricate reports whether rendering a text would take too long or too much memory.
func intricate(source []byte) bool {
	total, lines, definitions, open, columns, pipes, blank := 0, 0, 0, 0, 0, 0, true
	for line := range bytes.Lines(source) {
		if _, text, ok := footnoteLabel(bytes.TrimLeft(line, " ")); ok && bytes.HasPrefix(text, []byte(":")) {
			line = text[1:] // quotes and lists may begin behind it
		}
		quotes, items, indent, rest := nesting(line)
		depth := quotes + items
		if len(rest) == 0 || items > 0 { // no paragraph continues
			definitions = 0
		}
		if len(rest) == 0 {
			columns = 0
		} else if columns = max(columns, columnsOf(rest)); columns > 0 {
			total += cellCost * columns // every row has all columns, also a shorter one
			pipes += bytes.Count(rest, []byte(`\|`))
		}
		switch {
		case len(rest) == 0: // open blocks stay open
		case depth > 0:
			open = max(open, depth+indent/2)
		case blank && indent == 0:
			open = 0
		}
		if blank = len(rest) == 0; !blank && definitions > 0 || bytes.HasPrefix(rest, []byte("[")) {
			definitions++ // a definition may continue over lines
		}
		lines += open
		if total += depth*depth + 2*open*indent + 2*definitions; total > maxIntricacy || lines > maxOpen {
			return true
		}
	}
	if total += pipes * pipes * 2 / 3; total > maxIntricacy { // each pipe is compared with all
		return true
	}
	_ = ast.Walk(blocks.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || n.IsRaw() {
			return ast.WalkContinue, nil
		}
		emphasis, links, begun, others, size, search, escaped := 0, 0, 0, 0, 0, 0, 0
		runs := map[int]bool{} // the lengths of the runs of backticks
		for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
			text := line.Value(source)
			size, search = size+len(text), search+lineCost+len(text)/2
			escaped += backticksIn(text, runs)
			all, open := linksIn(text)
			links, begun = links+all, begun+open
			for _, b := range text {
				switch b {
				case '*', '_', '~', '=':
					emphasis++
				case '[', ']', '!', '<', '`':
					others++
				}
			}
		}
		// A run of backticks searches for the next run of the same length. Only the last run of a length finds none.
		// Each escaped run may find none.
		total += emphasis*emphasis + links*links + others*others/40 + begun*size/2 + 2*(len(runs)+escaped)*search
		if total > maxIntricacy {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return total > maxIntricacy
}

// cellCost is the estimated cost of one cell in a table, in the unit of maxIntricacy.
const cellCost = 650

// columnsOf returns the number of columns if a line defines a table, or 0.
func columnsOf(line []byte) int {
	if !bytes.ContainsRune(line, '|') || len(bytes.Trim(line, "|-: \t")) > 0 {
		return 0
	}
	return bytes.Count(line, []byte("|")) + 1
}

// linkLength limits the address and title of a link, in bytes.
const linkLength = 300

// linksIn counts the link addresses that begin in a line. open counts the addresses that do not end within linkLength.
func linksIn(line []byte) (all, open int) {
	for {
		_, rest, found := bytes.Cut(line, []byte("]("))
		if !found {
			return all, open
		}
		soon := rest[:min(len(rest), linkLength)]
		if all++; !bytes.ContainsRune(soon, ')') || bytes.HasPrefix(soon, []byte("<")) && !bytes.ContainsRune(soon, '>') {
			open++
		}
		line = rest
	}
}

// backticksIn adds the lengths of a line's runs of backticks to lengths. escaped counts the runs of two or more behind
// a backslash. In such a run, the first backtick is text. The other backticks begin code that ends at a run of the same
// length.
func backticksIn(line []byte, lengths map[int]bool) (escaped int) {
	for {
		start := bytes.IndexByte(line, '`')
		if start < 0 {
			return escaped
		}
		rest := bytes.TrimLeft(line[start:], "`")
		length := len(line) - start - len(rest)
		lengths[length] = true
		backslashes := start - len(bytes.TrimRight(line[:start], `\`))
		if length > 1 && backslashes%2 == 1 {
			escaped++
		}
		line = rest
	}
}

// lineCost is the cost of each line, besides its bytes, when the renderer searches for the end of code.
const lineCost = 70

// nesting counts the marks of quotes and of list items at the beginning of a line. It also returns the indentation of
// the line, and rest, the text after the marks.
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
