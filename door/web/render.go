package web

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/attributes"
	"sheaf/internal/wikilink"
	"sheaf/text/chunk"
)

// render sets the HTML of a page from the text of a document. If the document is too intricate, the page gets plain
// text instead. HTML in the document appears as text, and images become links. Links lead to documents of the
// collection or to other sites. Each heading of a chunk has the ID of the chunk.
func (p *page) render(part *collection.Part, doc *sheaf.Document) error {
	if chunk.KindOf(doc.Path) != chunk.KindMarkdown {
		p.Text = part.Text
		return nil
	}
	front := 0
	if !doc.FrontmatterText {
		front = min(doc.Frontmatter.End, len(part.Text))
	}
	source := []byte(part.Text[front:])
	for i := range doc.Chunks {
		withoutAttributes(source, &doc.Chunks[i], front)
	}
	if intricate(source) {
		p.Text, p.Intricate = part.Text, true
		return nil
	}
	t := &transformer{doc: doc, front: front, links: map[string]sheaf.ID{}}
	for _, l := range part.Links {
		t.links[linkKey(l.Target, l.Fragment)] = l.To
	}
	md := goldmark.New(
		// The policy forbids styles of cells.
		goldmark.WithExtensions(obsidian{}, extension.Linkify, extension.Strikethrough,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(t, 100)),
			parser.WithInlineParsers(util.Prioritized(inlineParser{"[!", parseWiki}, 150))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(plainHTML{}, 1))),
	)
	var out bytes.Buffer
	if err := md.Convert(source, &out); err != nil {
		return fmt.Errorf("show %s: %w", doc.ID, err)
	}
	p.HTML = out.String()
	return nil
}

// behindHeading matches what follows the text of a heading: closing hashes, or the underline.
var behindHeading = regexp.MustCompile(`[ \t]*(?:#+[ \t]*|\r?\n[ \t>]*(?:=+|-+)[ \t]*)?\s*$`)

// withoutAttributes replaces the attribute list after a chunk's heading by spaces, unless the title contains the list.
// source begins at byte front of the document.
func withoutAttributes(source []byte, c *sheaf.Chunk, front int) {
	from, to := c.Heading.Start-front, min(c.Heading.End-front, len(source))
	if !c.HasHeading() || from < 0 || from >= to || c.Title == "" || strings.HasSuffix(c.Title, "}") {
		return
	}
	text := source[from:to]
	text = text[:behindHeading.FindIndex(text)[0]]
	if rest, _, ok := attributes.Cut(string(text)); ok {
		list := text[len(rest):]
		copy(list, bytes.Repeat([]byte(" "), len(list)))
	}
}

// linkKey returns the key of a link in transformer.links: the target and the fragment, as written.
func linkKey(target, fragment string) string { return target + "\x00" + fragment }

// transformer adds the IDs of chunks to headings, and sets the targets of links.
type transformer struct {
	doc   *sheaf.Document
	front int
	links map[string]sheaf.ID
}

