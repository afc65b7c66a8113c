package collection_test

import (
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestBrokenFrontmatterHides checks that malformed frontmatter still restricts access if its access
// line is readable alone, and never widens access.
func TestBrokenFrontmatterHides(t *testing.T) {
	const broken = "---\ntitle: Q3: harbor\n"
	f := collectiontest.Open(t, map[string]string{
		"plain.md":  "# Plain\n\nA harbor.\n",
		"tenant.md": broken + "tenant: acme\n---\nA harbor.\n",
		"hidden.md": broken + "hidden: true\n---\nA harbor.\n",
		"tagged.md": broken + "tags: [draft]\n---\nA harbor.\n",
		"public.md": broken + "access: public\nsets: [handbook]\n---\nA harbor.\n",
	}, nil)
	all := []string{access.All}
	for name, c := range map[string]struct {
		grant access.Grant
		found int
	}{
		"no tenant":      {access.Grant{Access: all}, 4},
		"its tenant":     {access.Grant{Tenant: "acme", Access: all}, 1},
		"not hidden":     {access.Grant{Tenant: access.All, Access: all, Baked: "-prop.hidden:true"}, 4},
		"not draft":      {access.Grant{Tenant: access.All, Access: all, Baked: "-tag:draft"}, 4},
		"public":         {access.Grant{Tenant: access.All}, 0},
		"of a set":       {access.Grant{Tenant: access.All, Access: all, Sets: []string{"handbook"}}, 0},
		"everything":     {access.Unrestricted(), 5},
		"hidden, drafts": {access.Grant{Tenant: access.All, Access: all, Baked: "prop.hidden:true OR tag:draft"}, 2},
	} {
		c.grant.Scopes = []access.Scope{access.ScopeSearch}
		r := reader(t, f, c.grant)
		if got := find(t, r, collection.SearchRequest{Text: "harbor", Limit: 20}).Results; len(got) != c.found {
			t.Errorf("%s: %d found, want %d", name, len(got), c.found)
		}
		list, err := r.Documents(t.Context(), "", "", 100)
		if err != nil || len(list.Documents) != c.found {
			t.Errorf("%s: %+v listed, %v, want %d", name, list, err, c.found)
		}
	}
}
