package collection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// ofIndex matches what differs between two indexes with equal documents.
var ofIndex = regexp.MustCompile(`"(generation|modified|next|file|etag)":("[^"]*"|\d+),?`)

// masked returns an answer as JSON without the parts that mask matches.
func masked(t *testing.T, mask *regexp.Regexp, out any, err error) string {
	t.Helper()
	if err != nil {
		return "error: " + err.Error()
	}
	text := must.Get(json.Marshal(out))
	return mask.ReplaceAllString(string(text), "")
}

// TestHiddenDocumentsChangeNoAnswer checks that answers equal those of an index with only the visible
// documents, to the last digit. Hidden documents are not shown, and no difference reveals that they
// exist.
func TestHiddenDocumentsChangeNoAnswer(t *testing.T) {
	must.Whole(t, "hundreds of searches in one goroutine")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 5))
	files := listed(150, random)
	for name, text := range files {
		files[name] = strings.Replace(text, "---\n",
			fmt.Sprintf("---\ndate: 2024-%02d-%02d\n", 1+random.IntN(12), 1+random.IntN(28)), 1)
	}
	whole := collectiontest.Open(t, files, nil)
	told := func(out any, err error) string { return masked(t, ofIndex, out, err) }
	words := strings.Fields("budget salary offer merger lawsuit payroll bonus contract roadmap launch secret memo " +
		"buget secrt lawsut")
	words = append(words, "budget tag:fianance", "tag:zzz", "salary prop.owner:zzz", "prop.owner:zzz path:zzz/",
		"path:zzz.md offer", "ext:zzz launch")
	profiles := []string{"", "sheaf", "rrf", "bench", "tree", "sonar", "onyx-vespa", "onyx-elastic", "tiered"}
	compared := 0
	for round := 0; compared < 4; round++ {
		must.That(t, round != 40, "of %d callers %d see a part", round, compared)
		grant := access.Grant{Scopes: []access.Scope{access.ScopeSearch},
			Access: [][]string{nil, {"user:ann"}, {"group:staff", "user:bob"}, {access.All}}[random.IntN(4)],
			Tenant: []string{"", "acme", access.All}[random.IntN(3)], Sets: [][]string{nil, nil, {"finance"}}[random.IntN(3)]}
		r := reader(t, whole, grant)
		list := must.Get(r.Documents(t.Context(), "", "", collection.MaxWindow))
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
		a := find(t, r, collection.SearchRequest{Text: query})
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
		got, want := answer(part, query), answer(only, query)
		check.That(t, got == want, "%s\n%s, and without the hidden ones\n%s", query, got, want)
	}
}

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
		a, err := ask(whole)
		must.That(t, err == nil, "%s: %v", what, err)
		got := masked(t, own, a, nil)
		b, err := ask(rest)
		want := masked(t, own, b, err)
		check.That(t, got == want, "%s:\n%s\nand without the hidden ones\n%s", what, got, want)
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

// TestFileErrorsHidePath checks that the message about a changed file names the document, not its path. The error is
// no failure of the server.
func TestFileErrorsHidePath(t *testing.T) {
	const id = sheaf.ID(collectiontest.Tree + ":a.md")
	for cause, spoil := range map[error]func(file string) error{
		catalog.ErrStale: func(file string) error { return os.WriteFile(file, []byte("# A\n\nNo harbor.\n"), 0o600) },
		// Root ignores permissions, so this link leads to itself.
		catalog.ErrUnread: func(file string) error { return errors.Join(os.Remove(file), os.Symlink("a.md", file)) },
	} {
		f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
		r := reader(t, f, access.Unrestricted())
		if err := spoil(filepath.Join(f.Root, "a.md")); err != nil {
			t.Skip(err) // no links on this system
		}
		_, got := r.Get(t.Context(), id, collection.GetOptions{})
		_, similar := r.Similar(t.Context(), id, collection.SearchRequest{})
		for _, err := range []error{got, similar} {
			check.That(t, errors.Is(err, sheaf.ErrUnavailable) && errors.Is(err, cause) &&
				strings.Contains(err.Error(), string(id)) && !strings.Contains(err.Error(), f.Root),
				"%v: the error is %v", cause, err)
		}
	}
}

// TestProfileErrorsHideFolders checks that errors of profiles name the file without its folder
// and without the searched folders.
func TestProfileErrorsHideFolders(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	dir := f.Options.ProfileDirs[0]
	for name, text := range map[string]string{"lost": "name: lost\nextends: nowhere\n", "torn": "name: torn\nextends: [\n",
		"wrong": "name: wrong\nextends: sonar\nnothing: 1\n", "large": "# " + strings.Repeat("x", 2<<20)} {
		writeFile(t, filepath.Join(dir, name+".yaml"), text)
	}
	list := must.Get(f.Profiles())
	told := map[string]string{}
	for _, p := range list {
		told[p.Name] = p.Error
	}
	for _, name := range []string{"lost", "torn", "wrong", "large"} {
		_, err := f.Load(name)
		must.That(t, err != nil, "%s is read", name)
		for _, text := range []string{told[name], err.Error()} {
			check.That(t, strings.Contains(text, name+".yaml:") && !strings.Contains(text, filepath.Dir(dir)),
				"%s: told: %s", name, text)
		}
	}
	check.That(t, strings.Contains(told["lost"], "lost.yaml:2:10: extends \"nowhere\": no profile has this name: "+
		"looked for nowhere.yaml among the built-in profiles"), "told: %s", told["lost"])
}

