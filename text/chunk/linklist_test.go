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
		{"with text", "- [[a]] is\n- [[b]] was\n- [[c]]\n- [[d]]\n", nil},
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
