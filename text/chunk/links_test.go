package chunk_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf/internal/must"
	"sheaf/text/chunk"
)

func TestLinkLists(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"of wikis", "Text.\n\n- [[a]]\n- [[b|B]]\n- [[c#d]]\n\nMore.\n", []string{"- [[a]]\n- [[b|B]]\n- [[c#d]]"}},
		{"of Markdown", "* [a](a.md)\n* [b](<b c.md> \"B\")\n+ [c](c.md)\n",
			[]string{"* [a](a.md)\n* [b](<b c.md> \"B\")\n+ [c](c.md)"}},
		{"numbered and within each other", "1. [[a]]\n   - [[b]]\n2. [[c]]", []string{"1. [[a]]\n   - [[b]]\n2. [[c]]"}},
		{"with blank lines", "- [[a]]\n\n- [[b]]\n\n- [[c]]\n", []string{"- [[a]]\n\n- [[b]]\n\n- [[c]]"}},
		{"two", "- [[a]]\n- [[b]]\n- [[c]]\ntext\n- [[d]]\n- [[e]]\n- [[f]]",
			[]string{"- [[a]]\n- [[b]]\n- [[c]]", "- [[d]]\n- [[e]]\n- [[f]]"}},
		{"too short", "- [[a]]\n- [[b]]\n", nil},
		{"with text", "- [[a]] is here and now\n- [[b]] was here and then\n- [[c]]\n- [[d]]\n", nil},
		{"with few words", "- [[a]] (in March)\n- [[b]]: see Bob\n- [[c]]\n",
			[]string{"- [[a]] (in March)\n- [[b]]: see Bob\n- [[c]]"}},
		{"in a table with texts", "| [[a]] | is |\n| [[b]] | was |\n| [[c]] | has |\n", nil},
		{"of addresses", "- https://a.org/x\n- <http://a.org/y>\n* https://a.org/z and more of it\nhttp is old",
			[]string{"- https://a.org/x\n- <http://a.org/y>\n* https://a.org/z"}},
		{"of other items", "- a\n- b\n- [ ] c\n- [x]\n", nil},
		{"two links in an item", "- [[a]] [[b]]\n- [[c]] [[d]]\n", []string{"- [[a]] [[b]]\n- [[c]] [[d]]"}},
		{"two links and a word in an item", "- [[a]] and [[b]]\n- [[c]] or [[d]] (old)\n", []string{"- [[a]] and [[b]]\n- " +
			"[[c]] or [[d]]"}},
		{"two links and a text in an item", "- [[a]] is the parent of [[b]]\n- [[c]] is the parent of [[d]]\n", nil},
		{"in a table", "| page |\n|---|\n| [[a]] |\n| [b](b.md) |\n| [[c]] |\n",
			[]string{"| [[a]] |\n| [b](b.md) |\n| [[c]]"}},
		{"in a line", "See also: [[a]], [b](b.md), [c][d].", []string{"[[a]], [b](b.md), [c][d]"}},
		{"in bare lines", "[[a]]\n[[b]]\n\n[[c]]\n", []string{"[[a]]\n[[b]]\n\n[[c]]"}},
		{"of tasks", "- [ ] [[a]]\n- [x] [[b]]\n- [X] [[c]]\n", []string{"- [ ] [[a]]\n- [x] [[b]]\n- [X] [[c]]"}},
		{"in prose", "Both [[a]] and [[b]], or [[c]] with [[d]].", nil},
	} {
		var got []string
		for _, l := range chunk.LinkLists(c.text) {
			got = append(got, c.text[l.Start:l.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestBlockLines checks the lines of each block.
func TestBlockLines(t *testing.T) {
	const text = "# A ^head\n" + // 1
		"Intro.\n\nTwo lines\nof egret. ^abc\n\n" + // 2-6
		"- one ^one\n- two\n  goes on ^two\n  - inner ^inner\n    more\n- three\n\n" + // 7-13
		"| a | b |\n|---|---|\n| 1 | 2 |\n\n^tab\n\n" + // 14-19
		"> A quote\n> of two ^quote\n\n" + // 20-22
		"```\nx ^code\n```\n^code\n\n" + // 23-27
		"Last ^last" // 28
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		for name, want := range map[string][2]int{"head": {1, 1}, "abc": {4, 5}, "one": {7, 7}, "two": {8, 11},
			"inner": {10, 11}, "tab": {14, 18}, "quote": {20, 21}, "code": {23, 26}, "last": {28, 28}} {
			first, last, ok := chunk.BlockLines(strings.ReplaceAll(text, "\n", ending), name)
			if got := [2]int{first, last}; !ok || got != want {
				t.Errorf("%q: the lines of ^%s are %v, %v, want %v", ending, name, got, ok, want)
			}
		}
	}
	if first, last, ok := chunk.BlockLines(text, "ABC"); !ok || first != 4 || last != 5 {
		t.Errorf("the lines of ^ABC are %d to %d, %v", first, last, ok)
	}
	if first, _, _ := chunk.BlockLines("a ^Kiwi\n\nb ^kiwi\n", "kiwi"); first != 3 {
		t.Errorf("^kiwi is on line %d, want 3, where it is called exactly so", first)
	}
	for _, name := range []string{"none", "ab", "bc", ""} {
		if first, last, ok := chunk.BlockLines(text, name); ok {
			t.Errorf("there is a block %q in the lines %d to %d", name, first, last)
		}
	}
}

// TestBlockAt checks that a position belongs to the smallest block around it.
func TestBlockAt(t *testing.T) {
	const text = "# A\n\nFree.\n\nTwo lines\nof egret. ^abc\n\n- one ^one\n- two\n  goes on ^two\n  - inner ^inner\n   " +
		" more\n- three\n\n" +
		"| a | b |\n|---|---|\n| cell | 2 |\n\n^tab\n\n> A quote\n> of it ^quote\n\nx^2 and y ^3 or\n\n```\ncode ^code\n```\n"
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(text, "\n", ending)
		for word, want := range map[string]string{"Free": "", "Two": "abc", "egret": "abc", "one ": "one", "goes": "two",
			"inner ": "inner", "more": "inner",
			"three": "", "cell": "tab", "A quote": "quote", "and y": "", "code ": ""} {
			if got := chunk.BlockAt(text, strings.Index(text, word)); got != want {
				t.Errorf("%q: %q is in block %q, want %q", ending, word, got, want)
			}
		}
	}
	if got := chunk.BlockAt("a ^b", 100); got != "" {
		t.Errorf("behind the end: %q", got)
	}
}

// TestCodeHyphens checks that a hyphen at the end of a line splits no word in code, as it does in prose.
func TestCodeHyphens(t *testing.T) {
	const fenced = "infor-\nmation\n\n```\nfoo-\nbar -- \nbaz\n```\n\nknow-\nledge\n"
	for _, c := range []struct{ path, text, want string }{
		{"a.md", fenced, "infor-\nmation\n\n```\nfoo\nbar  \nbaz\n```\n\nknow-\nledge\n"},
		{"a.md", "---\na: \"```\"\n---\nfoo-\nbar\n", "foo-\nbar\n"},
		{"a.go", "foo-\r\nbar\n", "foo\r\nbar\n"},
		{"a.txt", "foo-\nbar\n", "foo-\nbar\n"},
	} {
		chunker := must.Get(chunk.For(c.path, chunk.Options{}))
		doc := chunker.Chunk("t", c.path, []byte(c.text))
		left := chunk.IndexedText(&doc, &doc.Chunks[0], c.text)
		if left.Text != c.want {
			t.Errorf("%s: the text of %q is %q, want %q", c.path, c.text, left.Text, c.want)
		}
		if i := strings.Index(left.Text, "bar"); c.text[left.At(i):][:3] != "bar" {
			t.Errorf("%s: bar is at %d", c.path, left.At(i))
		}
	}
}
