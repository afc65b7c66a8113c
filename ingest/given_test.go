package ingest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// TestPut checks that given documents are found by their words, keep their text, and can be
// replaced one by one.
func TestPut(t *testing.T) {
	w := newWorld(t)
	w.o.Trees = []catalog.Tree{{Name: "given"}}
	ctx := context.Background()
	when := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	put := func(docs ...ingest.Given) *ingest.Report {
		t.Helper()
		report := must.Get(ingest.Change(ctx, w.o, docs, nil))
		must.Do(t, w.o.Catalog.Reload())
		return report
	}
	r := put(ingest.Given{Tree: "given", Path: "42", Title: "Baking", Text: []byte("yeast and flour"), Modified: when},
		ingest.Given{Tree: "given", Path: "43", Untitled: true, Text: []byte("the jib")},
		ingest.Given{Tree: "given", Path: "a/b.md", Title: "ignored",
			Text: []byte("# Own title\n\nwords\n\n## Part\n\nmore")})
	check.That(t, r.Added == 3 && r.Changed == 0, "%+v", r)
	r = put(ingest.Given{Tree: "given", Path: "43", Untitled: true, Text: []byte("the spinnaker")})
	check.That(t, r.Added == 0 && r.Changed == 1, "%+v", r)
	v := w.view()
	must.Equal(t, v.Docs(), 3, "documents")
	for id, title := range map[sheaf.ID]string{"given:42": "Baking", "given:43": "", "given:a/b.md": "Own title"} {
		d, ok := v.Document(id)
		check.That(t, ok && d.Title == title && d.Chunks[0].Title == title, "%s: title %q of %q, want %q", id, d.Title,
			d.Chunks[0].Title, title)
	}
	text, err := v.Text("given:43")
	check.That(t, err == nil && string(text) == "the spinnaker", "%q, %v", text, err)
	d, ok := v.Date("given:42")
	check.That(t, ok && d.Time.Equal(when), "dated %v", d)
	d, ok = v.Date("given:43")
	check.That(t, !ok, "dated %v", d)
	for word, want := range map[string]int{"flour": 1, "baking": 1, "jib": 0, "spinnaker": 1} {
		hits := must.Get(w.o.Backend.Retrieve(ctx,
			store.Request{Limit: 9, Text: &store.TextRequest{Query: sheaf.Match{Text: word}, K1: 1.2, B: 0.75,
				Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 1}, {Name: sheaf.FieldBody, Weight: 1}}}}))
		check.Equal(t, len(hits), want, "%q: hits", word)
	}
	for path, when := range map[string]time.Time{"1": time.Date(1599, 5, 1, 0, 0, 0, 0, time.UTC),
		"2": time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), "3": time.Unix(0, 0), "2023-01-02 b": when} {
		put(ingest.Given{Tree: "given", Path: path, Text: []byte("dated"), Modified: when})
		v := w.o.Catalog.View()
		d, ok := v.Date(sheaf.DocumentID("given", path))
		check.That(t, ok && d.Time.Equal(when), "%s, of %v, is dated %v", path, when, d)
		v.Close()
	}
	created := []sheaf.Property{{Name: "created", Values: []sheaf.Value{sheaf.TextValue("2020-01-02")}}}
	for i, c := range []struct {
		text, want string
		modified   time.Time
	}{
		{"dated", "2024-05-01", when}, // an explicit date wins
		{"dated", "2020-01-02", time.Time{}},
		{"---\nupdated: 2019-03-04\n---\ndated", "2020-01-02", when}, // the text has a date; the first one wins
	} {
		put(ingest.Given{Tree: "given", Path: "created.md", Text: []byte(c.text), Modified: c.modified, Properties: created})
		v := w.o.Catalog.View()
		d, _ := v.Date("given:created.md")
		check.That(t, d.Time.Format(time.DateOnly) == c.want, "%d: dated %v, want %s", i, d, c.want)
		v.Close()
	}
	put(ingest.Given{Tree: "given", Path: "4", Text: []byte("dated"),
		Modified: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
	far := w.view()
	d, ok = far.Date("given:4")
	check.That(t, !ok, "in the year 10000: dated %v", d)
	// A change of a property is a change, also with the same text.
	owned := ingest.Given{Tree: "given", Path: "42", Title: "Baking", Text: []byte("yeast and flour"), Modified: when,
		Properties: []sheaf.Property{{Name: "team", Values: []sheaf.Value{sheaf.TextValue("bread")}}}}
	r = put(owned)
	check.That(t, r.Added == 0 && r.Changed == 1, "another property: %+v", r)
	later := w.view()
	if d, ok := later.Document("given:42"); !ok || len(d.Properties) != 1 || d.Properties[0].Name != "team" ||
		d.Properties[0].Values[0].Text != "bread" {
		t.Errorf("properties %+v", d.Properties)
	}
}

// TestPutChunks checks that a document given in chunks needs no text, and that chunks with the same
// ID are refused.
func TestPutChunks(t *testing.T) {
	w := newWorld(t)
	w.o.Trees = []catalog.Tree{{Name: "given"}}
	cut := func(chunks ...ingest.GivenChunk) error {
		_, err := ingest.Change(t.Context(), w.o, []ingest.Given{{Tree: "given", Path: "cut", Chunks: chunks}}, nil)
		return err
	}
	must.Do(t, cut(ingest.GivenChunk{Text: "the jib"}, ingest.GivenChunk{Text: "the keel", Slug: "keel"}))
	v := w.view()
	text, err := v.Text("given:cut")
	check.That(t, err == nil && string(text) == "the jib\n\nthe keel", "%q, %v", text, err)
	for say, chunks := range map[string][]ingest.GivenChunk{
		`chunk 1: slug "a": another chunk has it`: {{Text: "the jib", Slug: "a"}, {Text: "the keel", Slug: "a"}},
		`chunk 1: slug "0": another chunk has it`: {{Text: "the jib"}, {Text: "the keel", Slug: "0"}},
		`chunk 0: slug "a#b": must not hold a #`:  {{Text: "the jib", Slug: "a#b"}},
	} {
		check.Fails(t, cut(chunks...), sheaf.ErrInvalid, say, "cut")
	}
}

// TestPutKeepsFolders checks that a Change without trees keeps the recorded trees, and the next run keeps the document.
func TestPutKeepsFolders(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "# A\n\nfirst words\n")
	w.run()
	o := w.o
	o.Trees = nil
	must.Get(ingest.Change(t.Context(), o,
		[]ingest.Given{{Tree: "given", Path: "1.md", Text: []byte("given words")}}, nil))
	check := func(when string) {
		t.Helper()
		v := w.view()
		for id, want := range map[sheaf.ID]string{"t:a.md": "# A\n\nfirst words\n", "given:1.md": "given words"} {
			if text, err := v.Text(id); err != nil || string(text) != want {
				t.Errorf("%s: %s: %q, %v", when, id, text, err)
			}
		}
	}
	check("put")
	w.run()
	check("folders looked at")
	if _, err := ingest.Change(t.Context(), ingest.Options{}, nil, nil); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("no catalog: %v", err)
	}
}
