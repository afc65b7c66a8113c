package collection_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// TestPagesOfFilterQuery checks the pages of a query with only filters. They show every matching
// document and no result twice, even if the first document has hundreds of sections.
func TestPagesOfFilterQuery(t *testing.T) {
	var big strings.Builder
	big.WriteString("---\ntags: [x]\n---\n# Big\n")
	for i := range 900 {
		fmt.Fprintf(&big, "\n## Part %d\n\nWords.\n", i)
	}
	notes := map[string]string{"0big.md": big.String(), "other.md": "# Other\n\nText.\n"}
	for i := range 30 {
		notes[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("---\ntags: [x]\n---\n# Note %d\n\nText.\n", i)
	}
	f := scanning(t, notes)
	r, err := f.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, profile := range []string{"sheaf", "sonar", "bench"} {
		q := collection.SearchRequest{Text: "tag:x", Profile: profile, Limit: 7, Window: 100}
		page, err := r.Search(t.Context(), q)
		docs, ids := map[sheaf.ID]int{}, map[sheaf.ID]bool{}
		for err == nil {
			if page.Total.Relation != "eq" || page.Degraded {
				t.Errorf("%s: total %+v, warnings %q", profile, page.Total, page.Warnings)
			}
			for _, shown := range page.Results {
				if docs[shown.Doc]++; ids[shown.ID] || docs[shown.Doc] > 3 {
					t.Errorf("%s: %s is shown again", profile, shown.ID)
				}
				ids[shown.ID] = true
			}
			if page.Next == "" {
				break
			}
			page, err = r.Page(t.Context(), page.Next, collection.SearchRequest{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(docs) != 31 || len(ids) != page.Total.Value {
			t.Errorf("%s: %d documents with %d results of %d", profile, len(docs), len(ids), page.Total.Value)
		}
	}
}
