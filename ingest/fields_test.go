package ingest_test

import (
	"context"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
)

// TestParentTitlesAreField checks that titles above a chunk are a separate field. The text of the
// chunk does not hold them, and the separators of breadcrumbs are in no field.
func TestParentTitlesAreField(t *testing.T) {
	w := newWorld(t)
	const text = "# Lanterns\n\nFirst.\n\n## Wicks\n\nTrim them.\n\n### Oil\n\nPour it.\n"
	w.write("guide.md", text)
	w.run()
	find := func(field, word string) []sheaf.ID {
		t.Helper()
		found, err := w.o.Backend.Retrieve(context.Background(), store.Request{Limit: 10,
			Text: &store.TextRequest{Query: sheaf.Match{Text: word}, K1: 1.2, B: 0.75,
				Fields: []store.FieldWeight{{Name: field, Weight: 1}}}})
		must(t, err)
		ids := []sheaf.ID{}
		for _, h := range found {
			ids = append(ids, h.ID)
		}
		slices.Sort(ids)
		return ids
	}
	const oil, wicks = "t:guide.md#oil", "t:guide.md#wicks"
	if got := find(sheaf.FieldHierarchy, "wicks"); !slices.Equal(got, []sheaf.ID{oil}) {
		t.Errorf("titles above with wicks: %v", got)
	}
	if got := find(sheaf.FieldTitle, "wicks"); !slices.Equal(got, []sheaf.ID{wicks}) {
		t.Errorf("its own title: %v", got)
	}
	if got := find(sheaf.FieldBody, "wicks"); len(got) != 0 {
		t.Errorf("texts with wicks: %v", got)
	}
	if got := find(sheaf.FieldBody, "pour"); !slices.Equal(got, []sheaf.ID{oil}) {
		t.Errorf("texts with pour: %v", got)
	}
	view := w.o.Catalog.View()
	defer view.Close()
	c, ok := view.Chunk(oil)
	if want := "> Lanterns › Wicks › Oil"; !ok || c.Breadcrumb != want {
		t.Errorf("breadcrumb %q, want %q", c.Breadcrumb, want)
	}
	if got := text[c.Span.Start:c.Span.End]; got != "\nPour it.\n" {
		t.Errorf("the span is %q", got)
	}
}
