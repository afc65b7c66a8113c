package collection_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search/scan"
	"sheaf/store"
	"sheaf/text/chunk"
)

// TestDefaultLimitOfProfile checks that a request without a limit gets the limit of the profile and its
// parameters.
func TestDefaultLimitOfProfile(t *testing.T) {
	files := map[string]string{}
	for i := range 25 {
		files[fmt.Sprintf("n%d.md", i)] = "heron\n"
	}
	f := collectiontest.Open(t, files, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	for _, c := range []struct {
		q    collection.SearchRequest
		want int
	}{
		{collection.SearchRequest{Profile: "tree"}, 20},
		{collection.SearchRequest{Profile: "tree", Parameters: map[string]string{"max_results": "12"}}, 12},
		{collection.SearchRequest{Profile: "tree", Limit: 5}, 5},
		{collection.SearchRequest{}, collection.DefaultLimit},
	} {
		c.q.Text = "heron"
		check.Equal(t, len(find(t, r, c.q).Results), c.want, "%+v: results", c.q)
	}
}

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
		slices.Sort(got)
		check.That(t, slices.Equal(got, c.want), "%s: %v, want %v; notes %q", c.query, got, c.want, a.Notes)
	}
}

// TestMisspeltWords checks that an answer suggests a similar word for a word that no document has, even beside other
// results. It suggests no words of hidden documents, and nothing for existing words, short words, numbers and unlike
// words.
func TestMisspeltWords(t *testing.T) {
	notes := map[string]string{
		"a.md":      "---\naccess: public\n---\n# Animals\n\nThe elephant has tusks and a trunk.\n",
		"b.md":      "# Château\n\nThe roof is red.\n",
		"secret.md": "---\naccess: [ann]\n---\n# Secret\n\nThe rhinoceros.\n",
	}
	for i := range 15 { // a frequent word with one error, and a rare word with two
		word := "deployment"
		if i < 3 {
			word = "deployen"
		}
		notes[fmt.Sprintf("note%d.md", i)] = fmt.Sprintf("# Note %d\n\nThe %s.\n", i, word)
	}
	f := collectiontest.Open(t, notes, func(o *collection.Options) { o.Confidence = collectiontest.Calibrated(0, false) })
	f.Index(t)
	offers := func(grant access.Grant, query string) (out []string) {
		for _, note := range find(t, reader(t, f, grant), collection.SearchRequest{Text: query}).Notes {
			if strings.HasPrefix(note, "nothing has the word") {
				out = append(out, note)
			}
		}
		return out
	}
	all, some := access.Unrestricted(), access.Grant{Scopes: []access.Scope{access.ScopeSearch}, Access: []string{"bob"}}
	for _, c := range []struct {
		grant access.Grant
		query string
		want  []string
	}{
		{all, "elefant", []string{`nothing has the word "elefant"; did you mean "elephant"?`}},
		{all, "+elefant", []string{`nothing has the word "elefant"; did you mean "elephant"?`}},
		{all, "trunk of the elefant", []string{`nothing has the word "elefant"; did you mean "elephant"?`}},
		{all, "tuskz elephnat", []string{`nothing has the word "tuskz"; did you mean "tusks"?`,
			`nothing has the word "elephnat"; did you mean "elephant"?`}},
		{all, "chatau", []string{`nothing has the word "chatau"; did you mean "Château"?`}},
		{all, "chatauu", []string{`nothing has the word "chatauu"; to find words like it: chatauu~`}},
		{all, "rinoceros", []string{`nothing has the word "rinoceros"; did you mean "rhinoceros"?`}},
		{some, "rinoceros", nil},
		{some, "elefant", []string{`nothing has the word "elefant"; did you mean "elephant"?`}},
		{all, "deploment", []string{`nothing has the word "deploment"; did you mean "deployment"?`}},
		{all, "elephant", nil},
		{all, "rod", nil},
		{all, "tusk5", nil},
		{all, "xylophone", nil},
		{all, "-elefant", nil},
	} {
		check.List(t, offers(c.grant, c.query), c.want, "%q", c.query)
	}
}

