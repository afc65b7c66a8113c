package collection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/store/postgres"
)

// TestPushDown: a server that can join branches does so for callers of the doors too,
// among what each may see, and answers as the plain path does; a store that cannot says
// so in a note.
func TestPushDown(t *testing.T) {
	files := map[string]string{"plan.md": "---\naccess: [eve]\n---\n# Plan\n\nUndo every commit in secret.\n"}
	for i := range 12 {
		files[fmt.Sprintf("note%d.md", i)] = fmt.Sprintf("---\naccess: [public]\n---\n# Note %d\n\nUndo %s\n", i, strings.Repeat("a commit, with care ", 1+i))
	}
	ask := func(t *testing.T, f *collectiontest.Fixture, grant access.Grant, pushDown string) *collection.Answer {
		t.Helper()
		return find(t, reader(t, f, grant), collection.SearchRequest{Text: "undo a commit", Profile: "rrf", Limit: 50, Parameters: map[string]string{"push_down": pushDown}})
	}
	t.Run("engine", func(t *testing.T) {
		a := ask(t, collectiontest.Open(t, files, nil), access.Unrestricted(), "equal")
		if notes := fmt.Sprint(a.Notes); len(a.Results) == 0 || !strings.Contains(notes, "joins no branches by itself") {
			t.Errorf("%d results, notes %v", len(a.Results), notes)
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := os.Getenv("SHEAF_TEST_POSTGRES")
		if url == "" {
			t.Skip("no PostgreSQL: SHEAF_TEST_POSTGRES is not set; see scripts/servers/postgres.sh")
		}
		schema := fmt.Sprintf("serve_%d_%d", os.Getpid(), rand.Uint32())
		f := collectiontest.Open(t, files, func(o *collection.Options) {
			store, err := postgres.Open(t.Context(), postgres.Options{URL: url, Schema: schema, Analyzer: o.Analyzer, RowSecurity: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = store.Close()
				if err := postgres.Drop(context.Background(), url, schema); err != nil {
					t.Error(err)
				}
			})
			o.Backend, o.Store = store, "PostgreSQL"
		})
		for who, grant := range map[string]access.Grant{"everything": access.Unrestricted(), "what is public": {Scopes: []access.Scope{access.ScopeSearch}}} {
			plain, pushed := ask(t, f, grant, "never"), ask(t, f, grant, "equal")
			if !strings.Contains(fmt.Sprint(pushed.Notes), "ranked and joined by one statement of PostgreSQL") || strings.Contains(fmt.Sprint(plain.Notes), "joined by") {
				t.Errorf("%s: notes %v, on the plain path %v", who, pushed.Notes, plain.Notes)
			}
			if len(plain.Results) == 0 || len(plain.Results) != len(pushed.Results) {
				t.Fatalf("%s: %d results, on the plain path %d", who, len(pushed.Results), len(plain.Results))
			}
			secret := false
			for i, r := range plain.Results {
				if pushed.Results[i].ID != r.ID || pushed.Results[i].Score != r.Score {
					t.Errorf("%s: place %d is %s (%v), on the plain path %s (%v)", who, i+1, pushed.Results[i].ID, pushed.Results[i].Score, r.ID, r.Score)
				}
				secret = secret || r.Doc == "notes:plan.md"
			}
			if secret != (who == "everything") {
				t.Errorf("%s: the plan is shown: %t", who, secret)
			}
		}
	})
}
