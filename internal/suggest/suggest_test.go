package suggest_test

import (
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/suggest"
)

func TestNearest(t *testing.T) {
	commands := []string{"search", "similar", "status", "index", "init", "get", "ls", "completion"}
	for _, c := range []struct{ name, want string }{
		{"serach", "search"},
		{"SEARCH", "search"},
		{"statsu", "status"},
		{"indx", "index"},
		{"gte", "get"},
		{"compl", "completion"},
		{"searching", "search"},
		{"getaway", ""},
		{"xyzzy", ""},
		{"", ""},
		{"l", "ls"},
	} {
		check.Equal(t, suggest.Nearest(c.name, commands), c.want, "Nearest(%q)", c.name)
	}
	check.Equal(t, suggest.Nearest("", []string{"b"}), "", "no name")
}

// TestSuggestionsForValues checks that distant words are not suggested.
func TestSuggestionsForValues(t *testing.T) {
	values := []string{"one", "draft", "car", "in review", "project/alpha"}
	for _, c := range []struct{ name, want string }{
		{"gone", ""}, {"none", ""}, {"craft", ""}, {"far", ""}, {"done", ""},
		{"drafft", "draft"}, {"Darft", "draft"}, {"drfat", "draft"}, {"in reviw", "in review"}, {"proj", "project/alpha"},
		{"", ""},
	} {
		check.Equal(t, suggest.NearestValue(c.name, values), c.want, "NearestValue(%q)", c.name)
	}
}
