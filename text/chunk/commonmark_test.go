package chunk

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// reference lists the headings that are direct children of the document for goldmark, as "level
// start-of-text". It ignores frontmatter.
func reference(md goldmark.Markdown, src []byte) []string {
	var out []string
	root := md.Parser().Parse(text.NewReader(src))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			at := -1
			if h.Lines().Len() > 0 {
				at = h.Lines().At(0).Start
			}
			out = append(out, fmt.Sprintf("%d@%d", h.Level, at))
		}
	}
	return out
}

// ours returns the same list from the scanner.
func ours(src string, begin int) []string {
	var s scanner
	s.scan(src, begin)
	var out []string
	for _, h := range s.headings {
		at := h.text.start
		if h.text.start == h.text.end {
			at = -1
		}
		out = append(out, fmt.Sprintf("%d@%d", h.level, at))
	}
	return out
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))

// TestFolder compares headings and their titles with goldmark on the Markdown files below SHEAF_TEST_DIR. It leaves
// out files with formula blocks or single carriage returns, and titles with wiki links.
func TestFolder(t *testing.T) {
	dir := os.Getenv("SHEAF_TEST_DIR")
	if dir == "" {
		t.Skip("SHEAF_TEST_DIR names no folder of Markdown")
	}
	titles, different := 0, 0
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || KindOf(path) != KindMarkdown {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		src := strings.ReplaceAll(strings.ToValidUTF8(string(source), "?"), "\x00", "?")
		if front, ok := findFrontmatter(src, 0); ok {
			src = src[front.whole.end:]
		}
		if strings.Contains(src, "$$") || strings.Contains(strings.ReplaceAll(src, "\r\n", ""), "\r") {
			return nil
		}
		got := append(ours(src, 0), ourTitles(src)...)
		want := append(reference(gfm, []byte(src)), parsedTitles(gfm, []byte(src))...)
		titles += len(got) / 2
		for i := range max(len(got), len(want)) {
			if len(got) != len(want) || got[i] != want[i] && !strings.Contains(want[i], "[[") {
				if different++; different < 20 {
					t.Errorf("%s:\n%q\ngoldmark has\n%q", path, got, want)
				}
				break
			}
		}
		return nil
	}))
	t.Logf("%d titles, %d files differ", titles, different)
}

// TestHeadingsOfSpecification compares the scanner with goldmark on the examples of the CommonMark
// specification, which are part of goldmark's module.
func TestHeadingsOfSpecification(t *testing.T) {
	pattern := filepath.Join(os.Getenv("HOME"), "go/pkg/mod/github.com/yuin/goldmark@*/_test/spec.json")
	found, _ := filepath.Glob(pattern)
	if len(found) == 0 {
		t.Skipf("no %s", pattern)
	}
	raw := must.Get(os.ReadFile(found[len(found)-1]))
	var examples []struct {
		Markdown string
		Example  int
	}
	must.Do(t, json.Unmarshal(raw, &examples))
	must.That(t, len(examples) >= 600, "only %d examples", len(examples))
	for _, e := range examples {
		got, want := ours(e.Markdown, 0), reference(gfm, []byte(e.Markdown))
		check.That(t, strings.Join(got, " ") == strings.Join(want, " "), "example %d %q: scanner %v, goldmark %v", e.Example,
			e.Markdown, got, want)
	}
}

// TestRandomBlocks compares the scanner with goldmark on random blocks. It leaves out a single
// "</pre>", which starts an HTML block in the specification, but not in goldmark.
func TestRandomBlocks(t *testing.T) {
	parts := []string{"# h\n", "## h two ##\n", "text\n", "more text\n", "\n", "\n", "- item\n", "- \n", "  in item\n",
		"    deep\n", "\ttab\n", "> quote\n", ">\n", "> # q\n", "1. one\n",
		"2) two\n", "===\n", "---\n", "-----\n", "```\n", "~~~\n", "````x\n", "<div>\n", "</div>\n", "<!-- c\n", "-->\n",
		"<pre>\n", "x</pre>\n", "<b>x\n", "<b>\n", "* * *\n", "- - -\n", "+ # in\n", "-   ```\n",
		"[a]: b\n", "[a]: b 'c'\n", "[a]:\n", "   # three\n", "    # four\n", "#no\n", "####### seven\n", "#\n", "> - x\n",
		">   y\n", " > z\n", "-\n", "- a\n\n  b\n", "10. ten\n", "\\# no\n", "   indented\n", ">> two\n", "- > - a\n",
		"\t- t\n", "-\tt\n", ">\tt\n"}
	compared := 0
	for seed := range seeds(60_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		src := b.String()
		got, want := ours(src, 0), reference(gfm, []byte(src))
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("seed %d: %q: scanner %v, goldmark %v", seed, src, got, want)
			if compared++; compared > 15 {
				return
			}
		}
	}
}

