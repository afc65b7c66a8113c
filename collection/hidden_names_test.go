package collection_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestLinksIgnoreHiddenDocuments checks that a link by name ignores hidden documents. A link that leads to no
// document would reveal that a hidden one exists.
func TestLinksIgnoreHiddenDocuments(t *testing.T) {
	const public = "---\naccess: [public]\n"
	seen := map[string]string{
		"a/from.md": public + "---\n# From\n\nSee [[plan]], ![[notes/plan]], [home](../guide), [start](/en/start) " +
			"and [[other]] for the budget.\n",
		"b/plan.md":       public + "---\n# A plan\n\nThe budget of the plan. Back to [[from]].\n",
		"b/guide.md":      public + "---\n# Guide\n\nThe budget of the guide.\n",
		"site/x.md":       public + "aliases: [other]\n---\n# X\n\nThe budget of the other one.\n",
		"c/en/start.md":   public + "---\n# Start\n\nThe budget at the start.\n",
		"guide/readme.md": public + "---\n# Readme\n\nThe budget of the folder.\n",
		"z/notes/plan.md": public + "---\n# Planned\n\nThe budget of the notes.\n",
	}
	all := map[string]string{"a/plan.md": "# Secret plan\n", "a/other.md": "# Secret other\n",
		"a/notes/plan.md": "# Secret notes\n", "guide.md": "# Secret guide\n", "en/start.md": "# Secret start\n",
		"b/from.md": "# Secret from\n"}
	for path, text := range seen {
		all[path] = text
	}
	grant := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	whole, rest := reader(t, collectiontest.Open(t, all, nil), grant), reader(t, collectiontest.Open(t, seen, nil), grant)
	own := regexp.MustCompile(`"(generation|modified|next|file|etag|date)":("(?:[^"\\]|\\.)*"|\d+),?`)
	same := func(what string, ask func(r *collection.Reader) (any, error)) {
		t.Helper()
		var texts [2]string
		for i, r := range []*collection.Reader{whole, rest} {
			out, err := ask(r)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			text, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = own.ReplaceAllString(string(text), "")
		}
		if texts[0] != texts[1] {
			t.Errorf("%s:\n%s\nand without the hidden ones\n%s", what, texts[0], texts[1])
		}
	}
	for path := range seen {
		id := sheaf.DocumentID(collectiontest.Tree, path)
		same("document "+path, func(r *collection.Reader) (any, error) { return r.Document(t.Context(), id) })
		same("part "+path, func(r *collection.Reader) (any, error) { return r.Get(t.Context(), id, collection.GetOptions{}) })
	}
	for _, name := range []string{"plan", "other", "start", "from", "notes/plan"} {
		same("the note "+name, func(r *collection.Reader) (any, error) {
			target, err := r.Find(name)
			if err != nil {
				return err.Error(), nil
			}
			return target.Doc.ID, nil
		})
	}
	same("a stage", func(r *collection.Reader) (any, error) {
		run := collection.StageRun{Name: "graph_boost", Settings: map[string]string{"co_citation": "1", "max": "0"},
			Limit: 10, Rankings: [][]collection.Scored{{}}}
		for _, path := range slices.Sorted(maps.Keys(seen)) { // equal scores keep the order of input
			run.Rankings[0] = append(run.Rankings[0],
				collection.Scored{ID: sheaf.DocumentID(collectiontest.Tree, path), Score: 1})
		}
		return r.Stage(run)
	})
	for _, p := range []string{"sheaf", "rrf"} {
		same("search by "+p, func(r *collection.Reader) (any, error) {
			return r.Search(t.Context(), collection.SearchRequest{Text: "budget", Profile: p, Explain: true})
		})
	}
}
