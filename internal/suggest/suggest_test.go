package suggest_test

import (
	"testing"

	"pgregory.net/rapid"

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

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"größe", "grosse", 3}, {"ca", "abc", 3},
	} {
		if got := suggest.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 12, -1).Draw(t, "a"), rapid.StringN(0, 12, -1).Draw(t, "b")
		ab, ba := suggest.Distance(a, b), suggest.Distance(b, a)
		if ab != ba {
			t.Fatalf("Distance(a, b) = %d, Distance(b, a) = %d", ab, ba)
		}
		if (ab == 0) != (string([]rune(a)) == string([]rune(b))) {
			t.Fatalf("distance %d of %q and %q", ab, a, b)
		}
	})
}
