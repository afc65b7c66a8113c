package chunk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// TestVerifyFindsFaults checks that Verify reports each fault that it promises to find.
func TestVerifyFindsFaults(t *testing.T) {
	content := []byte("intro\n# A\na\n## B\nb [x](y.md)\n# C\nc\n")
	cut := func(chunker string) sheaf.Document {
		c := must.Get(chunk.New(chunk.Options{Chunker: chunker, Window: chunk.WindowOptions{Size: 2, Large: true}}))
		return c.Chunk("t", "n.md", content)
	}
	for _, c := range []struct {
		name, chunker string
		spoil         func(*sheaf.Document)
		want          string
	}{
		{"an id twice", "tree", func(d *sheaf.Document) { d.Chunks[2] = d.Chunks[1] }, "given twice"},
		{"an id that is not its slug's", "tree", func(d *sheaf.Document) { d.Chunks[1].ID += "x" }, "the id of slug"},
		{"a gap in positions", "tree", func(d *sheaf.Document) { d.Chunks[2].Position++ }, "position is 3, not 2"},
		{"another document", "tree", func(d *sheaf.Document) { d.Chunks[1].Doc = "t:o.md" }, "belongs to"},
		{"a span beyond the file", "tree", func(d *sheaf.Document) { d.Chunks[3].Span.End++ }, "does not lie in"},
		{"a body outside its span", "tree", func(d *sheaf.Document) { d.Chunks[1].Body.End = d.Chunks[1].Span.End + 1 },
			"does not lie in span"},
		{"a body that ends before it begins", "tree", func(d *sheaf.Document) {
			d.Chunks[1].Body.End = d.Chunks[1].Body.Start - 1
		}, "does not lie in span"},
		{"a link beyond the file", "tree", func(d *sheaf.Document) { d.Chunks[2].Links[0].Span.End = len(content) + 1 },
			"link"},
		{"a sibling count", "tree", func(d *sheaf.Document) { d.Chunks[1].SiblingCount++ }, "sibling count is 3, its " +
			"parent has 2"},
		{"a wrong parent", "tree", func(d *sheaf.Document) {
			d.Chunks[2].Parent, d.Chunks[2].SiblingCount = d.ID, 3
			d.Chunks[1].SiblingCount, d.Chunks[3].SiblingCount = 3, 3
		}, "parent is"},
		{"a root with a heading", "tree", func(d *sheaf.Document) { d.Chunks[0].Heading.End = 3 }, "the root has"},
		{"a heading of depth 7", "tree", func(d *sheaf.Document) { d.Chunks[2].Depth = 7 }, "no heading of depth 1 to 6"},
		{"a span that ends early", "tree", func(d *sheaf.Document) { d.Chunks[1].Span.End -= 2 }, "span"},
		{"a hole between bodies", "tree", func(d *sheaf.Document) { d.Chunks[1].Body.End-- }, "should begin at"},
		{"an empty last body", "tree", func(d *sheaf.Document) { d.Chunks = d.Chunks[:3] }, "sibling count"},
		{"no chunks", "tree", func(d *sheaf.Document) { d.Chunks = nil }, "no chunks"},
		{"pieces out of order", "window", func(d *sheaf.Document) {
			d.Chunks[1].Span, d.Chunks[1].Body = d.Chunks[0].Span, d.Chunks[0].Body
		}, "does not follow"},
	} {
		doc := cut(c.chunker)
		err := chunk.Verify(&doc, content)
		must.That(t, err == nil, "%s: before: %v", c.name, err)
		c.spoil(&doc)
		if err := chunk.Verify(&doc, content); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestWindowsOfHiddenProperties checks that properties for access do not move the windows of a document.
func TestWindowsOfHiddenProperties(t *testing.T) {
	k, err := chunk.New(chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 40, MetadataSuffix: true}})
	must.Do(t, err)
	body := strings.Repeat("some words of a note\n", 40)
	lengths := func(front string) (all []int) {
		doc := k.Chunk("t", "n.md", []byte("---\nauthor: ann\n"+front+"---\n"+body))
		for i := range doc.Chunks {
			all = append(all, doc.Chunks[i].Body.Len())
		}
		return all
	}
	open, closed := lengths(""), lengths("access: [ann, bob, carl, dora, emil]\n")
	check.That(t, slices.Equal(open, closed) && len(open) >= 2, "windows of %v bytes, and of %v with an access list", open,
		closed)
}

