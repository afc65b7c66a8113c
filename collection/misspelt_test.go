package collection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestMisspeltWords checks that an answer suggests a similar word for a word that no document has,
// even beside other results. It suggests no words of hidden documents, and nothing for existing
// words, short words, numbers and words without a similar one.
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
		if got := offers(c.grant, c.query); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
}
