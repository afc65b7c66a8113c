package chunk_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// data returns the base64 text of n bytes.
func data(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

func rows(text string, width int, before string) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + "\n" + before)
		text = text[width:]
	}
	return b.String() + text
}

// TestBase64Data checks that base64 data of pictures and fonts in a file gives no words, vectors or
// snippets.
func TestBase64Data(t *testing.T) {
	long := data(3000)
	svg := url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg"><path d="M1 2"/></svg>`)
	for _, c := range []struct{ name, file, text, want string }{
		{"a picture", "a.md", "Grey. ![r](data:image/png;base64," + long + ") End.", "Grey. ![r]() End."},
		{"a short picture", "a.md", "Grey. ![r](data:image/gif;base64,R0lGODlhAQABAAAAACw=) End.", "Grey. ![r]() End."},
		{"with a title", "a.md", "![r](data:image/png;base64," + long + ` "Ports") End.`, `![r]( "Ports") End.`},
		{"in brackets", "a.md", "![r](<data:image/png;base64," + long + ">) End.", "![r](<>) End."},
		{"of HTML", "a.md", `<img src="data:image/jpeg;base64,` + long + `" alt="ports"> End.`,
			`<img src="" alt="ports"> End.`},
		{"of HTML, in rows", "a.md", `<img src="data:image/jpeg;base64,` + rows(long, 76, "  ") + `"> End.`,
			`<img src=""> End.`},
		{"capital letters", "a.md", "![r](DATA:image/PNG;BASE64," + long + ")", "![r]()"},
		{"parameters", "a.md", "![r](data:image/svg+xml;charset=utf-8;base64," + long + ")", "![r]()"},
		{"percent signs", "a.md", "![r](data:image/svg+xml," + svg + ") End.", "![r]() End."},
		{"a drawing in quotes", "a.md", `Grey <img src="data:image/svg+xml;utf8,<svg a='1' b><path d=M1/></svg>"> End.`,
			`Grey <img src=""> End.`},
		{"a drawing in parentheses", "a.css", "a { background: url(data:image/svg+xml,%3Csvg t=scale(2) b%3E) } b",
			"a { background: url() } b"},
		{"a quote that nothing closes", "a.md", "Grey 'data:image/svg+xml,%3Csvg%3E End.\n\nMore.", "Grey ' End.\n\nMore."},
		{"base32", "a.md", "Grey " + strings.ReplaceAll(base32.StdEncoding.EncodeToString([]byte(long)), "=", "") + " End.",
			"Grey  End."},
		{"hexadecimal", "a.md", "Grey " + hex.EncodeToString([]byte(long)) + " End.", "Grey  End."},
		{"a definition", "a.md", "See ![r][p].\n\n[p]: data:image/png;base64," + long + "\n\nEnd.",
			"See ![r][p].\n\n\n\nEnd."},
		{"a definition in brackets", "a.md", "End.\n\n[p]: <data:image/png;base64," + long + ">\n", "End.\n\n\n"},
		{"a font", "a.css", "@font-face { src: url(data:font/woff2;base64," + long + ") }", "@font-face { src: url() }"},
		{"in quotes", "a.css", "a { background: url('data:image/png;base64," + long + "') }", "a { background: url('') }"},
		{"plain text", "a.txt", "Grey data:image/png;base64," + long + "\nEnd.", "Grey \nEnd."},
		{"a notebook", "a.ipynb", `{"image/png": "` + long + `", "x": 1}`, `{"image/png": "", "x": 1}`},
		{"a mail", "a.txt", "Content:\n\n" + rows(long, 76, "") + "\n\nEnd.", "Content:\n\n\n\nEnd."},
		{"a drawing in rows with empty lines", "a.md", "```compressed-json\n" + strings.ReplaceAll(rows(long, 256, ""), "\n",
			"\n\n") + "\n```\n\nEnd.", "```compressed-json\n\n```\n\nEnd."},
		{"a word below a drawing", "a.txt", long[:256] + "\n\n" + long[256:512] + "\n\nVersion2\n", "\n\nVersion2\n"},
		{"two", "a.md", "![a](data:image/png;base64," + long + ") and ![b](data:image/png;base64," + long + ").",
			"![a]() and ![b]()."},
		{"behind frontmatter", "a.md", "---\nstatus: open\n---\n![a](data:image/png;base64," + long + ") End.",
			"![a]() End."},

		{"words about data", "a.md", "The data: image/png, base64, and more. data:image is a scheme; metadata:a/b,c too.",
			""},
		{"a long path", "a.md", "In modules/BillingService2/" +
			strings.Repeat("generated/TaxCalculationFactoryForCustomers/", 6), ""},
		{"an address of sections", "a.md", "https://example.org/" + strings.Repeat("Section17/", 25), ""},
		{"a long address", "a.md", "https://example.org/" + strings.Repeat("Some/Long/path2/", 30), ""},
		{"a long name", "a.md", strings.Repeat("averylongname", 40), ""},
		{"a rule", "a.md", strings.Repeat("=", 400) + "\n" + strings.Repeat("-", 400), ""},
		{"a long number", "a.md", strings.Repeat("0123456789", 40), ""},
		{"a word below a short row", "a.md", "[p](data:image/png;base64,iVBORw0KGgo=)\nHeading", "[p]()\nHeading"},
		{"a word below a picture", "a.txt", "data:image/png;base64," + long + "\nThe end.", "\nThe end."},
	} {
		want := c.want
		if want == "" {
			want = c.text
		}
		doc := cut(t, c.file, c.text)
		got := ""
		for i := range doc.Chunks {
			got += chunk.IndexedText(&doc, &doc.Chunks[i], c.text).Text
			for _, l := range doc.Chunks[i].Links {
				check.That(t, !strings.Contains(l.Target, long[:40]), "%s: the link %.60q holds data", c.name, l.Target)
			}
		}
		check.Equal(t, got, want, "indexed text of %s", c.name)
		r := chunk.Readable(c.text)
		check.That(t, strings.Count(r, "\n") == strings.Count(c.text, "\n") && (c.want == "" || !strings.Contains(r,
			long[:40])), "%s: readable is %.200q", c.name, r)
	}
}