func chunkers(tb testing.TB) []chunk.Chunker {
	tb.Helper()
	var out []chunk.Chunker
	for _, o := range []chunk.Options{
		{}, {Chunker: "tree", GitHubSlugs: true}, {Chunker: "sections", Sections: chunk.SectionOptions{Cap: 100}},
		{Chunker: "window", Window: chunk.WindowOptions{Size: 7, Overlap: 3, Large: true}},
		{Chunker: "window", Window: chunk.WindowOptions{Size: 5, Overlap: 2, Boundary: "sentence"}},
		{Chunker: "window", Window: chunk.WindowOptions{Size: 9, Overlap: 2, Boundary: "sentence",
			Tokens: tokensNamed("sheaf-en-1"), TokensName: "sheaf-en-1"}},
	} {
		k := must.Get(chunk.New(o))
		out = append(out, k)
	}
	k := must.Get(chunk.For("x.go", chunk.Options{}))
	return append(out, k)
}

// FuzzChunk checks that each chunker cuts any bytes into chunks that pass Verify, and gives the
// same result twice.
func FuzzChunk(f *testing.F) {
	rules := must.Get(os.ReadFile("testdata/rules.txt"))
	for part := range strings.SplitSeq(string(rules), "\n== ") {
		f.Add([]byte(strings.ReplaceAll(part, `\n`, "\n")))
	}
	f.Add([]byte("\ud55c\uad6d\uc5b4. \u1112\u1161\u11ab e\u0301 co\u00adop \u4e2d\u6587\u3002\u300d\u6b21"))
	f.Add([]byte("\ufeff---\r\na: [\"x\", 'y']\r\n---\r# h {#i}\rx\x00\xff"))
	f.Add([]byte("import X from 'x'\r\rexport {\n\n# h\nx"))
	parts := must.Get(chunk.New(chunk.Options{Chunker: "window",
		Window: chunk.WindowOptions{Size: 3, Overlap: 2, Tokens: tokensNamed("sheaf-en-1"), TokensName: "sheaf-en-1"}}))
	all := append(chunkers(f), parts)
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, k := range all {
			name := "n.md"
			if bytes.HasPrefix(content, []byte("import")) {
				name = "n.mdx"
			}
			if strings.HasPrefix(k.Name(), "code") {
				name = "n.go"
			}
			doc := k.Chunk("t", name, content)
			err := chunk.Verify(&doc, content)
			must.That(t, err == nil, "%s: %v", k.Name(), err)
			for i := range doc.Chunks {
				chunk.IndexedText(&doc, &doc.Chunks[i], string(content))
				for _, l := range doc.Chunks[i].Links {
					must.That(t, l.Span.Start >= 0 && l.Span.End <= len(content) && l.Span.Start < l.Span.End,
						"%s: link %+v of %d bytes", k.Name(), l, len(content))
				}
			}
		}
	})
}

// FuzzFrontmatter checks that any YAML, also invalid, gives a document.
func FuzzFrontmatter(f *testing.F) {
	for _, s := range []string{"title: x", "a: &x [*x, *x]", "- a\n- b", "a: {b: [c, {d: e}]}", "? x\n: y",
		"a: |\n  b\n   c\n", "\"a\": 'b''c'", "a: !!binary x", "<<: *a", "%YAML 1.2", "a: b: c", "tags: [a, , b]",
		"date: 2024-13-45", "n: 0x1F\nm: .inf\nk: 1_000"} {
		f.Add(s)
	}
	k := chunkers(f)[0]
	f.Fuzz(func(t *testing.T, inner string) {
		content := []byte("---\n" + inner + "\n---\n# h\nx\n")
		doc := k.Chunk("t", "n.md", content)
		must.Do(t, chunk.Verify(&doc, content))
	})
}

