package web

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// obsidian extends Markdown with what Obsidian and others add: ==marks==, %%comments%%, block names, footnotes,
// formulas, and task boxes. Unclear signs stay text. The page shows formulas and comments as they are written.
type obsidian struct{}

func (obsidian) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(obsidianBlocks()...),
		parser.WithInlineParsers(util.Prioritized(taskParser{extension.NewTaskCheckBoxParser()}, 0),
			util.Prioritized(inlineParser{"[", parseFootnoteLink}, 140),
			util.Prioritized(highlightParser{}, 500), util.Prioritized(inlineParser{"%$", parseEnclosed}, 500),
			util.Prioritized(inlineParser{"^", parseBlockName}, 500)))
	m.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(footnotePlaces{}, 200)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
		util.Prioritized(obsidianHTML{}, 500)))
}

func obsidianBlocks() []util.PrioritizedValue {
	return []util.PrioritizedValue{util.Prioritized(footnoteParser{}, 900), util.Prioritized(fencedParser{}, 850)}
}

// inlineParser calls the function parse at each character that is in signs.
type inlineParser struct {
	signs string
	parse func(block text.Reader, pc parser.Context) ast.Node
}

func (p inlineParser) Trigger() []byte { return []byte(p.signs) }

func (p inlineParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	return p.parse(block, pc)
}

// interruptingParser has the methods that the block parsers here share. Their blocks can interrupt a paragraph.
type interruptingParser struct{}

func (interruptingParser) Close(ast.Node, text.Reader, parser.Context) {}

func (interruptingParser) CanInterruptParagraph() bool { return true }

func (interruptingParser) CanAcceptIndentedLine() bool { return false }

var (
	kindInline = ast.NewNodeKind("ObsidianInline")
	kindBlock  = ast.NewNodeKind("ObsidianBlock")
)

// inlineNode is an element inside a line.
type inlineNode struct {
	ast.BaseInline
	open, close string // HTML around the content
	footnote    bool   // a link to a footnote
}

func (*inlineNode) Kind() ast.NodeKind           { return kindInline }
func (n *inlineNode) Dump(source []byte, at int) { ast.DumpHelper(n, source, at, nil, nil) }

// blockNode is an element that contains lines or other blocks.
type blockNode struct {
	ast.BaseBlock
	open, close string // HTML around the content
	sign        string // the sign at both ends, "%%" or "$$"; or ""
	ended       bool   // the line with the second sign was read
	footnote    string // the label of a footnote
}

func (*blockNode) Kind() ast.NodeKind           { return kindBlock }
func (n *blockNode) IsRaw() bool                { return n.sign != "" }
func (n *blockNode) Dump(source []byte, at int) { ast.DumpHelper(n, source, at, nil, nil) }

// obsidianHTML renders inlineNode and blockNode.
type obsidianHTML struct{}

func (obsidianHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(kindInline, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(n.(*inlineNode).open)
		} else {
			_, _ = w.WriteString(n.(*inlineNode).close)
		}
		return ast.WalkContinue, nil
	})
	r.Register(kindBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			_, _ = w.WriteString(n.(*blockNode).close + "\n")
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString(n.(*blockNode).open)
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			_, _ = w.Write(util.EscapeHTML(line.Value(source)))
		}
		return ast.WalkContinue, nil
	})
}

// wordByte reports whether a character is an ASCII letter or digit. A sign beside such a character is usually code.
func wordByte[T byte | rune](c T) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func wordAt(line []byte, i int) bool { return i < len(line) && wordByte(line[i]) }

// highlightParser parses ==marks==.
type highlightParser struct{}

func (highlightParser) Trigger() []byte { return []byte{'='} }

func (p highlightParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, p)
	if node == nil || node.OriginalLength != 2 || before == '=' {
		return nil
	}
	node.CanOpen = node.CanOpen && !wordByte(before)
	node.CanClose = node.CanClose && !wordAt(line, 2)
	node.Segment = segment.WithStop(segment.Start + 2)
	block.Advance(2)
	pc.PushDelimiter(node)
	return node
}

func (highlightParser) IsDelimiter(b byte) bool { return b == '=' }

