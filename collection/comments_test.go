package collection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

const commented = "---\naccess: public\n---\n# Plan\n\nWe ship in March. %%the oryx%% <!-- an oryx -->\n\n%%\n## " +
	"Oryx\n\nThe oryx #oryx [[oryx]] oryx:: 1\n%%\n\n## Harbor\n\nCranes in March.\n"

// told returns every answer of a caller about the plan, as JSON.
func told(t *testing.T, r *collection.Reader, query string) string {
	t.Helper()
	var b strings.Builder
	add := func(out any, err error) {
		t.Helper()
		text, jsonErr := json.Marshal(out)
		if err != nil || jsonErr != nil {
			t.Fatal(err, jsonErr)
		}
		b.Write(text)
	}
	const plan = sheaf.ID(collectiontest.Tree + ":plan.md")
	for _, profile := range []string{"", "rrf", "tiered"} {
		add(r.Search(t.Context(), collection.SearchRequest{Text: query, Profile: profile, Explain: true}))
		add(r.Explain(t.Context(), collection.SearchRequest{Text: query, Profile: profile}))
	}
	add(r.Get(t.Context(), plan, collection.GetOptions{Line: 1, Lines: 100, Neighbors: 3}))
	add(r.Similar(t.Context(), collectiontest.Tree+":other.md", collection.SearchRequest{}))
	add(r.Context(t.Context(), "", []byte("We ship in March, cranes."), collection.SearchRequest{}))
	return b.String()
}

// TestRestrictedCallersSeeNoComments checks that callers that may not see everything see no comments, unless the
// collection shows comments.
func TestRestrictedCallersSeeNoComments(t *testing.T) {
	f := scanning(t, map[string]string{"plan.md": commented, "other.md": "---\naccess: public\n---\n# Other\n\nWe ship " +
		"in April. [[Plan]]\n"})
	caller := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	if out := told(t, reader(t, f, caller), "ship march"); strings.Contains(out, "the oryx") ||
		strings.Contains(out, "an oryx") {
		t.Errorf("comments are shown: %s", out)
	}
	if out := told(t, reader(t, f, access.Unrestricted()), "ship march"); !strings.Contains(out, "the oryx") ||
		!strings.Contains(out, "an oryx") {
		t.Errorf("comments are kept from who sees everything: %s", out)
	}
	shown := collectiontest.Open(t, map[string]string{"plan.md": commented, "other.md": "[[Plan]]\n"},
		func(o *collection.Options) { o.ShowComments = true })
	if p, err := reader(t, shown, caller).Get(t.Context(), collectiontest.Tree+":plan.md",
		collection.GetOptions{Line: 1, Lines: 100}); err != nil || !strings.Contains(p.Text, "the oryx") {
		t.Errorf("got %+v, %v", p, err)
	}
}