// TestVerifyFolder verifies the chunks of each Markdown file below SHEAF_TEST_DIR, for each chunker.
func TestVerifyFolder(t *testing.T) {
	if os.Getenv("SHEAF_TEST_DIR") == "" {
		t.Skip("SHEAF_TEST_DIR names no folder of Markdown")
	}
	paths, files, _ := corpus(t)
	for i, content := range files {
		for _, k := range chunkers(t) {
			doc := k.Chunk("t", filepath.ToSlash(paths[i]), content)
			check.NoError(t, chunk.Verify(&doc, content), "%s: %s", paths[i], k.Name())
		}
	}
	must.That(t, len(files) != 0, "no Markdown files there")
}

// TestLarge checks that files which are large in any way are cut in linear time. A quadratic step
// would not end.
func TestLarge(t *testing.T) {
	n := 20_000
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		n = 100_000
	}
	for name, content := range map[string]string{
		"headings":        strings.Repeat("# same\nx\n", n),
		"nested headings": strings.Repeat("# a\n## b\n### c\n#### d\n##### e\n###### f\nx\n", n/6),
		"one line":        strings.Repeat("word ", 20*n),
		"quotes":          strings.Repeat(">", 10*n) + " x\n",
		"lists":           strings.Repeat("- ", 5*n) + "x\n",
		"brackets":        strings.Repeat("[", 10*n) + strings.Repeat("](", n),
		"backticks":       strings.Repeat("` `` ", n),
		"tags":            strings.Repeat("#tag ", n),
		"definitions":     strings.Repeat("[a]: b\n", n),
		"open fence":      "```\n" + strings.Repeat("# x\n", n),
		"dollars":         strings.Repeat("$$\nx\n\n", n/10),
		"wiki":            strings.Repeat("[[a", n),
		"wiki and (":      strings.Repeat("[[a]](", 2*n),
		"angles":          strings.Repeat("<a ", n),
		"emphasis":        "# " + strings.Repeat("*a_b ", n/10) + "\nx\n",
		"anchors":         strings.Repeat("<a id=x>", n) + strings.Repeat("<a id='y'></a>\n# h\nx\n", n/10),
		"braces":          strings.Repeat("]{: #", n) + "\n# " + strings.Repeat("{#a .b ", n),
		"fields":          strings.Repeat("[a:: ", n) + strings.Repeat("(a:: b) ", n) + strings.Repeat("a:: ", n),
		"tasks":           strings.Repeat("- [ ] a:: b\n[x:: 2026-01-01]\n", n),
		"blank lines":     strings.Repeat("\n", 10*n) + "x",
	} {
		for _, k := range chunkers(t) {
			doc := k.Chunk("t", "n.md", []byte(content))
			check.NoError(t, chunk.Verify(&doc, []byte(content)), "%s, %s", name, k.Name())
		}
	}
}

// TestManyProperties checks that frontmatter with very many keys is truncated with a warning.
func TestManyProperties(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\n")
	for i := range 50_000 {
		b.WriteString("k" + strconv.Itoa(i) + ": v\n")
	}
	b.WriteString("---\n# H\nx\n")
	doc := chunkers(t)[0].Chunk("t", "n.md", []byte(b.String()))
	check.That(t, len(doc.Properties) == 1000 && len(doc.Warnings) == 1 && len(doc.Chunks) == 2,
		"%d properties, warnings %v, %d chunks", len(doc.Properties), doc.Warnings, len(doc.Chunks))
}

// TestLongValue checks that a value of megabytes is cut between characters, with a warning.
func TestLongValue(t *testing.T) {
	content := "---\nnote: x" + strings.Repeat("é", 1<<20) + "\n---\n# H\nx\n"
	doc := chunkers(t)[0].Chunk("t", "n.md", []byte(content))
	must.That(t, len(doc.Properties) == 1 && len(doc.Warnings) == 1, "%d properties, warnings %v", len(doc.Properties),
		doc.Warnings)
	got := doc.Properties[0].Values[0].String()
	want := "x" + strings.Repeat("é", (32<<10-1)/2)
	check.That(t, got == want, "a value of %d bytes, want %d", len(got), len(want))
}
