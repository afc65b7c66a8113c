package snippet_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search/snippet"
	"sheaf/text/chunk"
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
		got := highlighter(t, sheaf.Match{Text: "harbor"}).Best([]byte(c.content),
			chunk.KindMarkdown, []sheaf.Span{span}, 1, snippet.Width)
		check.Equal(t, got.Text, c.want, "shown for %q of %q", c.part, c.content)
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
		got := highlighter(t, c.query).Best([]byte(content), chunk.KindMarkdown, c.spans, len(c.spans), snippet.Width)
		shown, end := "", 0
		for _, m := range got.Matches {
			shown += got.Text[end:m.Start] + "[" + got.Text[m.Start:m.End] + "]"
			end = m.End
		}
		shown += got.Text[end:]
		check.That(t, shown == c.want, "%s: shown is %q, want %q", c.what, shown, c.want)
		if len(got.Matches) > 0 && !strings.HasPrefix(content[got.At:], got.Text[got.Matches[0].Start:got.Matches[0].End]) {
			t.Errorf("%s: the place %d is not that of its first match", c.what, got.At)
		}
	}
}

// TestSnippetShowsRarestWordOfBody searches two words that are equally rare in the collection. The snippet must show
// the word with one place in the body, not the word with many places. A passage has only the frequent word.
func TestSnippetShowsRarestWordOfBody(t *testing.T) {
	content := "Snow in winter.\n\n" + strings.Repeat("A winter of wind and rain.\n", 20) +
		strings.Repeat("Nobody is on the road.\n", 20) + "Take the sledge home.\n"
	spans := []sheaf.Span{{End: len("Snow in winter.")}, {End: len(content)}}
	for _, query := range []string{"winter sledge", "sledge winter"} {
		got := highlighter(t, sheaf.Match{Text: query}).Best([]byte(content),
			chunk.KindMarkdown, spans, len(spans), snippet.Width)
		check.That(t, strings.Contains(got.Text, "sledge"), "%s: shown is %q", query, got.Text)
		check.Equal(t, got.At, strings.Index(content, "sledge"), "%s: place", query)
	}
}

// TestSnippetOfOwnText checks that text under sub-headings is shown only if the own text has no match.
func TestSnippetOfOwnText(t *testing.T) {
	const content = "The harbor.\n\n## Below\n\nThe harbor and the lighthouse.\n"
	own, all := sheaf.Span{End: len("The harbor.\n\n")}, sheaf.Span{End: len(content)}
	for query, want := range map[string]string{"harbor lighthouse": "The harbor.",
		"lighthouse": "The harbor. Below The harbor and the lighthouse."} {
		h := highlighter(t, sheaf.Match{Text: query})
		check.Equal(t, h.Best([]byte(content),
			chunk.KindMarkdown, []sheaf.Span{own, all}, 1, snippet.Width).Text, want, "shown for %q", query)
	}
}

// TestSnippetBehindByteOrderMark checks that a byte order mark alone is no text to show.
func TestSnippetBehindByteOrderMark(t *testing.T) {
	const text = "\ufeff# Foo\n\nUnder the heading.\n"
	spans := []sheaf.Span{{End: 3}, {Start: 3, End: len(text)}}
	got := highlighter(t, sheaf.Match{Text: "heron"}).Best([]byte(text), chunk.KindMarkdown, spans, 1, snippet.Width)
	check.Equal(t, got.Text, "Foo Under the heading.", "")
}

