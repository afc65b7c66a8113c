package main

import (
	"html"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// page is one Markdown file.
type page struct {
	path     string
	text     string
	title    string
	names    []string // addresses that the front matter gives to the page
	body     int      // where the text begins, after the front matter
	headings []heading
	masked   string // text without front matter, code and comments; offsets are equal
}

// heading is one heading with the position of its line or lines.
type heading struct {
	start, end int
	level      int
	raw        string
	text       string
	slug       string
}

var (
	frontLine    = regexp.MustCompile(`(?m)^(title|linkTitle|url|slug|permalink|aliases|layout)\s*[:=]\s*(.+?)\s*$`)
	frontAlias   = regexp.MustCompile(`(?m)^ *- *["']?(/[^"'\s]+)["']?\s*$`)
	atxHeading   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	fence        = regexp.MustCompile("^[ \t]*(?:[-*+][ \t]+|[0-9]+[.)][ \t]+)?(`{3,}|~{3,})(.*)$")
	htmlComment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	codeSpan     = regexp.MustCompile("(?s)``[^`].*?``|`[^`\n]+`")
	headingID    = regexp.MustCompile(`\s*\{(?:/\*)?\s*\\?#[^}]*\}\s*$|\s*\{:[^}]*\}\s*$|\s*\{/\*.*?\*/\}\s*$`)
	shortcode    = regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}`)
	htmlTag      = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	emojiName    = regexp.MustCompile(`:[a-z0-9_+-]+:`)
	image        = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|!\[\[[^\]]*\]\]`)
	plainLink    = regexp.MustCompile(`\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])?`)
	wikiText     = regexp.MustCompile(`\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]`)
	emphasis     = regexp.MustCompile(`\*\*|__|\*|(?:^|\b)_|_(?:$|\b)|~~|==`)
	escaped      = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)
	manySpaces   = regexp.MustCompile(`\s+`)
	slugDrop     = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_\- ]+`)
	underlineOne = regexp.MustCompile(`^ {0,3}(=+|-{3,})[ \t]*$`)
)

// readPages reads the Markdown pages of the source that o names.
func readPages(o *options) ([]*page, error) {
	files, err := readFiles(o, isMarkdown)
	if err != nil {
		return nil, err
	}
	var pages []*page
	for _, f := range files {
		if p := parsePage(f.path, f.text); len(strings.Fields(p.text[p.body:])) >= 5 || longUnspaced(p.text[p.body:]) {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

func parsePage(name, text string) *page {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	p := &page{path: name, text: text}
	front := p.frontMatter()
	p.mask()
	p.findHeadings()
	for _, m := range frontLine.FindAllStringSubmatch(front, -1) {
		value := strings.TrimSpace(strings.Trim(m[2], `"'`))
		switch m[1] {
		case "title":
			if p.title == "" {
				p.title = plain(value)
			}
		case "url", "permalink":
			p.names = append(p.names, value)
		}
	}
	for _, m := range frontAlias.FindAllStringSubmatch(front, -1) {
		p.names = append(p.names, m[1])
	}
	for i, h := range p.headings {
		if p.title != "" {
			break
		}
		if h.level == 1 || i == 0 && strings.Trim(p.masked[:h.start], " \n\x00") == "" {
			p.title = h.text
		}
	}
	if p.title == "" {
		p.title = nameOf(name)
	}
	return p
}

// nameOf returns the name of a page: its file name, or for an index the name of its folder.
func nameOf(name string) string {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch strings.ToLower(stem) {
	case "index", "_index", "readme":
		if dir := path.Base(path.Dir(name)); dir != "." {
			return dir
		}
	}
	return stem
}

// frontMatter sets body and returns the text of the front matter.
func (p *page) frontMatter() string {
	for _, mark := range []string{"---\n", "+++\n"} {
		if !strings.HasPrefix(p.text, mark) {
			continue
		}
		end := strings.Index(p.text[len(mark):], "\n"+mark[:3])
		if end < 0 {
			continue
		}
		front := p.text[len(mark) : len(mark)+end]
		p.body = len(mark) + end + len(mark)
		if eol := strings.IndexByte(p.text[p.body:], '\n'); eol >= 0 {
			p.body += eol + 1
		} else {
			p.body = len(p.text)
		}
		return front
	}
	return ""
}

