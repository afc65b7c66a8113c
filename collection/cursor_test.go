package collection_test

import (
	"fmt"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// TestPages checks that pages equal one long page, even for answers that are not cached, as of scanned files.
func TestPages(t *testing.T) {
	notes := map[string]string{}
	for i := range 40 {
		notes[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("---\ntags: [t%d]\n---\n# Note %d\n\nUndo a commit.\n", i, i)
	}
	f := scanning(t, notes)
	r, err := f.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, profile := range []string{"sheaf", "tiered"} { // tiered scans files, and its answers are not cached
		q := collection.SearchRequest{Text: "undo commit", Profile: profile, Limit: 4}
		all := q
		all.Limit = 8
		want, err := r.Search(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for name, ask := range map[string]func() (*collection.Answer, error){
			"search": func() (*collection.Answer, error) { return r.Search(t.Context(), q) },
			"explain": func() (*collection.Answer, error) {
				q.Brief = true
				e, err := r.Explain(t.Context(), q)
				if err != nil {
					return nil, err
				}
				return e.Answer, nil
			},
		} {
			first, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			second, err := r.Page(t.Context(), first.Next, collection.SearchRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var ids []sheaf.ID
			for i, shown := range append(first.Results[:4:4], second.Results...) {
				ids = append(ids, shown.ID)
				if w := want.Results[i]; shown.ID != w.ID || shown.Title != w.Title ||
					fmt.Sprint(shown.Tags) != fmt.Sprint(w.Tags) || shown.Score != w.Score {
					t.Errorf("%s of %s: result %d is %+v, want %+v", name, profile, i+1, shown, w)
				}
			}
			if len(ids) != 8 {
				t.Errorf("%s of %s: two pages have %q", name, profile, ids)
			}
		}
	}
}
