package chunk_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf"
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
	if !slices.Equal(open, closed) || len(open) < 2 {
		t.Errorf("windows of %v bytes, and of %v with an access list", open, closed)
	}
}
