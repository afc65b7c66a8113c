package serve

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/analysis"
	"sheaf/search"
)

// TestSnippetOfPartGoesOn: a snippet of a part that ends within a paragraph says so.
func TestSnippetOfPartGoesOn(t *testing.T) {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ content, part, want string }{
		{"One harbor. Two\nthree.\n", "One harbor. ", "One harbor.…"},
		{"One harbor.\nTwo.\n", "One harbor.\n", "One harbor.…"},
		{"One harbor.\n\nTwo.\n", "One harbor.\n\n", "One harbor."},
		{"One harbor.\r\n \r\nTwo.\r\n", "One harbor.\r\n \r\n", "One harbor."},
		{"One harbor.\n# Two\n", "One harbor.\n", "One harbor."},
		{"One harbor.\n", "One harbor.\n", "One harbor."},
		{"One harbor.", "One harbor.", "One harbor."},
		{"One harbor.\n\nTwo.\n", "One harbor.", "One harbor."},
	} {
		h := search.NewHighlighter(a, sheaf.Match{Text: "harbor"}, nil)
		got, _ := BestSnippet(h, []byte(c.content), []sheaf.Span{{End: strings.Index(c.content, c.part) + len(c.part)}})
		if got.Text != c.want {
			t.Errorf("%q of %q is shown as %q, want %q", c.part, c.content, got.Text, c.want)
		}
		h.Release()
	}
}
