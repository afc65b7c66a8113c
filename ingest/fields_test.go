package ingest_test

import (
	"slices"
	"testing"

	"sheaf"
)

// TestParentTitlesAreField checks that titles above a chunk are a separate field. The text of the
// chunk does not hold them, and the separators of breadcrumbs are in no field.
func TestParentTitlesAreField(t *testing.T) {
	w := newWorld(t)
	const text = "# Lanterns\n\nFirst.\n\n## Wicks\n\nTrim them.\n\n### Oil\n\nPour it.\n"
	w.write("guide.md", text)
	w.run()
	const oil, wicks = "t:guide.md#oil", "t:guide.md#wicks"
	for _, c := range []struct {
		field, word string
		want        []sheaf.ID
	}{
		{sheaf.FieldHierarchy, "wicks", []sheaf.ID{oil}}, {sheaf.FieldTitle, "wicks", []sheaf.ID{wicks}},
		{sheaf.FieldBody, "wicks", nil}, {sheaf.FieldBody, "pour", []sheaf.ID{oil}},
	} {
		if got := found(t, w.o.Backend, c.field, c.word); !slices.Equal(got, c.want) {
			t.Errorf("%s with %s: %v, want %v", c.field, c.word, got, c.want)
		}
	}
	view := w.view()
	c, ok := view.Chunk(oil)
	if want := "> Lanterns › Wicks › Oil"; !ok || c.Breadcrumb != want {
		t.Errorf("breadcrumb %q, want %q", c.Breadcrumb, want)
	}
	if got := text[c.Span.Start:c.Span.End]; got != "\nPour it.\n" {
		t.Errorf("the span is %q", got)
	}
}