// TestLineEndings checks that the scanner treats CR, CRLF and LF the same.
func TestLineEndings(t *testing.T) {
	parts := []string{"# h", "text", "", "", "- item", "  in", "> q", "---", "===", "```", "$$", "|a|", "|-|", "<div>",
		"[a]: b", "    code", "\t"}
	for seed := range seeds(50_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var lf, cr, crlf strings.Builder
		for range 1 + r.IntN(9) {
			part := parts[r.IntN(len(parts))]
			lf.WriteString(part + "\n")
			cr.WriteString(part + "\r")
			crlf.WriteString(part + "\r\n")
		}
		want := ours(lf.String(), 0)
		got := ours(cr.String(), 0)
		must.That(t, slices.Equal(got, want), "seed %d: %q: %v, with LF %v", seed, cr.String(), got, want)
		must.Equal(t, len(ours(crlf.String(), 0)), len(want), "seed %d: chunks of %q, and with LF %v", seed, crlf.String(),
			want)
	}
}

// seeds returns n with SHEAF_TEST_LONG, else a tenth of n.
func seeds(n uint64) uint64 {
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		return n
	}
	return n / 10
}

// parsedTitles returns the plain titles of the headings that are direct children of the document,
// as goldmark parses them.
func parsedTitles(md goldmark.Markdown, source []byte) []string {
	var titles []string
	root := md.Parser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading {
			titles = append(titles, parsedText(n, source))
		}
	}
	return titles
}

// parsedText returns the text of a block by rule A9.
func parsedText(block ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
					b.WriteString(strings.ReplaceAll(string(t.Segment.Value(source)), "\n", " "))
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

// ourTitles returns the titles of the scanner, without the rules for IDs.
func ourTitles(source string) []string {
	var s scanner
	s.scan(source, 0)
	var titles []string
	for i := range s.headings {
		title, _ := s.headingTitle(&s.headings[i], true)
		titles = append(titles, title)
	}
	return titles
}

// titlesDiffer matches titles that goldmark does not read by the specification. "<?>" is not HTML,
// since "?>" must follow "<?"; "<!a" is. "<" ends a target that begins with "<"; brackets in a
// target balance; "~" may follow an escaped "~".
var titlesDiffer = regexp.MustCompile(`<\?>|<![a-z]|\]\(<[^>]*<|\]\(\S*\(\S* |\\~~`)

// TestTitlesEqualParser compares titles with those of goldmark on random marks. It leaves out wiki
// links, which goldmark does not know.
func TestTitlesEqualParser(t *testing.T) {
	parts := []string{
		"a", "word", " ", " ", "`", "``", "_", "*", "**", "__", "***", "[", "]", "(", ")", "](", "](u)", "![", "\\", "&",
		"&amp;", "<", "<b>", "</b>", "<a href='x'>", "<!-- ", " -->", "<?", "?>", "<http://x.y>",
		"<m@x.y>", ">", "!", "~~", "é", "—", "1", "#", "{", "[x](y)", "[x](<y z> 'w')", "`c d`", "&#35;", "[ref]",
		"[text][ref]", "[ref][]", "\n", "\"", "'",
	}
	different := 0
	for seed := range seeds(300_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		b.WriteByte('x')
		for range 1 + r.IntN(10) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		content := b.String()
		if strings.Contains(content, "[[") || strings.Contains(content, "\n#") || titlesDiffer.MatchString(content) {
			continue
		}
		source := strings.TrimRight(content, " \n") + "\n===\n\n[ref]: /target\n"
		ours, theirs := ourTitles(source), parsedTitles(gfm, []byte(source))
		if strings.Join(ours, "|") != strings.Join(theirs, "|") {
			t.Errorf("seed %d: %q: ours %q, goldmark's %q", seed, source, ours, theirs)
			if different++; different > 20 {
				return
			}
		}
	}
}
