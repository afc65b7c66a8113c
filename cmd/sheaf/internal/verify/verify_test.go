package verify_test

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/cmd/sheaf/internal/verify"
)

const content = "intro\n# A\nbody a\n## B\nbody b\n"

// document is the heading tree of content, right in every property.
func document() *sheaf.Document {
	root := sheaf.Chunk{ID: "t:x.md", Doc: "t:x.md", Title: "X", Hierarchy: []string{"X"}, Breadcrumb: "> X", Span: sheaf.Span{End: 29}, Body: sheaf.Span{End: 6}, SiblingCount: 1}
	a := sheaf.Chunk{ID: "t:x.md#a", Doc: "t:x.md", Parent: "t:x.md", Depth: 1, Position: 1, Title: "A", Slug: "a", Hierarchy: []string{"X", "A"}, Breadcrumb: "> X › A",
		Heading: sheaf.Span{Start: 6, End: 10}, HasHeading: true, Span: sheaf.Span{Start: 6, End: 29}, Body: sheaf.Span{Start: 10, End: 17}, SiblingCount: 1}
	b := sheaf.Chunk{ID: "t:x.md#b", Doc: "t:x.md", Parent: "t:x.md#a", Depth: 2, Position: 2, Title: "B", Slug: "b",
		Heading: sheaf.Span{Start: 17, End: 22}, HasHeading: true, Span: sheaf.Span{Start: 17, End: 29}, Body: sheaf.Span{Start: 22, End: 29}, SiblingCount: 1}
	return &sheaf.Document{ID: "t:x.md", Tree: "t", Path: "x.md", Chunks: []sheaf.Chunk{root, a, b}}
}

func TestRightDocumentHoldsAll(t *testing.T) {
	if faults := verify.Document(document(), []byte(content)); faults != nil {
		t.Errorf("faults %v", faults)
	}
	if faults := verify.Document(&sheaf.Document{ID: "t:e.md"}, []byte(" \n")); faults != nil {
		t.Errorf("an empty file: %v", faults)
	}
}

func TestFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(*sheaf.Document)
	}{
		{"twice", "is used twice", func(d *sheaf.Document) { d.Chunks[2].ID = "t:x.md#a" }},
		{"foreign", "does not begin with", func(d *sheaf.Document) { d.Chunks[1].ID = "t:y.md#a" }},
		{"document", "its document is", func(d *sheaf.Document) { d.Chunks[1].Doc = "t:y.md" }},
		{"position", "position", func(d *sheaf.Document) { d.Chunks[2].Position = 1 }},
		{"breadcrumb", "breadcrumb", func(d *sheaf.Document) { d.Chunks[1].Breadcrumb = "> A" }},
		{"outside", "is not in the file", func(d *sheaf.Document) { d.Chunks[2].Span.End = 31 }},
		{"body", "is not in span", func(d *sheaf.Document) { d.Chunks[2].Body.Start = 16 }},
		{"heading", "heading", func(d *sheaf.Document) { d.Chunks[2].Heading = sheaf.Span{} }},
		{"no heading", "has no heading", func(d *sheaf.Document) { d.Chunks[2].HasHeading = false }},
		{"nesting", "is not in its parent's", func(d *sheaf.Document) { d.Chunks[1].Span.End = 22 }},
		{"parent", "not above it in pre-order", func(d *sheaf.Document) { d.Chunks[1].Parent = "t:x.md#b" }},
		{"depth", "depth 1 under depth 1", func(d *sheaf.Document) { d.Chunks[2].Depth = 1 }},
		{"root", "root:", func(d *sheaf.Document) { d.Chunks[0].Span.Start = 1 }},
		{"siblings", "sibling count", func(d *sheaf.Document) { d.Chunks[2].SiblingCount = 2 }},
		{"gap", "begins at 22", func(d *sheaf.Document) { d.Chunks[2].Heading.End = 21 }},
		{"overlap", "begins at 16", func(d *sheaf.Document) { d.Chunks[2].Heading.Start = 16; d.Chunks[2].Span.Start = 16 }},
		{"end", "the last part ends at 28", func(d *sheaf.Document) { d.Chunks[2].Body.End = 28 }},
		{"nothing", "has no chunks", func(d *sheaf.Document) { d.Chunks = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := document()
			c.spoil(d)
			var text []string
			for _, err := range verify.Document(d, []byte(content)) {
				text = append(text, err.Error())
			}
			if !strings.Contains(strings.Join(text, "\n"), c.want) {
				t.Errorf("faults %q, want %q among them", text, c.want)
			}
		})
	}
}
