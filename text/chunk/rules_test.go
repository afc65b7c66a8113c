package chunk_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/static/english"
	"sheaf/text/chunk"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRules checks one input and one expected result for each rule. testdata/rules.txt has cases of
// this form:
//
//	== rule: what it shows [file=name] [chunker=name key=value ...]
//	"input, quoted as in Go"
//	-- expected
//	lines of show
func TestRules(t *testing.T) {
	const name = "testdata/rules.txt"
	raw := must.Get(os.ReadFile(name))
	var out strings.Builder
	cases := 0
	for i, part := range strings.Split("\n"+string(raw), "\n== ") {
		if i == 0 {
			out.WriteString(strings.TrimPrefix(part, "\n"))
			continue
		}
		cases++
		head, rest, _ := strings.Cut(part, "\n")
		quoted, want, _ := strings.Cut(rest, "\n-- expected\n")
		input, err := unquote(quoted)
		must.That(t, err == nil, "%s: %v", head, err)
		file, o := options(t, head)
		k, err := chunk.For(file, o)
		must.That(t, err == nil, "%s: %v", head, err)
		doc := k.Chunk("t", file, []byte(input))
		check.NoError(t, chunk.Verify(&doc, []byte(input)), "%s", head)
		got := show(&doc, input)
		check.That(t, got == strings.TrimRight(want, "\n")+"\n" || *update, "%s:\n%s\ngot:\n%s\nwant:\n%s", head, quoted, got,
			want)
		fmt.Fprintf(&out, "\n== %s\n%s\n-- expected\n%s", head, quoted, got)
	}
	must.That(t, cases >= 30, "only %d cases", cases)
	if *update {
		must.Do(t, os.WriteFile(name, []byte(out.String()), 0o644))
	}
}

// unquote joins the quoted lines of an input. "N x" before a line repeats it N times.
func unquote(s string) (string, error) {
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		n := 1
		if times, rest, ok := strings.Cut(line, " x "); ok && !strings.HasPrefix(line, `"`) {
			var err error
			if n, err = strconv.Atoi(times); err != nil {
				return "", err
			}
			line = rest
		}
		text, err := strconv.Unquote(line)
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		b.WriteString(strings.Repeat(text, n))
	}
	return b.String(), nil
}

func options(t *testing.T, head string) (file string, o chunk.Options) {
	t.Helper()
	file = "note.md"
	for field := range strings.FieldsSeq(head) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			continue
		}
		n, _ := strconv.Atoi(value)
		switch key {
		case "file":
			file = value
		case "chunker":
			o.Chunker = value
		case "cap":
			o.Sections.Cap = n
		case "size":
			o.Window.Size = n
		case "overlap":
			o.Window.Overlap = n
		case "boundary":
			o.Window.Boundary = value
		case "large":
			o.Window.Large = true
		case "tokens":
			o.Window.Tokens, o.Window.TokensName = tokensNamed(value), value
		case "github":
			o.GitHubSlugs = true
		default:
			t.Fatalf("%s: option %q", head, key)
		}
	}
	return file, o
}

