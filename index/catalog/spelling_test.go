package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestSpellings checks that a path which no document has returns the similar spellings that exist.
func TestSpellings(t *testing.T) {
	c := openIn(t, vfs.NewMem(), "/c")
	u := catalog.Update{Settings: &catalog.Settings{Trees: []catalog.Tree{{Name: "notes", Root: "/n"}}}}
	for _, p := range []string{"My Folder/Sub/My Note.md", "My Folder/other.md", "docs/a.md", "Docs/b.md",
		"U\u0308ber/x.md", "exact.md", "sub/Exact.md", "gone/x.md", "sub/README.md", "readme.md"} {
		u.Put = append(u.Put, record(t, p, "text\n"))
	}
	for i := range 20 {
		name := []byte("many")
		for k := range name {
			if i>>k&1 > 0 {
				name[k] -= 'a' - 'A'
			}
		}
		if i < 15 {
			u.Put = append(u.Put, record(t, fmt.Sprintf("%s/x.md", name), "text\n"))
		}
	}
	given := record(t, "Given/x.md", "text\n") // no settings name its tree
	given.Document.ID, given.Document.Tree = "acme:Given/x.md", "acme"
	u.Put = append(u.Put, given, record(t, "given/y.md", "text\n"))
	must.Do(t, c.Update(context.Background(), u))
	must.Do(t, c.Update(context.Background(), catalog.Update{Delete: []sheaf.ID{"notes:gone/x.md"}}))
	v := c.View()
	defer v.Close()
	for _, s := range []struct {
		written string
		want    []string
	}{
		{"my folder/", []string{"My Folder/"}},
		{"MY FOLDER/sub", []string{"My Folder/Sub"}},
		{"my folder/sub/my n", []string{"My Folder/Sub/My N"}},
		{"my note.md", []string{"My Note.md"}},
		{"My Folder/", nil},
		{"My Note.md", nil},
		{"DOCS/", []string{"Docs/", "docs/"}},
		{"docs/", nil},
		{"\u00fcBER/", []string{"U\u0308ber/"}},
		{"U\u0308ber/x.md", nil},
		{"exact.md", nil},
		{"EXACT.md", []string{"Exact.md", "exact.md"}},
		{"README.md", nil},
		{"Given/", nil},
		{"GIVEN/", []string{"Given/", "given/"}},
		{"GONE/", nil},
		{"none/", nil},
		{"", nil},
	} {
		got := v.Spellings(s.written)
		check.That(t, sameSet(got, s.want), "%q is written %q, want %q", s.written, got, s.want)
	}
	check.Equal(t, len(v.Spellings("MANY/")), 8, "spellings")
	must.Do(t, v.Err())
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