func cut(t *testing.T, name, text string) sheaf.Document {
	t.Helper()
	c := must.Get(chunk.For(name, chunk.Options{}))
	return c.Chunk("t", name, []byte(text))
}

// TestPositionsWithoutData checks that Left.At finds each byte of the shortened text in the original text.
func TestPositionsWithoutData(t *testing.T) {
	text := "One ![a](data:image/png;base64," + data(500) + ") two ![b](data:image/png;base64," + data(500) + ") three"
	left := chunk.WithoutPayloads(text)
	for i := range len(left.Text) {
		must.That(t, text[left.At(i)] == left.Text[i], "byte %d of %q is %q in the whole, want %q", i, left.Text,
			text[left.At(i)], left.Text[i])
	}
	doc := cut(t, "a.md", text)
	span := chunk.Passages{Words: 1, Stride: 1}.Span(&doc, &doc.Chunks[0], []byte(text), 4)
	check.Equal(t, text[span.Start:span.End], "three", "the last passage")
}

// TestDataInPieces checks that the chunks of a document may begin and end inside data.
func TestDataInPieces(t *testing.T) {
	long := data(20_000)
	text := "# A\n\nGrey. ![r](data:image/png;base64," + long + ") End.\n\n" + rows(long, 76, "") + "\n\nLast.\n"
	for _, o := range []chunk.Options{{Chunker: "sections", Sections: chunk.SectionOptions{Cap: 500}},
		{Chunker: "window", Window: chunk.WindowOptions{Size: 64}}} {
		c := must.Get(chunk.New(o))
		doc := c.Chunk("t", "a.md", []byte(text))
		for i := range doc.Chunks {
			got := chunk.IndexedText(&doc, &doc.Chunks[i], text).Text
			for w := range strings.FieldsSeq(got) {
				check.That(t, len(w) <= 30 || !strings.Contains(long, w[len(w)-20:]), "%s: piece %d holds data: %.80q", o.Chunker,
					i, got)
			}
		}
	}
}

// TestDataIsReadInLinearTime checks that 100 MB of data, and 16 MB of text that only looks like
// data, take seconds.
func TestDataIsReadInLinearTime(t *testing.T) {
	const size = 16 << 20
	row := data(3 << 10)
	for name, text := range map[string]string{
		"one row":   "Grey ![r](data:image/png;base64," + strings.Repeat(row, 100<<20/len(row)) + ") end",
		"rows":      "Grey ![r](data:image/png;base64," + strings.Repeat(row[:76]+"\n", size/77) + ") end",
		"beginning": strings.Repeat("data:a/b;base64,", size/16),
		"no end":    strings.Repeat("data:", size/5),
		"drawings":  strings.Repeat("(data:image/svg+xml,((( ", size/24),
		"quotes":    strings.Repeat("\"data:image/svg+xml,' ", size/22),
	} {
		start := time.Now()
		left := chunk.WithoutPayloads(text)
		took := time.Since(start)
		check.That(t, took <= 20*time.Second, "%s: it took %v", name, took)
		check.That(t, !strings.HasPrefix(text, "Grey") || strings.ReplaceAll(left.Text, "\n", "") == "Grey ![r]() end",
			"%s: left is %.80q", name, left.Text)
	}
}

// TestDataInFrontmatter checks that values have no data: it would be found as words.
func TestDataInFrontmatter(t *testing.T) {
	for _, values := range []string{
		"cover: @", "cover: '@'", "a: {cover: '@'}", "covers: ['@']", "aliases: ['@']", "title: @",
	} {
		text := "---\n" + strings.ReplaceAll(values, "@", "data:image/png;base64,"+data(500)) + "\n---\n\ntext\n"
		doc := cut(t, "a.md", text)
		got := fmt.Sprint(doc)
		check.That(t, !strings.Contains(got, data(500)[:40]), "%s: %s", values, got)
	}
	text := "---\ncover: |\n  " + data(2000) + "\nb: more\n---\n"
	c := must.Get(chunk.For("a.md", chunk.Options{Chunker: "sections", Sections: chunk.SectionOptions{Cap: 100}}))
	doc := c.Chunk("t", "a.md", []byte(text))
	for i := range doc.Chunks {
		check.Equal(t, chunk.IndexedText(&doc, &doc.Chunks[i], text).Text, "", "piece %d of frontmatter", i)
	}
}
