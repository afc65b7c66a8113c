package sheaf_test

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestOutlineParents checks that the node above is the nearest earlier node with the parent's ID.
// The documents are any trees, even with repeated IDs and missing parents.
func TestOutlineParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Map(rapid.IntRange(0, 12), func(n int) sheaf.ID { return sheaf.ID("t:a.md#" + strconv.Itoa(n)) })
		d := sheaf.Document{ID: "t:a.md", Chunks: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sheaf.Chunk {
			return sheaf.Chunk{ID: id.Draw(t, "id"), Parent: rapid.OneOf(id, rapid.Just(sheaf.ID(""))).Draw(t, "parent")}
		}), 0, 20).Draw(t, "chunks")}
		o := sheaf.OutlineOf(&d, sheaf.Dated{})
		for i := range o.Nodes {
			var want *sheaf.Node
			for j := range i {
				if d.Chunks[i].Parent != "" && d.Chunks[j].ID == d.Chunks[i].Parent {
					want = &o.Nodes[j]
				}
			}
			must.Equal(t, o.Nodes[i].Above, want, "above chunk %d", i)
		}
	})
}

// TestBreadcrumb checks the breadcrumb of a chunk with titles, and of chunks without any.
func TestBreadcrumb(t *testing.T) {
	for want, titles := range map[string][]string{"> Git › Undo": {"Git", "Undo"}, "> Git › ": {"Git", ""}} {
		check.Equal(t, (&sheaf.Chunk{Hierarchy: titles}).Breadcrumb(), want, "%q", titles)
	}
	for _, titles := range [][]string{nil, {""}} {
		check.Equal(t, (&sheaf.Chunk{Hierarchy: titles}).Breadcrumb(), "", "%q", titles)
	}
}