// TestSnippetAfterCode checks that the line that closes code, at the beginning of a passage, opens no code.
func TestSnippetAfterCode(t *testing.T) {
	const code, after = "```\nnaive\n", "```\n\n> the heron\n\n| a | b |\n"
	h := highlighter(t, sheaf.Match{Text: "heron"})
	s := h.Best([]byte(code+after),
		chunk.KindMarkdown, []sheaf.Span{{Start: len(code), End: len(code + after)}}, 1, snippet.Width)
	check.Equal(t, s.Text, "the heron a b", "snippet")
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
			"zebra", "name | region … "},
		{"in a quote", "> | name | region |\n> |---|---|\n" + strings.ReplaceAll(rows, "| host", "> | host") +
			"> | zebra | x |\n", "zebra", "name region … "},
		{"in a short table", "| name | region |\n|---|---|\n| zebra | Amsterdam |\n", "zebra", "name region zebra"},
		{"the heading row itself", "| zebra | region |\n|---|---|\n" + rows, "zebra", "zebra region host0"},
		{"no table", strings.ReplaceAll(rows, "|", ",") + "zebra here\n", "zebra", ""},
		{"below a table", "| name | region |\n|---|---|\n" + rows + "\nThe zebra | here.\n", "zebra", ""},
	} {
		h := highlighter(t, sheaf.Match{Text: c.query})
		got := h.Best([]byte(c.content), chunk.KindMarkdown, []sheaf.Span{{End: len(c.content)}}, 1, snippet.Width)
		check.That(t, (c.want != "" || !strings.Contains(got.Text, "region")) && strings.HasPrefix(got.Text, c.want),
			"%s: the snippet is %q, want that it begins with %q", c.name, got.Text, c.want)
		for _, m := range got.Matches {
			check.That(t, got.Text[m.Start:m.End] == "zebra", "%s: %q is marked in %q", c.name, got.Text[m.Start:m.End],
				got.Text)
		}
		check.That(t, len(got.Matches) != 0 && strings.HasPrefix(c.content[got.At:], "zebra"),
			"%s: the matches are %v, the place is %d", c.name, got.Matches, got.At)
	}
}

// TestWordOfHeadingRow checks that a row of a table is shown and placed when the heading row has the other word.
func TestWordOfHeadingRow(t *testing.T) {
	table := "| id | name | price |\n|---|---|---|\n"
	for i := range 400 {
		table += fmt.Sprintf("| %d | k%dx | %d EUR |\n", i, i, 7*i)
	}
	half := len(table) / 2
	for _, spans := range [][]sheaf.Span{{{End: len(table)}}, {{End: half}, {Start: half, End: len(table)}}} {
		for _, word := range []string{"k0x", "k1x", "k120x", "k377x"} {
			h := highlighter(t, sheaf.Match{Text: "price of " + word})
			got := h.Best([]byte(table), chunk.KindMarkdown, spans, len(spans), snippet.Width)
			marked := []string{}
			for _, m := range got.Matches {
				marked = append(marked, got.Text[m.Start:m.End])
			}
			check.That(t, slices.Equal(marked, []string{"price", word}) && strings.HasPrefix(table[got.At:], word),
				"%s in %d spans: %q is marked in %q, at byte %d", word, len(spans), marked, got.Text, got.At)
		}
	}
}

// TestMarksShownHeadingRow checks that the words of a heading row are marked when the snippet shows this row.
func TestMarksShownHeadingRow(t *testing.T) {
	table := "Zulu is a word.\n\n| Zulu | Other |\n|---|---|\n| quagga | nothing |\n" +
		strings.Repeat("| a long row of a table | with words |\n", 40)
	h := highlighter(t, sheaf.Match{Text: "quagga zulu"})
	got := h.Best([]byte(table), chunk.KindMarkdown, []sheaf.Span{{End: len(table)}}, 1, snippet.Width)
	marked := []string{}
	for _, m := range got.Matches {
		marked = append(marked, got.Text[m.Start:m.End])
	}
	check.List(t, marked, []string{"Zulu", "Zulu", "quagga"}, "marks of %q", got.Text)
	check.That(t, strings.HasPrefix(table[got.At:], "quagga"), "the snippet is at byte %d", got.At)
}

