package edits_test

import (
	"testing"

	"pgregory.net/rapid"

	"sheaf/internal/check"
	"sheaf/internal/edits"
	"sheaf/internal/must"
)

func distance(a, b string) int { return edits.Distance([]rune(a), []rune(b), 1000) }

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"größe", "grosse", 3}, {"ca", "abc", 3},
	} {
		check.Equal(t, distance(c.a, c.b), c.want, "Distance(%q, %q)", c.a, c.b)
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 12, -1).Draw(t, "a"), rapid.StringN(0, 12, -1).Draw(t, "b")
		ab, ba := distance(a, b), distance(b, a)
		must.Equal(t, ab, ba, "Distance(a, b), and Distance(b, a)")
		must.Equal(t, ab == 0, string([]rune(a)) == string([]rune(b)), "distance %d of %q and %q", ab, a, b)
	})
}

func TestDistanceIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 12, -1).Draw(t, "a"), rapid.StringN(0, 12, -1).Draw(t, "b")
		most := rapid.IntRange(0, 12).Draw(t, "most")
		if got, want := edits.Distance([]rune(a), []rune(b), most), min(distance(a, b), most+1); got != want {
			t.Fatalf("at most %d: %d, want %d", most, got, want)
		}
	})
}