// TestPlaceBesideAbsentWord checks that a word that no document has leaves the marks and the place of the other words.
func TestPlaceBesideAbsentWord(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		var b strings.Builder
		for n := range 300 {
			fmt.Fprintf(&b, "word%c%d of this file\n", 'a'+i, n)
		}
		files[fmt.Sprintf("%d.md", i)] = b.String()
	}
	f := collectiontest.Open(t, files, nil)
	for _, query := range []string{"wordc299", "wordc299 zebra", "which zebra has wordc299"} {
		answer := find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: query, Limit: 1})
		if r := answer.Results[0]; r.Line != 300 || !strings.Contains(r.Snippet, "wordc299") || len(r.Matches) == 0 {
			t.Errorf("%s: line %d, %d matches, snippet %q", query, r.Line, len(r.Matches), r.Snippet)
		}
	}
}

// TestSnippetOfProperties checks the snippet of a document without text, and of one that only its properties match.
func TestSnippetOfProperties(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"film.md": "---\ntenant: a\ntags: [seen]\ndirector: \"[[Ann Lee]]\"\ncast: [Bob, Eve]\nyear: 1982\n---\n\n\n",
		"book.md": "---\nauthor: Ann Lee\n---\n# A book\n\nIt is about storks.\n",
	}, nil)
	for query, want := range map[string]string{
		"film":             "director: Ann Lee · cast: Bob, Eve · year: 1982",
		"eve":              "director: Ann Lee · cast: Bob, Eve · year: 1982",
		"year:1982":        "director: Ann Lee · cast: Bob, Eve · year: 1982",
		"lee -eve":         "author: Ann Lee",
		"lee storks":       "It is about storks.",
		`author:"ann lee"`: "A book It is about storks.",
	} {
		answer := find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: query, Limit: 1})
		must.That(t, len(answer.Results) == 1, "%s: %d results", query, len(answer.Results))
		r := answer.Results[0]
		check.Equal(t, r.Snippet, want, "%s", query)
		check.That(t, query != "eve" || r.Snippet[r.Matches[0].Start:r.Matches[0].End] == "Eve", "matches %v", r.Matches)
	}
}

// TestForbiddenWordsBelow checks that no result has a forbidden word in its sub-sections.
func TestForbiddenWordsBelow(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"a.md": "# Helper\n\nCall it with EAGAIN.\n",
		"b.md": "# Other helper\n\nNothing.\n\n## One\n\nA helper.\n\n## Two\n\n### Deep\n\nEAGAIN\n",
		"c.md": "A helper of its own.\n",
	}, nil)
	for _, query := range []string{"helper -eagain", "-eagain"} {
		var got []string
		for _, r := range find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: query}).Results {
			got = append(got, r.Path+r.Title)
		}
		slices.Sort(got)
		check.List(t, got, []string{"b.mdOne", "c.mdc"}, "%s", query)
	}
	absence := must.Get(reader(t, f, access.Unrestricted()).WhyNot(t.Context(),
		collection.SearchRequest{Text: "helper -eagain"}, "notes:a.md"))
	check.List(t, absence.Reasons, []string{"a forbidden word is in its sub-sections"}, "reasons")
}

// TestListBeginsWithDocuments checks that a query of a filter lists documents before the sections of other documents.
func TestListBeginsWithDocuments(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"a#1.md": "---\nkind: bird\n---\n# Heron\n\nIt is grey.\n\n## Food\n\nFish.\n\n## Nest\n\n- [ ] look\n",
		"b.md":   "---\nkind: bird\n---\nA stork.\n",
		"c.md":   "# Work\n\n## Monday\n\n- [ ] buy\n",
	}, nil)
	for query, want := range map[string][]string{
		"kind:bird": {"notes:a#1.md", "notes:b.md", "notes:a#1.md#food", "notes:a#1.md#nest"},
		"task:open": {"notes:a#1.md#nest", "notes:c.md#monday"},
	} {
		var got []string
		for _, r := range find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: query}).Results {
			got = append(got, string(r.ID))
		}
		check.List(t, got, want, "%s", query)
	}
}