// TestSnippetShowsRarestWord checks that place and snippet show the rarest word, not a common word or a name's part.
// An error names the kind of fault.
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
		check.That(t, strings.Contains(s.Text, c.word), "%s: the snippet %q does not show %q", c.name, s.Text, c.word)
		line := lineOf(c.text, s.At)
		check.That(t, strings.Contains(line, c.word), "%s: the place is the line %q, want that of %q", c.name, line, c.word)
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
			must.That(t, !strings.Contains(s.Text, "title") && !strings.Contains(s.Text, "target") &&
				strings.Contains(s.Text, "eland"), "%s and %d words: %q", markup, n, s.Text)
		}
	}
}

func lineOf(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return line
}

// TestHighlighterWords checks that Words returns the words that snippets mark, each with its matching parts.
func TestHighlighterWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		query sheaf.TextQuery
		text  string
		want  string
	}{
		{"stems, each form once", sheaf.Match{Text: "what is the commit"}, "Commits: the commit, a commit that is " +
			"committed; a command, common comments, what then?", "<Commits> <commit> <committed>"},
		{"a phrase", sheaf.Phrase{Text: "to be"}, "Not to be, toes.", "<to> <be>"},
		{"parts of identifiers", sheaf.Match{Text: "name"}, "getUserName(user_name), rename, names",
			"getUser<Name> <name> <names>"},
		{"digits", sheaf.Match{Text: "RFC7231"}, "rfc7231, RFC7230, 7232", "<rfc7231> <RFC>7230"},
		{"two parts", sheaf.Match{Text: "get name"}, "getUserName, getName", "<get>User<Name> <getName>"},
		{"a beginning", sheaf.Prefix{Text: "auth"}, "author, AUTH0, oauth", "<author> <AUTH0>"},
		{"words that are spelt alike", sheaf.Fuzzy{Text: "colour", Distance: 1}, "color and colours, not collar",
			"<color> <colours>"},
		{"without spaces", sheaf.Match{Text: "検索テスト"}, "全文検索テスト中。テスト、使用docker容器", "<検索テスト> <テスト>"},
		{"between letters of scripts without spaces", sheaf.Match{Text: "docker"}, "使用docker容器, docker를", "<docker>"},
		{"Hangul", sheaf.Match{Text: "검색"}, "검색을 하다", "<검색>"},
		{"none", sheaf.Match{Text: "zebra"}, "One.", ""},
		{"no query", nil, "One.", ""},
	} {
		var got []string
		for _, parts := range highlighter(t, c.query).Words(t.Context(), c.text, 10) {
			for i := 1; i < len(parts); i += 2 {
				parts[i] = "<" + parts[i] + ">"
			}
			got = append(got, strings.Join(parts, ""))
		}
		check.Equal(t, strings.Join(got, " "), c.want, "%s", c.name)
	}
	check.Equal(t, len(highlighter(t, sheaf.Prefix{Text: "a"}).Words(t.Context(), "a ab ac ad", 3)), 3, "at most three")
	// A long run of letters takes no longer than as many words, and is skipped.
	run := strings.Repeat("commit", 400_000)
	got := highlighter(t, sheaf.Match{Text: "commit"}).Words(t.Context(), run+" commit "+run, 10)
	check.That(t, len(got) == 1 && got[0][1] == "commit", "beside long runs: %d words", len(got))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got = highlighter(t, sheaf.Match{Text: "commit"}).Words(ctx, strings.Repeat("one ", 1000)+"commit",
		10)
	check.That(t, got == nil, "for nobody: %q", got)
}

// TestCodeKeepsItsSigns checks that the snippet of a file that is no Markdown shows every sign.
func TestCodeKeepsItsSigns(t *testing.T) {
	const code = "# heron\ndef f(*args, **kwargs):\n    return re.match(r\"\\.\\[x\\]\", a[0](b) | c) # *so* &lt; <b>\n"
	got := highlighter(t, sheaf.Match{Text: "heron"}).Best([]byte(code),
		chunk.KindCode, []sheaf.Span{{End: len(code)}}, 1, 200)
	check.Equal(t, got.Text, strings.Join(strings.Fields(code), " "), "text")
}