// mask sets p.masked to the text with zero bytes in place of parts without real links and headings. These parts are the
// front matter, code blocks, HTML comments, and inline code with brackets.
func (p *page) mask() {
	b := []byte(p.text)
	blank(b[:p.body])
	open, end := "", p.body
	for line := range strings.Lines(p.text[p.body:]) {
		at := end
		end += len(line)
		m := fence.FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case open == "" && m != nil && !(m[1][0] == '`' && strings.Contains(m[2], "`")):
			open = m[1]
			blank(b[at:end])
		case open != "":
			if m != nil && m[1][0] == open[0] && len(m[1]) >= len(open) && strings.TrimSpace(m[2]) == "" {
				open = ""
			}
			blank(b[at:end])
		}
	}
	for _, at := range htmlComment.FindAllIndex(b, -1) {
		blank(b[at[0]:at[1]])
	}
	for _, at := range codeSpan.FindAllIndex(b, -1) {
		if s := string(b[at[0]:at[1]]); strings.ContainsAny(s, "[]<") {
			blank(b[at[0]:at[1]])
		}
	}
	p.masked = string(b)
}

// blank replaces every byte by zero, except line breaks.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = 0
		}
	}
}

func (p *page) findHeadings() {
	seen := map[string]int{}
	previous, before := "", "" // the last two lines
	previousAt, end := 0, 0
	for line := range strings.Lines(p.masked) {
		at := end
		end += len(line)
		line = strings.TrimRight(line, "\n")
		h := heading{start: at, end: end}
		if m := atxHeading.FindStringSubmatch(line); m != nil {
			h.level, h.raw = len(m[1]), p.text[at:end]
			h.raw = strings.TrimSpace(strings.TrimRight(strings.TrimLeft(strings.TrimSpace(h.raw), "#"), "# "))
		} else if m := underlineOne.FindStringSubmatch(line); m != nil && isParagraph(previous) &&
			strings.TrimSpace(before) == "" {
			h.start, h.level = previousAt, 2
			if m[1][0] == '=' {
				h.level = 1
			}
			h.raw = strings.TrimSpace(p.text[previousAt:at])
		}
		if h.level > 0 {
			h.text = plain(headingID.ReplaceAllString(h.raw, ""))
			h.slug = slug(h.text)
			if n := seen[h.slug]; n > 0 {
				seen[h.slug]++
				h.slug += "-" + strconv.Itoa(n)
			} else {
				seen[h.slug] = 1
			}
			if h.text != "" {
				p.headings = append(p.headings, h)
			}
		}
		before, previous, previousAt = previous, line, at
	}
}

// isParagraph reports whether a line can be the text of an underlined heading.
func isParagraph(line string) bool {
	line = strings.Trim(line, " \t\x00")
	return line != "" && !strings.ContainsAny(line[:1], "-*+>#|`~<:{") && !strings.Contains(line, " | ")
}

// plain removes markup from one line of Markdown.
func plain(s string) string {
	s = headingID.ReplaceAllString(s, "")
	s = image.ReplaceAllString(s, "")
	s = wikiText.ReplaceAllString(s, "$1")
	s = plainLink.ReplaceAllString(s, "$1")
	s = shortcode.ReplaceAllString(s, "")
	code := codeSpan.FindAllString(s, -1)
	s = codeSpan.ReplaceAllString(s, "\x01")
	s = htmlTag.ReplaceAllString(s, "")
	s = emojiName.ReplaceAllString(s, "")
	s = emphasis.ReplaceAllString(s, "")
	s = escaped.ReplaceAllString(s, "$1")
	s = html.UnescapeString(s)
	for _, c := range code {
		s = strings.Replace(s, "\x01", strings.Trim(c, "`"), 1)
	}
	return strings.TrimSpace(manySpaces.ReplaceAllString(s, " "))
}

func slug(s string) string {
	return strings.ReplaceAll(slugDrop.ReplaceAllString(strings.ToLower(s), ""), " ", "-")
}
