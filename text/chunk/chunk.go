// Package chunk answers the question "what parts does a document have?". It cuts Markdown into a tree of headings,
// sections or windows, and plain text and source code into pieces. It finds titles, slugs, breadcrumbs, links, tags
// and properties. Positions are bytes in the original file.
//
// The main type is [Chunker]; [For] chooses a chunker by the name of a file. This package reads no
// files, resolves no links between documents, and analyzes no words.
package chunk

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unsafe"

	"sheaf"
	"sheaf/internal/wikilink"
)

// Chunker cuts one document into chunks. Chunkers are safe for concurrent use.
type Chunker interface {
	// Name returns the chunker's name with its options, as an index records it.
	Name() string
	// Chunk cuts content. tree and path (with slashes) give the document its ID. Any bytes are allowed; faults of the
	// file become warnings of the document. Strings of the result share memory with content, which must not change
	// while the result is in use. A document of only white space has no chunks.
	Chunk(tree, path string, content []byte) sheaf.Document
}

// Options say how documents are cut into chunks.
type Options struct {
	// Chunker is "tree" (the default), "sections" or "window".
	Chunker string
	// GitHubSlugs ignores ids that authors gave headings: "{#id}" and other attribute lists stay part of the title.
	GitHubSlugs bool
	Sections    SectionOptions
	Window      WindowOptions
}

// Kind is the kind of text in a file: Markdown, code or plain text.
type Kind uint8

// These are the kinds of file.
const (
	KindMarkdown Kind = iota + 1
	KindText
	KindCode
)

// KindOf returns the kind of a file by its name. The endings in [wikilink.MarkdownEndings], in any case, mean
// Markdown. Endings of well-known programming languages mean code, all others plain text.
func KindOf(name string) Kind {
	switch ext := strings.ToLower(path.Ext(name)); {
	case slices.Contains(wikilink.MarkdownEndings[:], ext):
		return KindMarkdown
	case codeExtensions[ext]:
		return KindCode
	}
	return KindText
}

var codeExtensions = wordsOf(`
	.go .rs .c .h .cc .cpp .cxx .hpp .hh .java .kt .kts .scala .swift .m .mm .cs .fs .vb .py .pyi .rb
	.pl .pm .php .js .jsx .mjs .cjs .ts .tsx .vue .svelte .dart .lua .r .jl .ex .exs .erl .hrl .hs
	.ml .mli .clj .cljs .lisp .el .scm .zig .nim .v .d .sh .bash .zsh .fish .ps1 .psm1 .bat .cmd .sql
	.proto .graphql .tf .nix .cmake .gradle .groovy .asm .s .css .scss .sass .less .html .htm .xml
	.json .jsonl .yaml .yml .toml .ini .cfg .conf .properties .mk .dockerfile`)

func wordsOf(s string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		set[word] = true
	}
	return set
}

// New returns the chunker of the options. Its errors wrap sheaf.ErrInvalid.
func New(o Options) (Chunker, error) {
	switch o.Chunker {
	case "", "tree":
		return tree{githubSlugs: o.GitHubSlugs}, nil
	case "sections":
		return newSections(o.Sections, o.GitHubSlugs)
	case "window":
		return newWindow(o.Window, o.GitHubSlugs)
	}
	return nil, sheaf.Invalidf("chunker %q: must be tree, sections or window", o.Chunker)
}

// For returns the chunker for the file with this name. This is the chunker of the options, with one exception. If the
// options say tree, a code file gets a chunker that cuts by lines.
func For(name string, o Options) (Chunker, error) {
	if KindOf(name) == KindCode && (o.Chunker == "" || o.Chunker == "tree") {
		return code{}, nil
	}
	return New(o)
}

const byteOrderMark = "\ufeff"

