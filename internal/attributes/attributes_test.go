package attributes_test

import (
	"strings"
	"testing"

	"sheaf/internal/attributes"
	"sheaf/internal/check"
)

// FuzzCut checks that Cut removes a list in braces at the end, and that rule A11 allows its ID. The cases A11 of
// package chunk define valid lists.
func FuzzCut(f *testing.F) {
	for _, text := range []string{"a {#b}", "a {/*b*/}", `a { .c k="v w" #b }`, "{: id='x' }", "a {-}", "a {x=1}",
		"a\n{#b .c}", "a{#b}", "{#a b}", `{a="`, "{#"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, id, ok := attributes.Cut(text)
		list := strings.TrimPrefix(text, rest)
		if ok != (list != "") || ok && (!strings.HasPrefix(text, rest) || list[0] != '{' || list[len(list)-1] != '}' ||
			strings.ContainsAny(list, "\n")) {
			t.Errorf("%q: %q %q %v", text, rest, id, ok)
		}
		check.That(t, !strings.ContainsAny(id, "{}#/* \t\n") && strings.Contains(list, id), "%q has the id %q", text, id)
	})
}