// TestFirstYear checks that a search finds the day that is the zero value of a time in Go.
func TestFirstYear(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"first.md": "---\ndate: 0001-01-01\n---\n# First\n\nheron\n"}, nil)
	for _, text := range []string{"on:0001-01-01", "heron before:0002", "date:0001"} {
		a := find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: text})
		check.That(t, len(a.Results) == 1 && a.Results[0].Date != nil, "%s: %+v", text, a.Results)
	}
}

// TestUnreadDates checks that a search that uses dates names a visible document whose date cannot be read.
func TestUnreadDates(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"good.md":   "---\ndate: 2024-01-05\n---\n# Good\n\nheron\n",
		"bad.md":    "---\ndate: 11/10/2018\naccess: public\n---\n# Bad\n\nheron\n",
		"hidden.md": "---\ndate: 12/10/2018\naccess: [user:ann]\n---\n# Hidden\n\nheron\n",
		"other.md":  "---\ndate: 2024-01-05\ncreated: 11/10/2018\n---\n# Other\n\nheron\n",
	}, nil)
	someone := access.Grant{Scopes: []access.Scope{access.ScopeSearch}}
	for _, c := range []struct {
		grant       access.Grant
		query, sort string
		want        string
	}{
		{access.Unrestricted(), "heron before:2030", "", "2 documents have dates that cannot be read, such as "},
		{access.Unrestricted(), "heron before:2030", "", "2 documents have dates that cannot be read, such as "},
		{access.Unrestricted(), "heron (date:2024-01-05 OR tag:x)", "", "2 documents have dates"},
		{access.Unrestricted(), "heron -date:2024", "", "2 documents have dates"},
		{someone, "heron before:2030", "", "1 document has a date that cannot be read"},
		{access.Unrestricted(), "heron", "", ""},
		{access.Unrestricted(), "heron", "-date", "2 documents have dates"},
		{access.Unrestricted(), "heron", "path", ""},
		{access.Unrestricted(), "heron tag:x", "", ""},
	} {
		answer := find(t, reader(t, f, c.grant), collection.SearchRequest{Text: c.query, Sort: c.sort, Limit: 9})
		var note string
		for _, n := range answer.Notes {
			if strings.Contains(n, "that cannot be read") {
				note = n
			}
		}
		check.That(t, strings.HasPrefix(note, c.want) && (c.want != "" || note == ""),
			"%s: note %q, want %q", c.query, note, c.want)
		check.That(t, c.grant.SeesAll() || !strings.Contains(note, "hidden"),
			"%s: the note %q names a hidden document", c.query, note)
	}
	explained := must.Get(reader(t, f, access.Unrestricted()).Explain(t.Context(),
		collection.SearchRequest{Text: "heron before:2030", Limit: 9}))
	notes := strings.Join(explained.Notes, " ")
	check.That(t, strings.Contains(notes, "2 documents have dates"), "explain has the notes %q", notes)
}