// source is the file that is being cut.
type source struct {
	doc   sheaf.Document
	src   string
	start int // after the byte order mark
	front frontmatter
	scan  scanner
	// titles has the title of each heading in scan. ids has the id that the author gave to the heading, or "".
	titles []string
	ids    []string
}

// read parses what all chunkers need: frontmatter, headings and title.
func read(treeName, name string, content []byte, githubSlugs bool) *source {
	s := &source{src: unsafe.String(unsafe.SliceData(content), len(content))}
	s.doc = sheaf.Document{ID: sheaf.DocumentID(treeName, name), Tree: treeName, Path: name, Title: path.Base(name)}
	if dot := strings.LastIndexByte(s.doc.Title, '.'); dot > 0 {
		s.doc.Title = s.doc.Title[:dot]
	}
	if strings.HasPrefix(s.src, byteOrderMark) {
		s.start = len(byteOrderMark)
	}
	if KindOf(name) != KindMarkdown {
		return s
	}
	begin := s.start
	front, ok := findFrontmatter(s.src, s.start)
	rule := false // the block is text between two Markdown rules: it begins with an empty line and has no keys
	if ok {
		front.read(s.src)
		inner := strings.TrimLeft(s.src[front.inner.start:front.inner.end], " \t")
		rule = front.useless && len(front.properties) == 0 && strings.IndexAny(inner, "\r\n") == 0
	}
	if ok && !rule {
		s.front, begin = front, front.whole.end
		s.doc.Frontmatter = sheaf.Span{Start: front.whole.start, End: front.whole.end}
		s.doc.FrontmatterText = front.useless
		s.doc.Aliases, s.doc.Tags = front.aliases, front.tags
		s.doc.Properties, s.doc.Warnings = front.properties, front.warnings
	} else if !ok && unclosed().MatchString(s.src[s.start:]) {
		s.doc.Warnings = []sheaf.Warning{{Line: 1, Message: "frontmatter: no line --- closes it; it is read as text"}}
	}
	if page := pageName(s.doc.Title); page != s.doc.Title {
		s.doc.Title, s.doc.Aliases = page, append(s.doc.Aliases, page)
	}
	if strings.EqualFold(path.Ext(name), ".mdx") && !s.doc.FrontmatterText {
		if end := moduleEnd(s.src, begin); end > begin {
			s.front.whole, begin = span{s.start, end}, end
			s.doc.Frontmatter = sheaf.Span{Start: s.start, End: end}
		}
	}
	s.scan.scan(s.src, begin)
	s.titles, s.ids = make([]string, len(s.scan.headings)), make([]string, len(s.scan.headings))
	for i := range s.scan.headings {
		s.titles[i], s.ids[i] = s.scan.headingTitle(&s.scan.headings[i], githubSlugs)
	}
	s.doc.Title = shortened(s.title())
	return s
}

// pageName returns the name of the page that Logseq keeps in a file: "a/b?" for the file name "a___b%3F".
func pageName(file string) string {
	page := strings.ReplaceAll(file, "___", "/")
	if decoded, err := url.PathUnescape(page); err == nil {
		page = showable(decoded)
	}
	return page
}

// title returns the title in the frontmatter, else the first titled heading of level 1, else the file's name.
func (s *source) title() string {
	if s.front.title != "" {
		return s.front.title
	}
	for i, h := range s.scan.headings {
		if h.level == 1 && s.titles[i] != "" {
			return s.titles[i]
		}
	}
	return s.doc.Title
}

// maxCrumb is the largest number of bytes of a title that chunks below it repeat. Without a limit, a title as long as a
// file could be repeated in many chunks.
const maxCrumb = 1000

// shortened returns a title cut to maxCrumb bytes, with an ellipsis if something was cut.
func shortened(title string) string {
	if len(title) <= maxCrumb {
		return title
	}
	return firstBytes(title, maxCrumb) + "…"
}

// empty reports whether the file has only white space after its byte order mark.
func (s *source) empty() bool { return blankText(s.src[s.start:]) }
