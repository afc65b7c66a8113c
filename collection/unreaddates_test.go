package collection_test

import (
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestUnreadDates checks that each search that filters by date names a document whose date cannot
// be read, if the caller may see the document.
func TestUnreadDates(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"good.md":   "---\ndate: 2024-01-05\n---\n# Good\n\nheron\n",
		"bad.md":    "---\ndate: 11/20/2018\naccess: public\n---\n# Bad\n\nheron\n",
		"hidden.md": "---\ndate: 12/20/2018\naccess: [user:ann]\n---\n# Hidden\n\nheron\n",
		"other.md":  "---\ndate: 2024-01-05\ncreated: 11/20/2018\n---\n# Other\n\nheron\n",
	}, nil)
	someone := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	for _, c := range []struct {
		grant access.Grant
		query string
		want  string
	}{
		{access.Unrestricted(), "heron before:2030", "2 documents have dates that cannot be read, such as "},
		{access.Unrestricted(), "heron before:2030", "2 documents have dates that cannot be read, such as "},
		{access.Unrestricted(), "heron (date:2024-01-05 OR tag:x)", "2 documents have dates"},
		{access.Unrestricted(), "heron -date:2024", "2 documents have dates"},
		{someone, "heron before:2030", "1 document has a date that cannot be read"},
		{access.Unrestricted(), "heron", ""},
		{access.Unrestricted(), "heron tag:x", ""},
	} {
		answer, err := reader(t, f, c.grant).Search(t.Context(), collection.SearchRequest{Text: c.query, Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		var note string
		for _, n := range answer.Notes {
			if strings.Contains(n, "that cannot be read") {
				note = n
			}
		}
		if !strings.HasPrefix(note, c.want) || c.want == "" && note != "" {
			t.Errorf("%s: note %q, want %q", c.query, note, c.want)
		}
		if !c.grant.SeesAll() && strings.Contains(note, "hidden") {
			t.Errorf("%s: the note %q names a hidden document", c.query, note)
		}
	}
	explained, err := reader(t, f, access.Unrestricted()).Explain(t.Context(),
		collection.SearchRequest{Text: "heron before:2030", Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(explained.Notes, " "); !strings.Contains(notes, "2 documents have dates") {
		t.Errorf("explain has the notes %q", notes)
	}
}