// TestValues checks that property values are found in each form that documents use.
func TestValues(t *testing.T) {
	files := map[string]string{
		"quoted.md": "---\ndue: \"2024-01-05\"\nqn: \"0012\"\n---\n# Heron\n",
		"month.md":  "---\ndue: 5 Jan 2024\nhex: 0x1F\ntags: [schiff\u00adfahrt]\n---\n# Heron\n",
		"zone.md":   "---\ndue: 2024-01-05 23:30 -0800\nauthor: \"Ann\u00a0Lee\"\n---\n# Heron\n",
		"dots.md":   "---\ndue: 05.01.2024\nversion: 2024.1.15\n---\n# Heron\n",
		"hyphen.md": "---\ndate: 2020\u201111\u201125\ncost: 12.50\n---\n# Heron\n",
		"field.md":  "# K\n\nheron [f:: 0.50] [g:: x]\n",
	}
	r := reader(t, collectiontest.Open(t, files, nil), access.Unrestricted())
	for query, want := range map[string]string{
		"due:<2025":         "dots month quoted zone",
		"due:>=2024-01-05":  "dots month quoted zone",
		"due:2024-01":       "dots month quoted zone",
		"due:2024-01-05":    "dots month quoted zone",
		`due:"5 Jan 2024"`:  "month",
		"due:>2024-01-05":   "",
		"version:2024.1*":   "dots",
		"version:2024.1.15": "dots",
		"qn:>11":            "quoted",
		"qn:0012":           "quoted",
		"qn:12":             "",
		"hex:0x1F":          "month",
		"hex:>30":           "month",
		"tag:schifffahrt":   "month",
		"tag:*":             "month",
		`author:"Ann Lee"`:  "zone",
		"date:2020-11-25":   "hyphen",
		"-ext:*":            "",
		"ext:* f:0.50":      "field",
	} {
		a := find(t, r, collection.SearchRequest{Text: query, Limit: 20})
		var found []string
		for name := range files {
			name = strings.TrimSuffix(name, ".md")
			if strings.Contains(fmt.Sprintf("%v", a.Results), ":"+name+".md") {
				found = append(found, name)
			}
		}
		check.Equal(t, sorted(found), want, "%s: found", query)
	}
	ask := collection.SearchRequest{Text: "heron", Limit: 1, Facets: []string{"prop.due"}}
	a := find(t, r, ask)
	var due []string
	for _, f := range a.Facets["prop.due"] {
		due = append(due, fmt.Sprint(f))
	}
	check.Equal(t, sorted(due), "{05.01.2024 1} {2024-01-05 1} {2024-01-05T23:30:00-08:00 1} {5 Jan 2024 1}", "facet")
	doc := must.Get(r.Document(t.Context(), "notes:field.md"))
	check.That(t, len(doc.Properties) == 0, "properties without a value: %v", doc.Properties)
}

func sorted(list []string) string {
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestCountsCoverVisibleDocuments checks that word counts cover only documents visible to the caller.
// Cached counts of another caller and a changed access list do not matter.
func TestCountsCoverVisibleDocuments(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"open.md":   "---\naccess: public\n---\n# Open\n\nbudget\n",
		"ann.md":    "---\naccess: [user:ann]\n---\n# Ann\n\nbudget\n",
		"hidden.md": "# Hidden\n\nbudget\n",
	}, nil)
	search := []access.Scope{access.ScopeSearch}
	nobody, ann, all := access.Grant{Scopes: search}, access.Grant{Scopes: search, Access: []string{"user:ann"}},
		access.Unrestricted()
	counts := func(when string, want ...int) {
		t.Helper()
		for range 2 { // the second time from the cache
			for i, grant := range []access.Grant{nobody, ann, all} {
				a, err := reader(t, f, grant).Search(t.Context(), collection.SearchRequest{Text: "budget", Count: true})
				check.That(t, err == nil && a.Matches != nil && *a.Matches == want[i] && len(a.Results) == want[i],
					"%s, caller %d: %+v, %v; want %d", when, i, a, err, want[i])
			}
		}
	}
	counts("at first", 1, 2, 3)
	f.Write(t, "hidden.md", "---\naccess: public\n---\n# Hidden\n\nbudget\n")
	f.Write(t, "ann.md", "---\naccess: [user:bob]\n---\n# Ann\n\nbudget and more\n")
	f.Index(t)
	counts("with other lists", 2, 2, 3)
}

// TestSharedStatistics checks a store that counts words over all documents only. A caller that sees
// a part gets an error with the option that allows word search. With the option, the caller finds
// only visible documents.
func TestSharedStatistics(t *testing.T) {
	for _, shared := range []bool{false, true} {
		f := collectiontest.Open(t, map[string]string{
			"open.md":   "---\naccess: public\n---\n# Open\n\nbudget\n",
			"hidden.md": "# Hidden\n\nbudget budget\n",
		}, func(o *collection.Options) {
			o.SharedStatistics = shared
			hookStore(func(_ context.Context, _ string, r *store.Request) error {
				if r.CountsAmong() {
					return fmt.Errorf("store: %w: statistics", sheaf.ErrUnsupported)
				}
				return nil
			})(o)
		})
		q := collection.SearchRequest{Text: "budget", Profile: "bench"}
		if a := find(t, reader(t, f, access.Unrestricted()), q); len(a.Results) != 2 {
			t.Errorf("who sees everything: %+v", a.Results)
		}
		a, err := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}}).Search(t.Context(), q)
		switch {
		case !shared && (!errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(err.Error(), "--shared-statistics")):
			t.Errorf("not allowed: %+v, %v", a, err)
		case shared && (err != nil || len(a.Results) != 1 || a.Results[0].Path != "open.md"):
			t.Errorf("allowed: %+v, %v", a, err)
		}
	}
}

