package chunk_test

import (
	"slices"
	"testing"

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
