package collection_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestHiddenDocumentsChangeNoAnswer checks that answers equal those of an index with only the visible
// documents, to the last digit. Hidden documents are not shown, and no difference reveals that they
// exist.
func TestHiddenDocumentsChangeNoAnswer(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 5))
	files := listed(150, random)
	for name, text := range files {
		files[name] = strings.Replace(text, "---\n",
			fmt.Sprintf("---\ndate: 2024-%02d-%02d\n", 1+random.IntN(12), 1+random.IntN(28)), 1)
	}
	whole := collectiontest.Open(t, files, nil)
	// Generation and file time differ between indexes.
	own := regexp.MustCompile(`"(generation|modified|next|file|etag)":("[^"]*"|\d+),?`)
	told := func(out any, err error) string {
		if err != nil {
			return "error: " + err.Error()
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return own.ReplaceAllString(string(text), "")
	}
	words := strings.Fields("budget salary offer merger lawsuit payroll bonus contract roadmap launch secret memo " +
		"buget secrt lawsut")
	words = append(words, "budget tag:fianance", "tag:zzz", "salary prop.owner:zzz", "prop.owner:zzz path:zzz/",
		"path:zzz.md offer", "ext:zzz launch")
	profiles := []string{"", "sheaf", "rrf", "bench", "tree", "sonar", "onyx-vespa", "onyx-elastic", "tiered"}
	compared := 0
	for round := 0; compared < 4; round++ {
		if round == 40 {
			t.Fatalf("of %d callers %d see a part", round, compared)
		}
		grant := access.Grant{Scopes: []access.Scope{access.ScopeSearch},
			Access: [][]string{nil, {"user:ann"}, {"group:staff", "user:bob"}, {access.All}}[random.IntN(4)],
			Tenant: []string{"", "acme", access.All}[random.IntN(3)], Sets: [][]string{nil, nil, {"finance"}}[random.IntN(3)]}
		r := reader(t, whole, grant)
		list, err := r.Documents(t.Context(), "", "", collection.MaxWindow)
		if err != nil {
			t.Fatal(err)
		}
		left := map[string]string{}
		var ids []sheaf.ID
		for _, d := range list.Documents {
			left[d.Path] = files[d.Path]
			ids = append(ids, d.ID)
		}
		if len(left) == 0 || len(left) == len(files) {
			continue
		}
		compared++
		rest := collectiontest.Open(t, left, nil)
		only, all := reader(t, rest, grant), reader(t, rest, access.Unrestricted())
		as := func(only *collection.Reader, door string, ask func(r *collection.Reader) string) {
			t.Helper()
			a, b := ask(r), ask(only)
			if a != b { // ages count minutes, and a minute may have ended between the two
				a, b = ask(r), ask(only)
			}
			if a != b {
				at := 0
				for at < min(len(a), len(b)) && a[at] == b[at] {
					at++
				}
				cut := func(s string) string { return s[max(0, at-150):min(len(s), at+150)] }
				t.Errorf("%+v, %s\n%s\nand without the hidden ones\n%s", grant, door, cut(a), cut(b))
			}
		}
		same := func(door string, ask func(r *collection.Reader) string) { t.Helper(); as(only, door, ask) }
		for range 30 {
			q := collection.SearchRequest{Text: words[random.IntN(len(words))], Profile: profiles[random.IntN(len(profiles))],
				Count: true, Window: 100, Limit: 100, Facets: []string{"tag", "folder", "prop.owner"}}
			if random.IntN(2) == 0 {
				q.Text += " " + words[random.IntN(len(words))]
			}
			if random.IntN(8) == 0 {
				q.Sort = "date"
			}
			q.Filter = []string{"", "", "after:2024-06", "-after:2024-03 ext:md"}[random.IntN(4)]
			id := ids[random.IntN(len(ids))]
			ask := fmt.Sprintf(" of %q among %q with %q", q.Text, q.Filter, q.Profile)
			search := func(r *collection.Reader) string { return told(r.Search(t.Context(), q)) }
			same("search"+ask, search)
			as(all, "by who sees everything, search"+ask, search)
			same("explain"+ask, func(r *collection.Reader) string { return told(r.Explain(t.Context(), q)) })
			same("why not"+ask, func(r *collection.Reader) string { return told(r.WhyNot(t.Context(), q, id)) })
			same("similar to "+string(id), func(r *collection.Reader) string {
				return told(r.Similar(t.Context(), id, collection.SearchRequest{Profile: q.Profile}))
			})
			same("get "+string(id), func(r *collection.Reader) string {
				return told(r.Get(t.Context(), id, collection.GetOptions{Neighbors: 2}))
			})
			same("document "+string(id), func(r *collection.Reader) string { return told(r.Document(t.Context(), id)) })
		}
		same("documents", func(r *collection.Reader) string { return told(r.Documents(t.Context(), "", "", 100)) })
		same("summary", func(r *collection.Reader) string { return told(r.Summary(t.Context())) })
		t.Logf("round %d: %d of %d documents", round, len(left), len(files))
	}
}

// TestPropertyNamesOfVisibleDocuments checks property names in queries of a caller that sees a part.
// They are read as in an index of that part, with any name in any position.
func TestPropertyNamesOfVisibleDocuments(t *testing.T) {
	seen := map[string]string{
		"seen.md": "---\naccess: public\nstatus: done\ncontent: Rich\n\"f(x)\": one\n---\n# Seen\n\nHello, what is done " +
			"is one of the rich.\n",
		"more.md": "---\naccess: public\n---\n# More\n\nHello again, rich and done.\n",
	}
	files := map[string]string{"hidden.md": "---\nstatus: hidden\nghost: 1\n---\n# Hidden\n\nHello, done.\n"}
	for name, text := range seen {
		files[name] = text
	}
	part := reader(t, collectiontest.Open(t, files, nil), access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	only := reader(t, collectiontest.Open(t, seen, nil), access.Unrestricted())
	answer := func(r *collection.Reader, query string) string {
		t.Helper()
		a, err := r.Search(t.Context(), collection.SearchRequest{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, r := range a.Results {
			fmt.Fprintln(&b, r.ID, r.Score)
		}
		fmt.Fprintln(&b, a.Notes)
		return b.String()
	}
	for _, query := range []string{"status:done", "content:rich", "-content:rich hello", `"hello"status:done`,
		"“hello”status:done", "f(x):one", "-f(x):one", "(status:done OR f(x):one)",
		"[status:done]", "hello [content:rich]", "status:hidden", "ghost:1", "hello -ghost:1", `status:"done"`, "status:",
		"http://a.example hello"} {
		if got, want := answer(part, query), answer(only, query); got != want {
			t.Errorf("%s\n%s, and without the hidden ones\n%s", query, got, want)
		}
	}
}