// TestForeignHitsAreSkipped checks that hits of another program in the same store are skipped, with one note. Callers
// that may not see everything get no note, because the hits may be hidden documents.
func TestForeignHitsAreSkipped(t *testing.T) {
	for _, distant := range []bool{true, false} {
		f := collectiontest.Open(t, map[string]string{"open.md": "---\naccess: public\n---\n# Open\n\nbudget\n"},
			func(o *collection.Options) { o.Distant = distant })
		told := func(g access.Grant) int {
			t.Helper()
			n := 0
			for _, profile := range []string{"bench", "sheaf", "rrf"} {
				a := find(t, reader(t, f, g), collection.SearchRequest{Text: "budget", Profile: profile})
				for i, r := range a.Results {
					check.That(t, (i != 0 || r.Path == "open.md") && r.ID.Tree() == collectiontest.Tree,
						"%s: result %d is %s", profile, i, r.ID)
				}
				said := 0
				for _, note := range slices.Concat(a.Notes, a.Warnings) {
					if strings.Contains(note, "returns documents that this index does not know") {
						said++
					}
				}
				check.That(t, said <= 1, "%s says it %d times", profile, said)
				n += said
			}
			return n
		}
		check.Equal(t, told(access.Unrestricted()), 0, "answers with a note, when no hit is strange")
		strange := store.Chunk{ID: "other:x.md", Doc: "other:x.md",
			Fields:  []store.Field{{Name: sheaf.FieldBody, Text: "budget"}},
			Columns: []store.Column{{Name: sheaf.ColumnAccess, Values: []sheaf.Value{sheaf.TextValue("public")}}}}
		must.Do(t, f.Options.Backend.Write(t.Context(), store.Batch{Chunks: []store.Chunk{strange}}))
		f.Write(t, "more.md", "# More\n\nnothing\n")
		f.Index(t) // invalidates the cached answers
		want := 0
		if distant {
			want = 3
		}
		check.Equal(t, told(access.Unrestricted()), want, "distant %t: answers that say that hits are left out", distant)
		check.Equal(t, told(access.Grant{Scopes: []access.Scope{access.ScopeSearch}}), 0,
			"distant %t: answers that tell it to a restricted caller", distant)
	}
}

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
		check.Equal(t, len(find(t, r, collection.SearchRequest{Text: "harbor", Limit: 20}).Results), c.found,
			"%s: found", name)
		list := must.Get(r.Documents(t.Context(), "", "", 100))
		check.Equal(t, len(list.Documents), c.found, "%s: listed", name)
	}
}

// readsTexts is a reranking model that keeps the texts it gets.
type readsTexts struct{ texts []string }

func (*readsTexts) Model() string { return "keeps" }

func (m *readsTexts) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	m.texts = texts
	return make([]float64, len(texts)), nil
}

// gathers is a profile that returns documents and reranks them. It has the name of the profile that
// Fused uses.
const gathers = `name: rrf
about: Documents by words and meaning.
parameters:
  method: {default: rrf, one_of: [rrf, weighted_sum], about: How both join.}
  rrf_k: {default: 60, min: 1, max: 1000, integer: true, about: The constant.}
branches:
  - name: vector
    retrieve: vector
    limit: 50
    then: [aggregate: {to: document, method: max_p}]
  - name: text
    retrieve: text
    fields: {body: 1}
    limit: 50
    then: [aggregate: {to: document, method: max_p}]
fuse: {method: $method, k: rrf_k}
then:
  - rerank: {n: 10}
  - top: limit
`

