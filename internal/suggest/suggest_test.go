package suggest_test

import (
	"testing"

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
		{"xyzzy", ""},
		{"", ""},
		{"l", "ls"},
	} {
		if got := suggest.Nearest(c.name, commands); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSuggestionsForValues checks that distant words are not suggested.
func TestSuggestionsForValues(t *testing.T) {
	values := []string{"one", "draft", "car", "in review", "project/alpha"}
	for _, c := range []struct{ name, want string }{
		{"gone", ""}, {"none", ""}, {"craft", ""}, {"far", ""}, {"done", ""},
		{"drafft", "draft"}, {"Darft", "draft"}, {"drfat", "draft"}, {"in reviw", "in review"}, {"proj", "project/alpha"},
		{"", ""},
	} {
		if got := suggest.NearestValue(c.name, values); got != c.want {
			t.Errorf("NearestValue(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}
