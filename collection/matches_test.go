package collection_test

import (
	"fmt"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
)

// TestMatches checks that counts cover what the profile searches: its word fields, or the sections
// of scanned files.
func TestMatches(t *testing.T) {
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("harbor/a%d.md", i)] = "---\ntags: [crane]\n---\n# Ships\n\nA boat.\n\n## More\n\nAnother ship, " +
			"and a quay.\n"
	}
	files["b.md"] = "# Quay\n\nA crane in the harbor.\n"
	r := reader(t, scanning(t, files), access.Unrestricted())
	// Matches of a later word branch, which searches titles, count too.
	if a := find(t, r, collection.SearchRequest{Text: "ships", Profile: "onyx-vespa", Facets: []string{"ext"},
		Count: true}); *a.Matches <= 5 {
		t.Errorf("%d match, want others than the 5 whose text has the word", *a.Matches)
	}
	for _, profile := range []string{"sheaf", "rrf", "tree", "tiered"} {
		for _, sort := range []string{"", "path"} {
			for _, q := range []collection.SearchRequest{{Text: "harbor"}, {Text: "crane"}, {Text: "ship quay"},
				{Text: "nothing"}, {Text: "tag:crane"}, {Filter: "tag:crane"}, {Text: ""}} {
				if q.Text == "" && sort == "" {
					continue // without a query and order, facets count all documents
				}
				q.Profile, q.Sort, q.Facets, q.Count, q.Window = profile, sort, []string{"ext"}, true, 100
				a := find(t, r, q)
				counted := 0
				for _, v := range a.Facets["ext"] {
					counted += v.Count
				}
				if a.Matches == nil || *a.Matches != counted || sort != "" && counted != a.Total.Value {
					t.Errorf("%+v: %d match, %d by extensions, total %+v", q, *a.Matches, counted, a.Total)
				}
				if sort != "" && q.Text != "nothing" && (q.Text != "harbor" && q.Text != "crane" || profile == "tiered") &&
					counted == 0 {
					t.Errorf("%+v: nothing is found", q)
				}
			}
		}
	}
}
