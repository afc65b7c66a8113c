package snippet_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/search/snippet"
)

// TestSnippetShowsRarestWord checks that the place and the snippet show the rarest word, not a
// common word or a part of a name. An error names the kind of fault.
func TestSnippetShowsRarestWord(t *testing.T) {
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i+1)
		}
		return b.String()
	}
	rare := func(word string) float64 {
		if strings.ContainsAny(word, "0123456789北") {
			return 6
		}
		return 2
	}
	for _, c := range []struct {
		name, query, text, word string
	}{
		{"a part of the name stands in each line", "alpha020", lines("Setting alpha%03d waits before it tries again.\n", 40),
			"alpha020"},
		{"the last line", "alpha040", lines("Setting alpha%03d waits before it tries again.\n", 40), "alpha040"},
		{"camel case", "userName7", lines("call userName%d of the same class\n", 30), "userName7"},
		{"the question's other words stand in each line", "when was order 1020 shipped",
			lines("Order 10%02d was shipped to the customer in time.\n", 40), "1020"},
		{"Windows line ends", "order 1020", lines("Order 10%02d was shipped to the customer in time.\r\n", 40), "1020"},
		{"rows of a table", "order 1020", "| order | day |\n|---|---|\n" +
			lines("| order 10%02d | Monday, in the morning |\n", 40), "1020"},
		{"one long line", "order 1020", lines("Order 10%02d was shipped to the customer in time. ", 40), "1020"},
		{"Chinese", "订单 北京", lines("订单%d已经发给客户。\n", 40) + "订单发给北京的客户。\n" + lines("订单%d已经发给客户。\n", 40), "北京"},
		{"German", "bestellung 1020", lines("Die Bestellung 10%02d ging früh an den Käufer.\n", 40), "1020"},
		{"behind what is read first", "order 77777", lines("Order %d was shipped to the customer in time.\n", 6000) +
			"Order 77777 was not.\n", "77777"},
	} {
		h := highlighterFor(t, sheaf.Match{Text: c.query}, rare)
		s := h.Snippet(c.text, snippet.Width)
		if !strings.Contains(s.Text, c.word) {
			t.Errorf("%s: the snippet %q does not show %q", c.name, s.Text, c.word)
		}
		if line := lineOf(c.text, s.At); !strings.Contains(line, c.word) {
			t.Errorf("%s: the place is the line %q, want that of %q", c.name, line, c.word)
		}
	}
}

// TestSnippetBeginsOutsideMarkup checks that no snippet shows the second half of a link, a picture or a tag.
func TestSnippetBeginsOutsideMarkup(t *testing.T) {
	for _, markup := range []string{
		`![alt](pic.png "its title")`, "[[some target|x]]", `<img src="x.png" title="its title">`,
		`[a](<b c.md> 'its title')`,
	} {
		for n := range 30 {
			text := markup + strings.Repeat(" far", n) + " eland " + strings.Repeat("and more words ", 40)
			s := highlighterFor(t, sheaf.Match{Text: "eland"}, nil).Snippet(text, snippet.Width)
			if strings.Contains(s.Text, "title") || strings.Contains(s.Text, "target") || !strings.Contains(s.Text, "eland") {
				t.Fatalf("%s and %d words: %q", markup, n, s.Text)
			}
		}
	}
}

func lineOf(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return line
}