// TestDocumentInPieces checks that a document in pieces, which has no own chunk, is shown, read and explained.
func TestDocumentInPieces(t *testing.T) {
	for _, chunker := range []string{"window", "sections"} {
		t.Run(chunker, func(t *testing.T) {
			model := &readsTexts{}
			f := collectiontest.Open(t, map[string]string{
				"port.md": "---\ntags: [sea]\n---\n# Port\n\nShips come and go.\n\n## Cranes\n\nThe harbor has nine cranes.\n",
				"farm.md": "# Farm\n\nCows and barley, far from [the port](port.md).\n",
				"dock.md": "# Dock\n\nNine cranes stand there, where ships come.\n",
			}, func(o *collection.Options) {
				o.Ingest.Chunk = chunk.Options{Chunker: chunker}
				o.Rerank = model
				writeFile(t, filepath.Join(o.ProfileDirs[0], "rrf.yaml"), gathers)
			})
			r := reader(t, f, access.Unrestricted())
			for _, profile := range []string{"sonar", "bench"} {
				a := find(t, r, collection.SearchRequest{Text: "harbor", Profile: profile})
				must.That(t, len(a.Results) != 0 && a.Results[0].ID == "notes:port.md", "%s: %+v", profile, a)
				first := a.Results[0]
				check.That(t, len(a.Warnings) == 0 && !first.Stale && strings.Contains(first.Snippet, "nine cranes") &&
					len(first.Matches) != 0 && first.Line >= 6, "%s: %+v, warnings %q", profile, first, a.Warnings)
				why, err := r.WhyNot(t.Context(), collection.SearchRequest{Text: "harbor", Profile: profile}, "notes:port.md")
				check.That(t, err == nil && why.Rank == 1, "%s: why not: %+v, %v", profile, why, err)
				why, err = r.WhyNot(t.Context(), collection.SearchRequest{Text: "+harbor", Profile: profile}, "notes:farm.md")
				check.That(t, err == nil && why.Rank == 0 && len(why.Reasons) != 0,
					"%s: why not the other: %+v, %v", profile, why, err)
			}
			part, err := r.Get(t.Context(), "notes:port.md", collection.GetOptions{Neighbors: 1})
			check.That(t, err == nil && strings.Contains(part.Text, "nine cranes") && part.Title == "Port",
				"get: %+v, %v", part, err)
			like, err := r.Similar(t.Context(), "notes:port.md", collection.SearchRequest{})
			check.That(t, err == nil && len(like.Results) != 0 && like.Results[0].Doc == "notes:dock.md",
				"similar: %+v, %v", like, err)
			from, err := r.Get(t.Context(), "notes:farm.md", collection.GetOptions{})
			check.That(t, err == nil && len(from.Links) == 1 && from.Links[0].To == "notes:port.md",
				"links of the farm: %+v, %v", from, err)
			fused, err := r.Fused(t.Context(), "harbor", "rrf", 60, 5)
			must.That(t, err == nil && len(fused.Results) != 0, "fused: %+v, %v", fused, err)
			// Fused runs the built-in profile, whatever the user's profile of that name says.
			first := fused.Results[0]
			check.That(t, first.ID != "notes:port.md" && first.Document.ID == "notes:port.md" && first.Content != "" &&
				len(model.texts) == 0, "fused: %+v; the model read %q", first, model.texts)
			whole := find(t, r, collection.SearchRequest{Text: "harbor", Profile: "rrf"})
			check.That(t, len(whole.Results) != 0 && whole.Results[0].ID == "notes:port.md" && whole.Results[0].Title != "",
				"the user's profile: %+v", whole)
			check.That(t, len(model.texts) != 0 && strings.Contains(model.texts[0], "Port") &&
				strings.Contains(model.texts[0], "nine cranes"), "the model read %q", model.texts)
		})
	}
}

// TestSimilarReadsTexts checks that the text for similar passages has the texts of links, but neither their addresses
// nor embedded data.
func TestSimilarReadsTexts(t *testing.T) {
	picture := "![r](data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 20_000) + ")"
	var asked []string
	f := collectiontest.Open(t, map[string]string{
		"port.md": "# Port\n\n" + picture +
			"\n\nNine cranes, far from [the farm](Farms/barley.md) and [[Farms/barley|cows]].\n",
		"dock.md": "# Dock\n\nNine cranes stand there.\n",
	}, func(o *collection.Options) {
		embed := o.Embed
		o.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
			asked = append(asked, texts...)
			return embed(ctx, texts)
		}
	})
	like, err := reader(t, f, access.Unrestricted()).Similar(t.Context(), "notes:port.md", collection.SearchRequest{})
	check.That(t, err == nil && len(like.Results) == 1 && like.Results[0].Doc == "notes:dock.md", "%+v, %v", like, err)
	must.Equal(t, len(asked), 1, "number of texts")
	check.Equal(t, asked[0], "# Port\n\nr\n\nNine cranes, far from the farm and cows.", "text")
}

