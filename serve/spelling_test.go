package serve_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf/eval/calibrate"
	"sheaf/profile"
	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

var kitchen = map[string]string{
	"pie.md":     "---\naccess: public\n---\n# Apple pie\n\nThe kneaded dough must rest; add cinnamon and marzipan.\n",
	"soup.md":    "---\naccess: public\n---\n# Soup\n\nBoil the carrots with salt.\n",
	"borscht.md": "---\naccess: public\n---\n# Рецепт борща\n\nСвёкла, капуста и картошка.\n",
	"hidden.md":  "---\naccess: user:chef\n---\n# Hidden\n\nA pinch of cardamom in everything marzipann.\n",
}

// doubtful makes a collection of the kitchen in which nothing is called an answer.
func doubtful(t *testing.T) *servetest.Fixture {
	t.Helper()
	return servetest.Open(t, kitchen, func(o *serve.Options) {
		o.Confidence = func(*profile.Profile) *calibrate.Logistic { return &calibrate.Logistic{Bias: -20} }
	})
}

// TestSpelling: words that nothing holds are looked for by their spelling when nothing is
// an answer; they are marked, counted and explained like others, and a note names them.
func TestSpelling(t *testing.T) {
	f := doubtful(t)
	r, err := f.For(access.Unrestricted())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := context.Background()
	for _, c := range []struct{ query, doc, mark, noted string }{
		{"cinamon", "pie.md", "cinnamon", `"cinamon"`},
		{"marzipanz doug", "pie.md", "dough", `"marzipanz", "doug"`},
		{"свеклы капусты", "borscht.md", "Свёкла", `"свеклы", "капусты"`},
		{"salt carots", "soup.md", "carrots", `"carots"`},
		{"salt carrots", "soup.md", "carrots", ""},
		{`"carots"`, "", "", ""},
		{"+carots salt", "", "", ""},
		{"title:carots", "", "", ""},
		{"slt", "", "", ""},
		{"x9000", "", "", ""},
	} {
		q := serve.SearchRequest{Text: c.query, Limit: 3, Count: true, Parameters: map[string]string{}}
		a, err := r.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.IndexFunc(a.Notes, func(n string) bool { return strings.Contains(n, "spelt alike") })
		if (c.noted == "") != (noted < 0) || noted >= 0 && !strings.Contains(a.Notes[noted], "has "+c.noted+":") {
			t.Errorf("%s: notes %q, want one of %q", c.query, a.Notes, c.noted)
		}
		if c.doc == "" {
			continue
		}
		if len(a.Results) == 0 || a.Results[0].Path != c.doc {
			t.Fatalf("%s: found %+v, want %s", c.query, a.Results, c.doc)
		}
		first := a.Results[0]
		if !slices.ContainsFunc(first.Matches, func(s serve.Span) bool { return first.Snippet[s.Start:s.End] == c.mark }) {
			t.Errorf("%s: %q is marked at %v, want %s", c.query, first.Snippet, first.Matches, c.mark)
		}
		if a.Matches == nil || *a.Matches == 0 {
			t.Errorf("%s: matches are %v", c.query, a.Matches)
		}
		e, err := r.Explain(ctx, q)
		if err != nil || len(e.Results) == 0 || e.Results[0].ID != first.ID {
			t.Errorf("%s: explained as %+v, %v", c.query, e, err)
		}
		why, err := r.WhyNot(ctx, q, first.ID)
		if err != nil || why.Rank != 1 {
			t.Errorf("%s: why-not of the first: %+v, %v", c.query, why, err)
		}
	}
}

// TestSpellingTellsNothing: a word that hidden documents alone hold is looked for by its
// spelling like one that no document holds.
func TestSpellingTellsNothing(t *testing.T) {
	f := doubtful(t)
	r, err := f.For(access.Grant{Scopes: []access.Scope{access.ScopeSearch}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	answer := func(word string) string {
		a, err := r.Search(context.Background(), serve.SearchRequest{Text: word, Limit: 1, Count: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Results) == 0 || a.Results[0].Path != "pie.md" || !strings.Contains(fmt.Sprint(a.Notes), "spelt alike") {
			t.Errorf("%s: found %+v, notes %q", word, a.Results, a.Notes)
		}
		return strings.ReplaceAll(fmt.Sprint(*a.Matches, a.Notes), word, "WORD")
	}
	if held, absent := answer("marzipann"), answer("marzipanx"); held != absent {
		t.Errorf("a word of a hidden document: %s\none of none: %s", held, absent)
	}
}
