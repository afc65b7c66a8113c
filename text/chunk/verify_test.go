package chunk_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/text/chunk"
)

// TestVerifyFindsFaults checks that Verify reports each fault that it promises to find.
func TestVerifyFindsFaults(t *testing.T) {
	content := []byte("intro\n# A\na\n## B\nb [x](y.md)\n# C\nc\n")
	cut := func(chunker string) sheaf.Document {
		c, err := chunk.New(chunk.Options{Chunker: chunker, Window: chunk.WindowOptions{Size: 2, Large: true}})
		must(t, err)
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
		{"a root with a heading", "tree", func(d *sheaf.Document) { d.Chunks[0].HasHeading = true }, "the root has"},
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
		if err := chunk.Verify(&doc, content); err != nil {
			t.Fatalf("%s: before: %v", c.name, err)
		}
		c.spoil(&doc)
		if err := chunk.Verify(&doc, content); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestWindowsOfHiddenProperties checks that properties for access do not move the windows of a document.
func TestWindowsOfHiddenProperties(t *testing.T) {
	k, err := chunk.New(chunk.Options{Chunker: "window", Window: chunk.WindowOptions{Size: 40, MetadataSuffix: true}})
	must(t, err)
	body := strings.Repeat("some words of a note\n", 40)
	lengths := func(front string) (all []int) {
		doc := k.Chunk("t", "n.md", []byte("---\nauthor: ann\n"+front+"---\n"+body))
		for i := range doc.Chunks {
			all = append(all, doc.Chunks[i].Body.Len())
		}
		return all
	}
	open, closed := lengths(""), lengths("access: [ann, bob, carl, dora, emil]\n")
	if !slices.Equal(open, closed) || len(open) < 2 {
		t.Errorf("windows of %v bytes, and of %v with an access list", open, closed)
	}
}

// TestLeavesAndIdentifiersOfTree checks that a leaf has text, and that IDs stay when text changes
// or later sections come or go: they depend on headings, not on positions.
func TestLeavesAndIdentifiersOfTree(t *testing.T) {
	k, err := chunk.New(chunk.Options{})
	must(t, err)
	const before = "# Guide\n\n## Install\n\nOn Linux.\n\n## Use\n\n### Search\n\nType.\n\n### Index\n\n\n## Blank\n\n"
	ids := func(text string) (out []sheaf.ID) {
		doc := k.Chunk("t", "guide.md", []byte(text))
		parents := map[sheaf.ID]bool{}
		for _, c := range doc.Chunks {
			parents[c.Parent] = true
		}
		for _, c := range doc.Chunks {
			out = append(out, c.ID)
			if body := text[c.Body.Start:c.Body.End]; !parents[c.ID] && strings.TrimSpace(body) == "" {
				t.Errorf("the leaf %s has no text", c.ID)
			}
		}
		return out
	}
	want := []sheaf.ID{"t:guide.md", "t:guide.md#guide", "t:guide.md#install", "t:guide.md#use", "t:guide.md#search"}
	for name, text := range map[string]string{
		"as it was":      before,
		"other text":     strings.Replace(before, "On Linux.", "On Linux, on macOS,\nand in a container.", 1),
		"a preamble":     "---\ntags: [x]\n---\nFirst.\n\n" + before,
		"another level":  strings.Replace(before, "### Search", "#### Search", 1),
		"windows' lines": strings.ReplaceAll(before, "\n", "\r\n"),
	} {
		if got := ids(text); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := ids(before + "More.\n\n## Search\n\nAgain.\n"); !slices.Equal(got[:len(want)], want) ||
		len(got) != len(want)+2 {
		t.Errorf("with sections behind: %v", got)
	}
}

// TestSpanIncludesSubsections checks that the span of a section includes its subsections, but not
// the line of its heading. The body is the part that belongs to no subsection.
func TestSpanIncludesSubsections(t *testing.T) {
	k, err := chunk.New(chunk.Options{})
	must(t, err)
	const text = "First.\n# Guide\nOne.\n## Use\nTwo.\n### Search\nThree.\n## Last\nFour.\n"
	doc := k.Chunk("t", "guide.md", []byte(text))
	for id, want := range map[sheaf.ID][2]string{
		"t:guide.md":        {text, "First.\n"},
		"t:guide.md#guide":  {"One.\n## Use\nTwo.\n### Search\nThree.\n## Last\nFour.\n", "One.\n"},
		"t:guide.md#use":    {"Two.\n### Search\nThree.\n", "Two.\n"},
		"t:guide.md#search": {"Three.\n", "Three.\n"},
		"t:guide.md#last":   {"Four.\n", "Four.\n"},
	} {
		i := slices.IndexFunc(doc.Chunks, func(c sheaf.Chunk) bool { return c.ID == id })
		if i < 0 {
			t.Fatalf("%s is not there", id)
		}
		c := &doc.Chunks[i]
		if span, body := text[c.Span.Start:c.Span.End], text[c.Body.Start:c.Body.End]; span != want[0] || body != want[1] {
			t.Errorf("%s: span %q and body %q, want %q and %q", id, span, body, want[0], want[1])
		}
	}
}
