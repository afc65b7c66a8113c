package collection_test

import (
	"slices"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestQueryWordFindsProperty checks a query word that no text has. It finds visible documents with a
// property of that name, but only if nothing else matches.
func TestQueryWordFindsProperty(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"open.md": "---\naccess: public\nreplicas: 3\n---\n# Cluster\n\nThe manifest.\n",
		"shut.md": "---\naccess: [ann]\nreplicas: 4\nquorum: 2\n---\n# Other\n\nThe manifest.\n",
		"maps.md": "---\naccess: public\nspec:\n  shards: 3\n---\n# Fourth\n\nThe manifest.\n",
		"deep.md": "---\naccess: [ann]\nsecret:\n  Depth: 3\n---\n# Fifth\n\nThe manifest.\n",
		"text.md": "---\naccess: public\nmanifest: yes\n---\n# Third\n\nNothing.\n",
	}, func(o *collection.Options) { o.Embed = nil })
	all, some := access.Unrestricted(), access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	for _, c := range []struct {
		grant access.Grant
		query string
		want  []string
	}{
		{all, "replicas", []string{"open.md", "shut.md"}},
		{all, "Replicas path:open.md", []string{"open.md"}},
		{some, "replicas", []string{"open.md"}},
		{all, "quorum", []string{"shut.md"}},
		{some, "quorum", nil},
		{all, "manifest", []string{"deep.md", "maps.md", "open.md", "shut.md"}},
		{all, "shards", []string{"maps.md"}},
		{some, "Shards", []string{"maps.md"}},
		{all, "depth", []string{"deep.md"}},
		{some, "depth", nil},
		{all, "+replicas", nil},
		{all, "nothingness", nil},
	} {
		a := find(t, reader(t, f, c.grant), collection.SearchRequest{Text: c.query, Profile: "bench"})
		var got []string
		for _, r := range a.Results {
			if !slices.Contains(got, r.Path) {
				got = append(got, r.Path)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v; notes %q", c.query, got, c.want, a.Notes)
		}
	}
}