// TestContextReadsEncodings checks that the text for Context may have any encoding that a file may have.
func TestContextReadsEncodings(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"port.md": "# Port\n\nNine cranes.\n"}, nil)
	r := reader(t, f, access.Unrestricted())
	for name, text := range map[string]string{"UTF-8": "\ufeffCranes", "UTF-16": "C\x00r\x00a\x00n\x00e\x00s\x00\n\x00",
		"Windows-1252": "Fran\xe7ois likes cranes, caf\xe9s and Z\xfcrich."} {
		like, err := r.Context(t.Context(), "x.md", []byte(text), collection.SearchRequest{})
		check.That(t, err == nil && len(like.Results) == 1 && len(like.Results[0].Matches) > 0, "%s: %+v, %v", name, like,
			err)
	}
	_, err := r.Context(t.Context(), "x.md", []byte("\x7fELF\x00\x01\x02\x00\xff\xfe\x00"), collection.SearchRequest{})
	check.That(t, err != nil && strings.Contains(err.Error(), "it is no text"), "a binary file: %v", err)
}

// scanning opens a collection with files and a scanner, for profiles without an index.
func scanning(t *testing.T, files map[string]string) *collectiontest.Fixture {
	t.Helper()
	return collectiontest.Open(t, files, func(o *collection.Options) {
		s := must.Get(scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer,
			Embedder: o.Ingest.Embedder}))
		o.Scanner = s
	})
}

// TestHiddenFilesAreNotScanned checks that neither results nor reasons reveal hidden files, even if these were public
// when indexed.
func TestHiddenFilesAreNotScanned(t *testing.T) {
	const public = "---\naccess: public\n---\n"
	f := scanning(t, map[string]string{"open.md": public + "A harbor.\n", "closed.md": "A harbor.\n",
		"was-open.md": public + "A harbor.\n"})
	for name, text := range map[string]string{"was-open.md": "A harbor, closed.\n", "new.md": public +
		"A harbor that nobody has indexed.\n"} {
		writeFile(t, filepath.Join(f.Root, name), text)
	}
	r := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	answer := find(t, r, collection.SearchRequest{Text: "harbor", Profile: "tiered"})
	check.That(t, len(answer.Results) == 1 && answer.Results[0].Path == "open.md", "%+v", answer.Results)
	for _, name := range []string{"closed.md", "was-open.md", "new.md", "missing.md", "open.md#0#0", "missing.md#0"} {
		id := sheaf.ID(collectiontest.Tree + ":" + name)
		for _, text := range []string{"harbor", "nothing of that"} {
			absence, err := r.WhyNot(context.Background(), collection.SearchRequest{Text: text, Profile: "tiered"}, id)
			_, other := r.WhyNot(context.Background(), collection.SearchRequest{Text: text, Profile: "rrf"}, id)
			check.That(t, errors.Is(err, sheaf.ErrNotFound) && (name == "was-open.md" || fmt.Sprint(err) == fmt.Sprint(other)),
				"why not %s, %q: %+v, %v; another profile says %v", id, text, absence, err, other)
		}
	}
	check.NoError(t, must.Err(r.WhyNot(context.Background(), collection.SearchRequest{Text: "cranes", Profile: "tiered"},
		collectiontest.Tree+":open.md")), "why not what may be seen")
}

// TestScanProfileWithoutFolder checks that loading the profile without a folder fails, and that a
// collection with this profile does not open.
func TestScanProfileWithoutFolder(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "word\n"}, nil)
	check.Fails(t, must.Err(f.Load("tiered")), sheaf.ErrUnsupported, "candidates: scan", "loaded")
	o := f.Options
	o.Profile = "tiered"
	check.Is(t, must.Err(collection.New(o)), sheaf.ErrUnsupported, "opened")
}
