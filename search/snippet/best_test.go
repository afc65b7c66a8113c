package snippet_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/search/snippet"
)

// TestSnippetEndsWithEllipsis checks that a snippet that ends within a paragraph ends with "…".
func TestSnippetEndsWithEllipsis(t *testing.T) {
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
		span := sheaf.Span{End: strings.Index(c.content, c.part) + len(c.part)}
		got := highlighter(t, sheaf.Match{Text: "harbor"}).Best([]byte(c.content), []sheaf.Span{span}, 1, snippet.Width)
		if got.Text != c.want {
			t.Errorf("%q of %q is shown as %q, want %q", c.part, c.content, got.Text, c.want)
		}
	}
}

// TestSnippetShowsPhrase checks that a part with all words of a phrase wins over an earlier part
// with some words. Otherwise the earliest part with a match wins, with its own ranges.
func TestSnippetShowsPhrase(t *testing.T) {
	const content = "The lock is used in many places.\n\nA lock is no longer strictly required.\n\nNothing.\n"
	first := sheaf.Span{End: strings.Index(content, "\n\nA")}
	second := sheaf.Span{Start: first.End + 2, End: strings.Index(content, "\n\nNothing")}
	third := sheaf.Span{Start: second.End + 2, End: len(content) - 1}
	phrase := sheaf.Phrase{Text: "is no longer strictly required"}
	for _, c := range []struct {
		what  string
		query sheaf.TextQuery
		spans []sheaf.Span
		want  string // the matches are in brackets
	}{
		{"the phrase", phrase, []sheaf.Span{first, second, third}, "A lock [is] [no] [longer] [strictly] [required]."},
		{"no phrase there", phrase, []sheaf.Span{first, third}, "The lock [is] used in many places."},
		{"one of two phrases", sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Phrase{Text: "no such words"}, phrase}},
			[]sheaf.Span{first, second}, "A lock [is] [no] [longer] [strictly] [required]."},
		{"a word of the phrase asked for alone too",
			sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Match{Text: "lock"}, sheaf.Phrase{Text: "lock is no longer"}}},
			[]sheaf.Span{first, second}, "A [lock] [is] [no] [longer] strictly required."},
		{"beside a beginning", sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Prefix{Text: "loc"},
			sheaf.Phrase{Text: "lock is no longer"}}}, []sheaf.Span{first, second}, "A [lock] [is] [no] [longer] " +
			"strictly required."},
		{"beside a fuzzy word", sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Phrase{Text: "lock is no longer"},
			sheaf.Fuzzy{Text: "lock", Distance: 1}}}, []sheaf.Span{first, second}, "A [lock] [is] [no] [longer] " +
			"strictly required."},
		{"words", sheaf.Match{Text: "strictly lock"}, []sheaf.Span{first, second}, "A [lock] is no longer " +
			"[strictly] required."},
		{"as many words in each", sheaf.Match{Text: "lock"}, []sheaf.Span{first, second},
			"The [lock] is used in many places."},
	} {
		got := highlighter(t, c.query).Best([]byte(content), c.spans, len(c.spans), snippet.Width)
		shown, end := "", 0
		for _, m := range got.Matches {
			shown += got.Text[end:m.Start] + "[" + got.Text[m.Start:m.End] + "]"
			end = m.End
		}
		if shown += got.Text[end:]; shown != c.want {
			t.Errorf("%s: shown is %q, want %q", c.what, shown, c.want)
		}
		if len(got.Matches) > 0 && !strings.HasPrefix(content[got.At:], got.Text[got.Matches[0].Start:got.Matches[0].End]) {
			t.Errorf("%s: the place %d is not that of its first match", c.what, got.At)
		}
	}
}

// TestSnippetOfOwnText checks that text under sub-headings is shown only if the own text has no match.
func TestSnippetOfOwnText(t *testing.T) {
	const content = "The harbor.\n\n## Below\n\nThe harbor and the lighthouse.\n"
	own, all := sheaf.Span{End: len("The harbor.\n\n")}, sheaf.Span{End: len(content)}
	for query, want := range map[string]string{"harbor lighthouse": "The harbor.",
		"lighthouse": "The harbor. Below The harbor and the lighthouse."} {
		h := highlighter(t, sheaf.Match{Text: query})
		if got := h.Best([]byte(content), []sheaf.Span{own, all}, 1, snippet.Width); got.Text != want {
			t.Errorf("%q is shown as %q, want %q", query, got.Text, want)
		}
	}
}

// TestHeadingRowOfTable checks that a row of a table is shown under the heading row of the table.
func TestHeadingRowOfTable(t *testing.T) {
	rows := ""
	for i := range 40 {
		rows += fmt.Sprintf("| host%d | Frankfurt am Main, second floor | k3s |\n", i)
	}
	for _, c := range []struct{ name, content, query, want string }{
		{"far below", "Who runs what.\n\n| name | region | runs on |\n|---|---|---|\n" + rows +
			"| zebra | Amsterdam | k8s |\n", "zebra", "name region runs on … "},
		{"Windows line ends", strings.ReplaceAll("| name | region | runs on |\n|---|---|---|\n"+rows+
			"| zebra | Amsterdam | k8s |\n", "\n", "\r\n"), "zebra", "name region runs on … "},
		{"without outer bars", "name | region\n---|---\n" + strings.ReplaceAll(rows, "| host", "host") + "zebra | x\n",
			"zebra", "name region … "},
		{"in a short table", "| name | region |\n|---|---|\n| zebra | Amsterdam |\n", "zebra", "name region zebra"},
		{"the heading row itself", "| zebra | region |\n|---|---|\n" + rows, "zebra", "zebra region host0"},
		{"no table", strings.ReplaceAll(rows, "|", ",") + "zebra here\n", "zebra", ""},
		{"below a table", "| name | region |\n|---|---|\n" + rows + "\nThe zebra | here.\n", "zebra", ""},
	} {
		h := highlighter(t, sheaf.Match{Text: c.query})
		got := h.Best([]byte(c.content), []sheaf.Span{{End: len(c.content)}}, 1, snippet.Width)
		if c.want == "" && strings.Contains(got.Text, "region") || !strings.HasPrefix(got.Text, c.want) {
			t.Errorf("%s: the snippet is %q, want that it begins with %q", c.name, got.Text, c.want)
		}
		for _, m := range got.Matches {
			if got.Text[m.Start:m.End] != "zebra" {
				t.Errorf("%s: %q is marked in %q", c.name, got.Text[m.Start:m.End], got.Text)
			}
		}
		if len(got.Matches) == 0 || !strings.HasPrefix(c.content[got.At:], "zebra") {
			t.Errorf("%s: the matches are %v, the place is %d", c.name, got.Matches, got.At)
		}
	}
}
