package jsonname

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf/internal/must"
)

func TestTwice(t *testing.T) {
	for text, want := range map[string][2]string{ // exact, and in any case
		`{"a": 1, "b": {"a": 2}}`:            {"", ""},
		`{"a": 1, "b": [], "a": 2}`:          {"a", "a"},
		`[{"a": 1}, {"a": [{"b":1,"b":2}]}]`: {"b", "b"},
		`{"scopes": 1, "Scopes": 2}`:         {"", "Scopes"},
		`{"scopes": 1, "ſcopes": 2}`:         {"", "ſcopes"},
		`{"k": 1, "\u212a": 2}`:              {"", "\u212a"},
		`{"a": "a", "b": ["a", "a"]}`:        {"", ""},
		`{"": 1, "": 2}`:                     {"", ""}, // only ok shows the repeat
		`null`:                               {"", ""},
	} {
		for i, key := range []func(string) string{Exact, AnyCase} {
			name, ok := Twice([]byte(text), key)
			if name != want[i] || ok != (want[i] != "" || text == `{"": 1, "": 2}`) {
				t.Errorf("%s: %q, %v, want %q", text, name, ok, want[i])
			}
		}
	}
}

func TestAnyCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOf(rapid.RuneFrom([]rune("aAkK\u212asSſσςΣéÉµμ_1")))
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		must.Equal(t, AnyCase(a) == AnyCase(b), strings.EqualFold(a, b), "%q and %q", a, b)
	})
}