func (t *transformer) Transform(node *ast.Document, reader text.Reader, _ parser.Context) {
	chunks := t.doc.Chunks
	var late []ast.Node // these nodes may leave the tree, which would stop the walk
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Lines().Len() == 0 {
				break
			}
			at := n.Lines().At(0).Start + t.front
			for len(chunks) > 0 && (!chunks[0].HasHeading() || chunks[0].Heading.End <= at) {
				chunks = chunks[1:]
			}
			if len(chunks) > 0 && chunks[0].Heading.Start <= at {
				n.SetAttributeString("data-id", []byte(chunks[0].ID))
				n.SetAttributeString("tabindex", []byte("-1"))
			}
		case *ast.List, *ast.Blockquote:
			n.SetAttributeString("dir", []byte("auto")) // puts marks and bars on the side where the text begins
		case *ast.Link:
			t.lead(n, string(n.Destination))
		case *ast.AutoLink, *ast.Image:
			late = append(late, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range late {
		switch n := n.(type) {
		case *ast.AutoLink:
			t.autoLink(n, reader.Source())
		case *ast.Image:
			t.unpicture(n)
		}
	}
}

// lead makes a link lead to its target on the page. written is the address of the link in the document.
func (t *transformer) lead(n *ast.Link, written string) {
	n.Destination = t.destination(written)
	openApart(n, n.Destination)
}

// openApart makes a link to another site open a new window. It does not change links that open another program, such as
// mail: their new window would stay empty.
func openApart(n ast.Node, address []byte) {
	if bytes.HasPrefix(bytes.ToLower(address), []byte("http")) {
		n.SetAttributeString("rel", []byte("noreferrer noopener"))
		n.SetAttributeString("target", []byte("_blank"))
	}
}

// destination returns the target of a link on the page; written is its address in the document. For a document of the
// collection, the target shows this document on the page. An address that [mayLink] allows stays unchanged. For any
// other address, destination returns nowhere.
func (t *transformer) destination(written string) []byte {
	target, fragment, _ := strings.Cut(written, "#")
	for _, key := range []string{linkKey(target, fragment), linkKey(unescaped(target), unescaped(fragment))} {
		if to := t.links[key]; to != "" {
			return documentAddress(to)
		}
	}
	if target == "" && fragment != "" {
		return documentAddress(sheaf.ChunkID(t.doc.ID, fragment))
	}
	if mayLink(written) {
		return []byte(written)
	}
	return nowhere
}

// mayLink reports whether a link on the page may lead to this address.
func mayLink(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto" || u.Scheme == "obsidian")
}

// nowhere is the address of a link without target. The page removes such a link.
var nowhere = []byte("#")

func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func documentAddress(id sheaf.ID) []byte {
	return []byte("?" + url.Values{"view": {"document"}, "id": {string(id)}}.Encode())
}

// autoLink sets the target of an address that the text shows as a link. An address that is not allowed becomes text.
func (t *transformer) autoLink(n *ast.AutoLink, source []byte) {
	address := n.URL(source)
	if n.AutoLinkType == ast.AutoLinkEmail {
		return
	}
	if mayLink(string(address)) {
		openApart(n, address)
		return
	}
	if parent := n.Parent(); parent != nil {
		parent.ReplaceChild(parent, n, ast.NewString(n.Label(source)))
	}
}

// unpicture replaces an image by a link, or, inside another link, by its name. The page cannot show images: it loads
// nothing from other sites, and the server serves no files of the folder.
func (t *transformer) unpicture(n *ast.Image) {
	var link ast.Node = &inlineNode{open: `<span class="image">`, close: `</span>`}
	if !inLink(n) {
		to := ast.NewLink()
		t.lead(to, string(n.Destination))
		link = to
	}
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling()
		link.AppendChild(link, c)
		c = next
	}
	if !link.HasChildren() {
		link.AppendChild(link, ast.NewString([]byte("image")))
	}
	link.SetAttributeString("class", []byte("image"))
	if parent := n.Parent(); parent != nil {
		parent.ReplaceChild(parent, n, link)
	}
}

// inLink reports whether an element is inside a link.
func inLink(n ast.Node) bool {
	for p := n.Parent(); p != nil && p.Type() == ast.TypeInline; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

// plainHTML renders HTML in a document as plain text.
type plainHTML struct{}

func (plainHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			segments := n.(*ast.RawHTML).Segments
			for i := range segments.Len() {
				s := segments.At(i)
				_, _ = w.Write(util.EscapeHTML(s.Value(source)))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus,
		error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString("<pre class=\"html\">")
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			_, _ = w.Write(util.EscapeHTML(s.Value(source)))
		}
		if b := n.(*ast.HTMLBlock); b.HasClosure() {
			_, _ = w.Write(util.EscapeHTML(b.ClosureLine.Value(source)))
		}
		_, _ = w.WriteString("</pre>\n")
		return ast.WalkContinue, nil
	})
}

// maxWiki limits how far parseWiki searches for the end of a wiki link.
const maxWiki = 1000

// parseWiki parses the link [[target#fragment|text]]. It parses the embedding ![[target]] as a link too.
func parseWiki(block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	line, embeds := bytes.CutPrefix(line, []byte("!"))
	if len(line) < 5 || line[0] != '[' || line[1] != '[' {
		return nil
	}
	end := bytes.Index(line[:min(len(line), maxWiki)], []byte("]]"))
	if end < 3 || bytes.IndexByte(line[2:end], '[') >= 0 {
		return nil
	}
	if _, size, ok := wikilink.Parse(string(line[2:min(len(line), 2*maxWiki)])); !ok || size != end {
		return nil
	}
	target, shown, named := strings.Cut(string(line[2:end]), "|")
	target = strings.TrimSuffix(target, `\`) // in tables
	if !named || embeds {                    // an embedded picture has its width there
		shown = target
	}
	if embeds {
		block.Advance(1)
	}
	block.Advance(end + 2)
	link := ast.NewLink()
	link.Destination = []byte(target)
	link.AppendChild(link, ast.NewString([]byte(shown)))
	if name, _, _ := strings.Cut(target, "#"); embeds && picture[strings.ToLower(path.Ext(name))] {
		link.SetAttributeString("class", []byte("image"))
	}
	return link
}

// picture has the file extensions that mean a picture.
var picture = map[string]bool{".avif": true, ".bmp": true, ".gif": true, ".jpeg": true, ".jpg": true, ".png": true,
	".svg": true, ".webp": true}