func (highlightParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (highlightParser) OnMatch(int) ast.Node {
	return &inlineNode{open: `<span class="highlight">`, close: `</span>`}
}

// parseEnclosed parses a %%comment%% or a $formula$ inside a paragraph. It searches only up to the next sign, so its
// time stays linear.
func parseEnclosed(block text.Reader, _ parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	sign, node := []byte("%%"), &inlineNode{open: `<span class="comment">`, close: `</span>`}
	if line[0] == '$' {
		sign, node = line[:1], &inlineNode{open: `<code class="math">`, close: `</code>`}
		if bytes.HasPrefix(line, []byte("$$")) {
			sign = line[:2]
		}
	}
	short := len(sign) == 1
	if !bytes.HasPrefix(line, sign) || wordByte(before) || before == rune(sign[0]) ||
		short && len(line) > 1 && util.IsSpace(line[1]) {
		return nil
	}
	at, where := block.Position()
	for from := len(sign); ; from = 0 {
		if end := bytes.Index(line[from:], sign); end >= 0 {
			end += from
			behind := end + len(sign)
			program := short && (util.IsSpace(line[end-1]) ||
				behind < len(line) && bytes.IndexByte([]byte("{$"), line[behind]) >= 0)
			if wordAt(line, behind) || program || from > 0 && end == from {
				break
			}
			node.AppendChild(node, ast.NewRawTextSegment(segment.WithStop(segment.Start-segment.Padding+behind)))
			block.Advance(behind)
			return node
		}
		node.AppendChild(node, ast.NewRawTextSegment(segment))
		block.AdvanceLine()
		if line, segment = block.PeekLine(); short || line == nil {
			break
		}
	}
	block.SetPosition(at, where)
	return nil
}

// fencedParser parses comments and formulas of several lines, which begin and end with a sign.
type fencedParser struct{ interruptingParser }

func (fencedParser) Trigger() []byte { return []byte{'%', '$'} }

func (fencedParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || parent.Kind() != ast.KindDocument {
		return nil, parser.NoChildren
	}
	node := &blockNode{open: `<div class="comment">`, close: `</div>`, sign: "%%"}
	if line[at] == '$' {
		node = &blockNode{open: `<pre class="math">`, close: `</pre>`, sign: "$$"}
	}
	begin, found := bytes.CutPrefix(line[at:], []byte(node.sign))
	if !found || bytes.Contains(begin, []byte(node.sign)) || !ends(reader.Source()[segment.Stop:], node.sign) {
		return nil, parser.NoChildren
	}
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return node, parser.NoChildren
}

// ends reports whether the next sign in source is at the end of a line.
func ends(source []byte, sign string) bool {
	_, behind, found := bytes.Cut(source, []byte(sign))
	line, _, _ := bytes.Cut(behind, []byte("\n"))
	return found && len(bytes.TrimSpace(line)) == 0
}

func (fencedParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	node := n.(*blockNode)
	if node.ended {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	node.Lines().Append(segment)
	node.ended = bytes.Contains(line, []byte(node.sign))
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// parseBlockName removes the name of a block, such as ^this, at the end of the block. It does not remove ^2, which may
// be a power, nor ^C before another line, which may be a key.
func parseBlockName(block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	name := bytes.TrimRight(line[1:], " \t\r\n")
	if !util.IsSpaceRune(block.PrecendingCharacter()) || len(bytes.TrimLeft(name, "0123456789")) == 0 {
		return nil
	}
	for _, c := range name {
		if !wordByte(c) && c != '-' {
			return nil
		}
	}
	at, where := block.Position()
	block.AdvanceLine()
	next, _ := block.PeekLine()
	block.SetPosition(at, where)
	if next != nil {
		return nil
	}
	block.Advance(1 + len(name))
	return &inlineNode{}
}

// maxLabel limits the label of a footnote.
const maxLabel = 100

// footnoteLabel splits a line that begins with "[^" into the label of the footnote and the rest of the line. ok is
// false if the line does not begin with a label.
func footnoteLabel(line []byte) (label, rest []byte, ok bool) {
	line, ok = bytes.CutPrefix(line, []byte("[^"))
	end := bytes.IndexByte(line[:min(len(line), maxLabel+1)], ']')
	if !ok || end < 1 || util.IsBlank(line[:end]) || bytes.IndexByte(line[:end], '[') >= 0 {
		return nil, nil, false
	}
	return line[:end], line[end+1:], true
}

// footnotes maps the label of each footnote in the text to true if a link leads to it.
type footnotes map[string]bool

var footnotesKey = parser.NewContextKey()

func footnotesOf(pc parser.Context) footnotes {
	return pc.ComputeIfAbsent(footnotesKey, func() any { return footnotes{} }).(footnotes)
}

// footnoteParser parses a footnote. The page shows the footnote in the place where it was written.
type footnoteParser struct{ interruptingParser }

func (footnoteParser) Trigger() []byte { return []byte{'['} }

func (footnoteParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || parent.Kind() != ast.KindDocument {
		return nil, parser.NoChildren
	}
	label, rest, ok := footnoteLabel(line[at:])
	if !ok || !bytes.HasPrefix(rest, []byte(":")) {
		return nil, parser.NoChildren
	}
	id := ""
	address, name := url.PathEscape(string(label)), util.EscapeHTML(label)
	if notes := footnotesOf(pc); !has(notes, string(label)) {
		notes[string(label)] = false
		id = fmt.Sprintf(` id="note:%s"`, address)
	}
	node := &blockNode{footnote: string(label), close: `</div>`,
		open: fmt.Sprintf(`<div class="footnote"%s role="note" tabindex="-1"><a class="footnote" href="#ref:%s" `+
			`role="doc-backlink" aria-label="back from footnote %s">%s</a>`+"\n", id, address, name, name)}
	reader.Advance(len(line) - len(rest) + 1)
	return node, parser.HasChildren
}

func has(notes footnotes, label string) bool {
	_, there := notes[label]
	return there
}

func (footnoteParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Continue | parser.HasChildren
	}
	at, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	if at < 0 {
		return parser.Close
	}
	reader.AdvanceAndSetPadding(at, padding)
	return parser.Continue | parser.HasChildren
}

// parseFootnoteLink parses [^1] as a link, if the footnote exists.
func parseFootnoteLink(block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	label, rest, ok := footnoteLabel(line)
	notes := footnotesOf(pc)
	if !ok || !has(notes, string(label)) {
		return nil
	}
	id := ""
	address, name := url.PathEscape(string(label)), util.EscapeHTML(label)
	if !notes[string(label)] { // the link back from the footnote leads to its first link
		notes[string(label)] = true
		id = fmt.Sprintf(` id="ref:%s"`, address)
	}
	block.Advance(len(line) - len(rest))
	return &inlineNode{footnote: true, open: fmt.Sprintf(`<sup><a class="footnote"%s href="#note:%s" `+
		`role="doc-noteref" aria-label="footnote %s">%s</a></sup>`, id, address, name, name)}
}

// footnotePlaces is a step after parsing that corrects footnotes. If no link leads to a footnote, it removes the link
// from the footnote back to the text. HTML does not allow a link in a link. If a footnote link is inside another link,
// footnotePlaces moves the footnote link behind the other link.
type footnotePlaces struct{}

func (footnotePlaces) Transform(doc *ast.Document, _ text.Reader, pc parser.Context) {
	var links []*ast.Link
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *blockNode:
			if entering && n.footnote != "" && !footnotesOf(pc)[n.footnote] {
				begin, _, _ := strings.Cut(n.open, "<a ")
				n.open = fmt.Sprintf("%s<span>%s</span>\n", begin, util.EscapeHTML([]byte(n.footnote)))
			}
		case *ast.Link:
			if entering {
				links = append(links, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		var within []ast.Node
		_ = ast.Walk(link, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if n, ok := n.(*inlineNode); ok && entering && n.footnote {
				within = append(within, n)
			}
			return ast.WalkContinue, nil
		})
		for _, n := range slices.Backward(within) {
			n.Parent().RemoveChild(n.Parent(), n)
			link.Parent().InsertAfter(link.Parent(), link, n)
		}
	}
}

// taskParser parses the check boxes of tasks. A space must follow the box, because [X](https://x.org) is a link.
type taskParser struct{ parser.InlineParser }

func (p taskParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); len(line) > 3 && !util.IsSpace(line[3]) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}
