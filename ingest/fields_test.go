package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/text/analysis"
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
		check.List(t, found(t, w.o.Backend, c.field, c.word), c.want, "%s with %s", c.field, c.word)
	}
	view := w.view()
	c, ok := view.Chunk(oil)
	if want := "> Lanterns › Wicks › Oil"; !ok || c.Breadcrumb() != want {
		t.Errorf("breadcrumb %q, want %q", c.Breadcrumb(), want)
	}
	check.Equal(t, text[c.Span.Start:c.Span.End], "\nPour it.\n", "the span")
}

// TestTitleInCapitals checks that the words of a property Title are found, because it is not the title of the document.
func TestTitleInCapitals(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "---\nTitle: Weekly usage\ntags: x\n---\nText\n")
	w.run()
	check.List(t, found(t, w.o.Backend, sheaf.FieldProperties, "weekly"), []sheaf.ID{"t:a.md"}, "properties with weekly")
	check.List(t, found(t, w.o.Backend, sheaf.FieldProperties, "x"), nil, "properties with a tag")
}

// TestListsOfLinks checks that a list of links with a shared word keeps each word once, outside vectors. Other lists,
// and a list whose word is in a title, stay the same.
func TestListsOfLinks(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	const text = "Before.\n\n- [[Old harbor]]\n- [New harbors](new.md)\n- [[The harbor]]\n\nBehind.\n"
	for _, c := range []struct {
		name, text, body string
		shared           bool
	}{
		{"shared", text, "Before. Behind. Old harbor New new.md The", true},
		{"in the title", "# Harbor\n\n" + text, "Before. - [[Old harbor]] - [New harbors](new.md) - [[The harbor]] Behind.",
			false},
		{"function words", strings.ReplaceAll(strings.ReplaceAll(text, "harbors", "b"), "harbor", "and"),
			"Before. - [[Old and]] - [New b](new.md) - [[The and]] Behind.", false},
		{"not in all", strings.Replace(text, "New harbors", "New", 1), "Before. - [[Old harbor]] - [New](new.md) - [[The " +
			"harbor]] Behind.", false},
	} {
		w, store := newWorld(t), &collecting{}
		w.write("n.md", c.text)
		model := &asked{Embedder: hashed.New(256)}
		o := w.o
		o.Backend, o.Embedder, o.Analyzer = store, model, a
		must.Get(ingest.Run(t.Context(), o))
		body := ""
		for _, chunk := range store.chunks {
			for _, f := range chunk.Fields {
				if f.Name == sheaf.FieldBody && strings.Contains(f.Text, "Behind") {
					body = strings.Join(strings.Fields(f.Text), " ")
				}
			}
		}
		check.Equal(t, body, c.body, "%s: the body", c.name)
		embedded := slices.ContainsFunc(model.texts, func(text string) bool {
			return strings.Contains(text, "[[Old")
		})
		check.That(t, embedded != c.shared, "%s: the model got %q", c.name, model.texts)
	}
}
