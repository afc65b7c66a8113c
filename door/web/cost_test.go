package web

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestCostlyTextIsIntricate checks that text which costs minutes or gigabytes to render counts as intricate.
// Long text of usual kinds does not.
func TestCostlyTextIsIntricate(t *testing.T) {
	must.Whole(t, "megabytes of text")
	repeated := func(unit string) func(int) string {
		return func(n int) string { return strings.Repeat(unit, n) + " a\n" }
	}
	stairs := func(n int) string {
		var s strings.Builder
		for i := range n {
			s.WriteString(strings.Repeat("  ", i) + "- a\n")
		}
		return s.String()
	}
	for name, c := range map[string]struct {
		make       func(n int) string
		much, some int
	}{
		"quotes":                   {repeated(">"), 60_000, 500},
		"quotes apart":             {repeated("> "), 60_000, 500},
		"lists in a line":          {repeated("- "), 60_000, 500},
		"numbered lists in a line": {repeated("1. "), 60_000, 500},
		"lists in lists":           {stairs, 1_500, 60},
		"lists, and nothing behind": {func(n int) string {
			return strings.Repeat("- ", 5000) + "a" + strings.Repeat("\n", n)
		}, 9000, 9},
		"emphasis":              {repeated("*a_ "), 60_000, 2000},
		"emphasis in a heading": {func(n int) string { return "# " + repeated("*a_ ")(n) }, 60_000, 2000},
		"emphasis in a cell": {func(n int) string {
			return "|a|b|\n|--|--|\n|" + strings.Repeat("*a_ ", n) + "|b|\n"
		}, 60_000, 2000},
		"links that begin":           {repeated("[a]("), 60_000, 2000},
		"definitions":                {repeated("[a]: b\n"), 60_000, 2000},
		"definitions of two lines":   {repeated("[a]:\nb\n"), 60_000, 2000},
		"a definition of many lines": {func(n int) string { return "[a" + strings.Repeat("a)~~ \n", n) + "b" }, 60_000, 900},
		"definitions in a quote":     {repeated("> [a]: b\n"), 60_000, 2000},
		"columns": {func(n int) string {
			return "|" + strings.Repeat("a|", n) + "\n|" + strings.Repeat("-|", n) + "\n" + strings.Repeat("|a|\n", n)
		}, 1000, 100},
		"columns in a quote": {func(n int) string {
			return "> |" + strings.Repeat("a|", n) + "\n> |" + strings.Repeat("-|", n) + "\n" + strings.Repeat("> |a|\n", n)
		}, 1000, 100},
		"pipes in code of cells": {func(n int) string { return "|a|b|\n|-|-|\n" + repeated("|`a\\|b`|c|\n")(n) },
			40_000, 2000},
		"addresses that begin": {func(n int) string {
			return "a " + strings.Repeat("[a](<b", n) + strings.Repeat("word ", 100*n)
		}, 2000, 100},
		"titles that begin": {func(n int) string {
			return "a " + strings.Repeat("[a](b \"", n) + strings.Repeat("word\n", 100*n)
		}, 2000, 100},
		"quotes in a footnote":             {func(n int) string { return "[^a]: " + repeated("> ")(n) }, 60_000, 500},
		"lists in a footnote":              {func(n int) string { return "  [^a]: " + repeated("- ")(n) }, 60_000, 500},
		"code that begins after an escape": {repeated("\\``" + strings.Repeat("a b ", 6) + "\n"), 30_000, 200},
		"emphasis in a footnote": {func(n int) string { return "[^a]: b\n\n    " + repeated("*a_ ")(n) }, 60_000,
			2000},
		"emphasis behind a comment of HTML": {func(n int) string { return "%%\n<!--\n%%\n\n" + repeated("*a_ ")(n) }, 60_000,
			2000},
		"emphasis behind a formula of fence": {func(n int) string { return "$$\n```\n$$\n\n" + repeated("*a_ ")(n) }, 60_000,
			2000},
		"code that begins": {func(n int) string {
			var s strings.Builder
			for i := range n {
				s.WriteString(strings.Repeat("`", i+1) + "a ")
			}
			return s.String() + strings.Repeat("word\n", 600*n)
		}, 300, 20},
	} {
		for _, n := range []int{c.much, c.some} {
			p := &page{}
			text := c.make(n)
			must.Do(t, p.render(&collection.Part{Text: text}, &sheaf.Document{ID: "t:a.md", Path: "a.md"}))
			switch {
			case n == c.much && (p.Text != text || p.HTML != "" || !p.Intricate):
				t.Errorf("%s, %d: laid out", name, n)
			case n == c.some && (p.Text != "" || p.HTML == "" || p.Intricate):
				t.Errorf("%s, %d: not laid out", name, n)
			}
		}
	}
	for name, text := range map[string]string{
		"a list of links":         repeated("- [a](http://b.c/) *d* `e` ![f](g)\n")(5000),
		"an index of notes":       repeated("- [[note]]\n")(50_000),
		"an index without a list": repeated("[[note]]\n")(8000),
		"tasks":                   repeated("1. [ ] a\n")(50_000),
		"a table of links":        "|a|b|\n|--|--|\n" + repeated("|[a](http://b.c/)|*d* `e`|\n")(5000),
		"a log":                   repeated("2026-01-01 12:00:00.123 [info] a_b_c *d*\n\n")(20_000),
		"code":                    "```c\n" + repeated("                    *a[b] = **c[d] << 1;\n")(20_000) + "```\n",
		"a list of three levels":  repeated("- a\n  - b\n    - c\n\n")(10_000),
		"a table of many columns": "|" + strings.Repeat("a|", 60) + "\n|" + strings.Repeat("-|", 60) + "\n" +
			repeated("|"+strings.Repeat("1.25|", 60)+"\n")(3000),
		"a paragraph of code": repeated("see `this` and ``that``, not `` `one` `` [a](b)\n")(4000),
		"quoted mail":         repeated("> > > a\n> > b\n> c\n\n")(10_000),
	} {
		check.That(t, !intricate([]byte(text)), "%s: not laid out", name)
	}
}