// TestAddressesRevealNoFolder checks that a restricted caller finds a document by its path inside the folder, not
// from outside. An outside path would reveal where the folder is.
func TestAddressesRevealNoFolder(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a/b.md": "---\naccess: public\n---\n# B\n\nA harbor.\n"}, nil)
	part, all := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}}),
		reader(t, f, access.Unrestricted())
	outside := "../" + filepath.Base(f.Root) + "/a/b.md"
	for _, path := range []string{"a/b.md", "./a/b.md", "a/../a/b.md", "notes:a/b.md", "a/b.md#b", "a/b.md:4", outside,
		filepath.Join(f.Root, "a/b.md")} {
		if got, err := all.Find(path); err != nil || got.Doc.Path != "a/b.md" {
			t.Errorf("%s by who sees everything: %q, %v", path, got.Doc.Path, err)
		}
		got, err := part.Find(path)
		if within := path != outside && !filepath.IsAbs(path); within != (err == nil) || within && got.Doc.Path != "a/b.md" {
			t.Errorf("%s by who sees a part: %q, %v", path, got.Doc.Path, err)
		}
	}
}

// TestHiddenDocumentIsNotRead checks that a request for a large hidden document costs no more than for a missing one.
// Reading the document would take long and so reveal that it exists.
func TestHiddenDocumentIsNotRead(t *testing.T) {
	must.Whole(t, "hundreds of searches in one goroutine")
	var b strings.Builder
	b.WriteString("---\naccess: [group:board]\n---\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "# Heading %d\n\nText %d.\n\n", i, i)
	}
	f := collectiontest.Open(t, map[string]string{"large.md": b.String(), "small.md": "---\naccess: [public]\n---\n# " +
		"Small\n\nSee [[large]].\n"}, nil)
	all := reader(t, f, access.Unrestricted())
	doc, err := all.Document(t.Context(), "notes:large.md")
	must.That(t, err == nil && len(doc.Outline) >= 30_000, "%v", err)
	grant := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	for name, ask := range map[string]func(r *collection.Reader){
		"get": func(r *collection.Reader) { _, _ = r.Get(t.Context(), "notes:large.md", collection.GetOptions{}) },
		"get part": func(r *collection.Reader) {
			_, _ = r.Get(t.Context(), "notes:large.md#heading-7", collection.GetOptions{})
		},
		"document": func(r *collection.Reader) { _, _ = r.Document(t.Context(), "notes:large.md") },
		"find":     func(r *collection.Reader) { _, _ = r.Find("large.md#heading-7") },
		"similar": func(r *collection.Reader) {
			_, _ = r.Similar(t.Context(), "notes:large.md#heading-7", collection.SearchRequest{})
		},
		"link":  func(r *collection.Reader) { _, _ = r.Get(t.Context(), "notes:small.md", collection.GetOptions{}) },
		"count": func(r *collection.Reader) { _, _ = r.Summary(t.Context()) },
		"list":  func(r *collection.Reader) { _, _ = r.Documents(t.Context(), "", "", collection.MaxWindow) },
		"stage": func(r *collection.Reader) {
			for _, stage := range []string{"tree", "graph_boost", "folder_boost", "recency", "neighbours", "names"} {
				_, _ = r.Stage(collection.StageRun{Name: stage,
					Rankings: [][]collection.Scored{{{ID: "notes:large.md#heading-7", Score: 2}, {ID: "notes:large.md", Score: 1}}},
					Limit:    10})
			}
		},
		"facts": func(r *collection.Reader) {
			facts := collection.FactsOf(r)
			for _, id := range []sheaf.ID{"notes:large.md", "notes:large.md#heading-7"} {
				_, _ = facts.Chunk(id)
				_, _ = facts.Document(id)
				_ = facts.Node(id)
				_ = facts.Outline(id)
			}
		},
	} {
		beside := f.Beside(t) // a new process has read no document
		r := reader(t, beside, grant)
		_, _ = r.Get(t.Context(), "notes:none.md", collection.GetOptions{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask(r)
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 10; n > 1500 { // includes building the server's description
			t.Errorf("%s: %d kB were taken", name, n)
		}
	}
}

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
	out := told(t, reader(t, f, caller), "ship march")
	check.That(t, !strings.Contains(out, "the oryx") && !strings.Contains(out, "an oryx"), "comments are shown: %s", out)
	out = told(t, reader(t, f, access.Unrestricted()), "ship march")
	check.That(t, strings.Contains(out, "the oryx") && strings.Contains(out, "an oryx"),
		"comments are kept from who sees everything: %s", out)
	shown := collectiontest.Open(t, map[string]string{"plan.md": commented, "other.md": "[[Plan]]\n"},
		func(o *collection.Options) { o.ShowComments = true })
	p, err := reader(t, shown, caller).Get(t.Context(), collectiontest.Tree+":plan.md",
		collection.GetOptions{Line: 1, Lines: 100})
	check.That(t, err == nil && strings.Contains(p.Text, "the oryx"), "got %+v, %v", p, err)
}
