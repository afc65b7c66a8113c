package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/must"
	"sheaf/store"
)

// found returns the chunks with a word in a field, sorted.
func found(t *testing.T, b store.Backend, field, word string) (ids []sheaf.ID) {
	t.Helper()
	r := must.Get(b.Retrieve(context.Background(),
		store.Request{Limit: 100, Text: &store.TextRequest{Query: sheaf.Match{Text: word},
			Fields: []store.FieldWeight{{Name: field, Weight: 1}}, K1: store.DefaultK1, B: store.DefaultB}}))
	for _, h := range r {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

// finds counts the chunks whose text has a word.
func finds(t *testing.T, b store.Backend, word string) int {
	t.Helper()
	return len(found(t, b, sheaf.FieldBody, word))
}

// TestRelist checks that Relist writes damaged lists again, from the records and the folder.
func TestRelist(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	w.write("a.md", "# A\n\nwords\n")
	w.write("b.md", "\x7fELF\x00\x01\x02")
	w.write("c.exe", "x")
	dir := t.TempDir()
	w.o.Catalog = openCatalog(t, dir)
	want := w.run().Skipped
	if len(want) == 0 {
		t.Fatal("nothing was skipped")
	}
	if changed, err := ingest.Relist(ctx, w.o.Catalog); changed || err != nil {
		t.Fatalf("sound lists are written: %v", err)
	}
	lists, err := filepath.Glob(filepath.Join(dir, "catalog-skipped-*"))
	if err != nil || len(lists) == 0 {
		t.Fatalf("%v, %v", lists, err)
	}
	for _, list := range lists {
		data := must.Get(os.ReadFile(list))
		for i := range data {
			data[i] ^= 0xff
		}
		must.Do(t, os.WriteFile(list, data, 0o600))
	}
	w.o.Catalog = openCatalog(t, dir)
	if changed, err := ingest.Relist(ctx, w.o.Catalog); !changed || err != nil {
		t.Fatalf("a damaged list stays: %v", err)
	}
	w.run()
	v := w.view()
	got, err := v.Skipped()
	byPath := func(a, b catalog.Skip) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(got, byPath)
	slices.SortFunc(want, byPath)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("skipped %v, %v, want %v", got, err, want)
	}
	if faults := v.Check(); len(faults) > 0 {
		t.Error(faults)
	}
}

func openCatalog(t *testing.T, dir string) *catalog.Catalog {
	t.Helper()
	c := must.Get(catalog.Open(vfs.Disk{}, dir, catalog.Options{}))
	t.Cleanup(func() { c.Close() })
	return c
}
