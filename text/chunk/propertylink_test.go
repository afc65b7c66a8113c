package chunk_test

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/text/chunk"
)

// TestLinksInFrontmatter checks that a value which is only a wiki link is a link of the document,
// at its position. Sections and windows have no such links.
func TestLinksInFrontmatter(t *testing.T) {
	const text = "---\nauthor: \"[[People/Ann|A]]\"\nseen: '[[Ann]]'\nwith:\n  - \"[[Ann]]\"\n  - Bob\n  - " +
		"\"[[Notes#Top]]\"\nnote: see [[Carol]]\nmap: {a: \"[[Dan]]\", b: [[Fay]]}\n" +
		"by: [[Ann|A]]\nor: [[[Ann]], x]\n---\nText with [[Eve]].\n"
	want := []string{"[[People/Ann|A]]", "[[Ann]]", "[[Ann]]", "[[Notes#Top]]", "[[Dan]]", "[[Fay]]",
		"[[Ann|A]]", "[[Ann]]", "[[Eve]]"}
	for _, c := range []struct {
		options chunk.Options
		want    []string
	}{{chunk.Options{}, want}, {chunk.Options{Chunker: "sections"}, want[8:]}} {
		chunker, err := chunk.New(c.options)
		must(t, err)
		doc := chunker.Chunk("t", "a.md", []byte(text))
		if err := chunk.Verify(&doc, []byte(text)); err != nil {
			t.Error(err)
		}
		links, at := doc.Chunks[0].Links, 0
		if len(links) != len(c.want) {
			t.Fatalf("%s: links %v", chunker.Name(), links)
		}
		for i, l := range links {
			if got := text[l.Span.Start:l.Span.End]; got != c.want[i] || l.Kind != sheaf.LinkWiki || l.Span.Start < at {
				t.Errorf("%s: link %d is %s (%v)", chunker.Name(), i, got, l)
			}
			at = l.Span.End
		}
	}
	chunker, _ := chunk.New(chunk.Options{})
	for _, before := range []string{"# as in [[Ann]]\n", "with: \"see [[Ann]]\"\n"} {
		text := "---\n" + before + "author: '[[Ann]]'\n---\n"
		doc := chunker.Chunk("t", "a.md", []byte(text))
		if l := doc.Chunks[0].Links; len(l) != 1 || l[0].Span.Start != strings.LastIndex(text, "[[Ann]]") {
			t.Errorf("%q has the links %v", text, l)
		}
	}
	doc := chunker.Chunk("t", "a.md", []byte(text))
	if l := doc.Chunks[0].Links[0]; l.Target != "People/Ann" || l.Text != "A" {
		t.Errorf("the first is %v", l)
	}
}