// show formats a document, one line for each chunk, indented by depth.
func show(doc *sheaf.Document, src string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title %q", doc.Title)
	if doc.Frontmatter.Len() > 0 {
		fmt.Fprintf(&b, " frontmatter %d:%d", doc.Frontmatter.Start, doc.Frontmatter.End)
		if doc.FrontmatterText {
			b.WriteString(" as text")
		}
	}
	if len(doc.Aliases) > 0 {
		fmt.Fprintf(&b, " aliases %q", doc.Aliases)
	}
	if len(doc.Tags) > 0 {
		fmt.Fprintf(&b, " tags %q", doc.Tags)
	}
	b.WriteByte('\n')
	for _, p := range doc.Properties {
		fmt.Fprintf(&b, "property %s list=%v", p.Name, p.List)
		for _, v := range p.Values {
			fmt.Fprintf(&b, " %s:%s", v.Kind, v)
		}
		b.WriteByte('\n')
	}
	for _, w := range doc.Warnings {
		fmt.Fprintf(&b, "warning line %d: %s\n", w.Line, w.Message)
	}
	for i := range doc.Chunks {
		c := &doc.Chunks[i]
		fmt.Fprintf(&b, "%s%s h=%d:%d span=%d:%d of %d %s", strings.Repeat("  ", c.Depth), c.ID[2:], c.Heading.Start,
			c.Heading.End, c.Span.Start, c.Span.End, c.SiblingCount, c.Breadcrumb())
		if c.ID != doc.ID && c.Title != doc.Title && (len(c.Hierarchy) == 0 || c.Hierarchy[len(c.Hierarchy)-1] != c.Title) {
			fmt.Fprintf(&b, " (title %q)", c.Title)
		}
		body := src[c.Body.Start:c.Body.End]
		if len(body) > 60 {
			body = body[:28] + "…" + body[len(body)-28:]
		}
		fmt.Fprintf(&b, " %q", body)
		for _, l := range c.Links {
			fmt.Fprintf(&b, " %s(%s|%s|%s)", l.Kind, l.Target, l.Fragment, l.Text)
		}
		if len(c.Tags) > 0 {
			fmt.Fprintf(&b, " tags=%q", c.Tags)
		}
		if len(c.Blocks) > 0 {
			fmt.Fprintf(&b, " blocks=%q", c.Blocks)
		}
		if len(c.Members) > 0 {
			fmt.Fprintf(&b, " members=%q", c.Members)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tokensNamed returns the tokens of the built-in model.
func tokensNamed(name string) chunk.Tokens {
	if e, err := english.New(); err == nil && e.Model() == name {
		return e.Pieces
	}
	return nil
}

// TestParse checks that the name of a chunker parses into a chunker with that name. So a token counter
// needs a name of one word.
func TestParse(t *testing.T) {
	for _, o := range []chunk.Options{
		{}, {Chunker: "tree", GitHubSlugs: true}, {Chunker: "sections"},
		{Chunker: "sections", Sections: chunk.SectionOptions{Cap: 123}},
		{Chunker: "window"},
		{Chunker: "window", GitHubSlugs: true,
			Window: chunk.WindowOptions{Size: 384, Overlap: 64, Boundary: "line", Large: true, TitlePrefix: true,
				MetadataSuffix: true}},
		{Chunker: "window", Window: chunk.WindowOptions{Size: 384, Overlap: 64, Tokens: tokensNamed("sheaf-en-1"),
			TokensName: "sheaf-en-1"}},
	} {
		made := must.Get(chunk.New(o))
		parsed, err := chunk.Parse(made.Name(), tokensNamed)
		if err != nil {
			t.Errorf("%s: %v", made.Name(), err)
			continue
		}
		if again, err := chunk.New(parsed); err != nil || again.Name() != made.Name() {
			t.Errorf("%s is read as %v, %v", made.Name(), again, err)
		}
	}
	o, err := chunk.Parse("window", nil)
	check.That(t, err == nil && o.Chunker == "window", "a bare name: %v, %v", o, err)
	for _, name := range []string{"", "pages", "tree cap=1", "sections cap=x", "sections cap=1", "window size=5 overlap=9",
		"window tokens=sheaf-en-0", "window bold"} {
		check.Is(t, must.Err(chunk.Parse(name, tokensNamed)), sheaf.ErrUnsupported, "%q", name)
	}
	check.Is(t, must.Err(chunk.Parse("window tokens=sheaf-en-1", nil)), sheaf.ErrUnsupported, "unknown tokens")
	one := func(text string, yield func(start, end int) bool) { yield(0, len(text)) }
	for _, o := range []chunk.WindowOptions{{TokensName: "sheaf-en-1"}, {Tokens: one, TokensName: "two words"}} {
		check.Is(t, must.Err(chunk.New(chunk.Options{Chunker: "window", Window: o})), sheaf.ErrInvalid,
			"tokens %q", o.TokensName)
	}
}
