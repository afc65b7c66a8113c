package wikilink_test

import (
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/wikilink"
)

func TestWholeTextIsLink(t *testing.T) {
	for _, c := range []struct {
		text, shown, name string
		ok                bool
	}{
		{"[[Ann]]", "Ann", "Ann", true},
		{"[[people/Ann.md#Top|A]]", "A", "Ann", true},
		{`[[people/Ann\|A]]`, "A", "Ann", true},
		{"[[ 2024-05-31 ]]", "2024-05-31", "2024-05-31", true},
		{"[[Ann#Top]]", "Ann#Top", "Ann", true},
		{"[[#Top]]", "#Top", "", true},
		{"[[people/]]", "people/", "people", true},
		{"[[.md]]", ".md", ".md", true},
		{"[[Ann.MD]]", "Ann.MD", "Ann", true},
		{"[[people/Ann.markdown]]", "people/Ann.markdown", "Ann", true},
		{"[[v1.2]]", "v1.2", "v1.2", true},
		{"[[Ann]] and Bob", "", "", false},
		{"see [[Ann]]", "", "", false},
		{"[[Ann]] [[Bob]]", "", "", false},
		{"[[]]", "", "", false},
		{"[[Ann", "", "", false},
		{"[[Ann](ann.md)]]", "", "", false},
		{"[[Ann|A [1](one.md)]]", "A [1](one.md)", "Ann", true},
		{"Ann", "", "", false},
		{"[A](people/Ann%20Lee.md#top)", "", "Ann Lee", false},
		{"[A](<people/Ann Lee.md>)", "", "Ann Lee", false},
		{"[A](https://example.org/Ann.md)", "", "", false},
		{"[A](Ann.png)", "", "", false},
		{"[A](Ann.md) and Bob", "", "", false},
	} {
		l, ok := wikilink.Whole(c.text)
		if ok != c.ok || ok && l.Text() != c.shown || wikilink.Name(c.text) != c.name {
			t.Errorf("%s is %+v %v, shown as %q and called %q", c.text, l, ok, l.Text(), wikilink.Name(c.text))
		}
	}
}

// TestParse checks how much of a text is a wiki link.
func TestParse(t *testing.T) {
	for text, want := range map[string]int{
		"Ann]]": 5, "Ann]] (boss)": 5, "Ann]](boss)": 5, "Ann]](see a.md)": 5, "Ann]]()": 5, "Ann]](": 5, "Ann|A]](a.md)": 7,
		"1]](#cite-1)": 0, "pdf]](a.pdf)": 0, "all]](https://example.org/x)": 0, "text](a.md)]]": 0,
	} {
		_, size, ok := wikilink.Parse(text)
		check.That(t, size == want && ok == (want > 0), "%s: %d %v", text, size, ok)
	}
}
