package storekit_test

import (
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storekit"
)

func values() *rapid.Generator[sheaf.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) sheaf.Value { return sheaf.TextValue(string(b)) }),
		rapid.Map(rapid.Float64(), func(f float64) sheaf.Value { return sheaf.NumberValue(f) }),
		rapid.Map(rapid.Int64Range(-1e14, 1e14), func(ms int64) sheaf.Value { return sheaf.DateValue(time.UnixMilli(ms)) }),
		rapid.Map(rapid.Bool(), sheaf.BoolValue),
	)
}

// TestWords checks that words sort like their values, can be read back, and contain only plain characters.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOf(rapid.Byte()).Draw(t, "name"))
		a, b := values().Draw(t, "a"), values().Draw(t, "b")
		x, y := storekit.ValueWord(a), storekit.ValueWord(b)
		if a.Kind == b.Kind && sign(strings.Compare(x, y)) != sign(a.Compare(b)) {
			t.Fatalf("%v and %v compare as %d, their words %s and %s do not", a, b, a.Compare(b), x, y)
		}
		if a.Kind == b.Kind && a.Kind != sheaf.KindText &&
			cmp.Compare(storekit.SortableNumber(a.Number), storekit.SortableNumber(b.Number)) != a.Compare(b) {
			t.Fatalf("%v and %v compare as %d, their numbers do not", a, b, a.Compare(b))
		}
		word := storekit.ColumnWord(name) + x
		if strings.ContainsFunc(word, func(r rune) bool {
			return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '.')
		}) {
			t.Fatalf("word %q", word)
		}
		got := storekit.ReadWords([]string{word, "no word", "zz.t00", "61.q00", "61."}).Values(name)
		must.That(t, len(got) == 1 && got[0] == a, "%q of %q is read as %v", a, name, got)
		must.That(t, a.Kind != sheaf.KindText || strings.HasPrefix(x, storekit.PrefixWord(a.Text[:len(a.Text)/2])),
			"%q does not begin with the prefix of its half", x)
	})
}

func sign(n int) int { return cmp.Compare(n, 0) }

// TestWordsOfLongValues checks that long values with equal beginnings have different words.
func TestWordsOfLongValues(t *testing.T) {
	long := strings.Repeat("a", storekit.LongestWord)
	check.That(t, storekit.ValueWord(sheaf.TextValue(long+"b")) != storekit.ValueWord(sheaf.TextValue(long+"c")) &&
		storekit.ColumnWord(long+"b") != storekit.ColumnWord(long+"c"), "two long texts have one word")
	if got := storekit.ReadWords([]string{storekit.ColumnWord("a") +
		storekit.ValueWord(sheaf.TextValue(long+"b"))}).Values("a"); len(got) != 1 || got[0].Text != long {
		t.Errorf("a long text is read back as %d bytes", len(got[0].Text))
	}
	check.That(t, storekit.SortableNumber(math.Inf(-1)) < storekit.SortableNumber(-math.MaxFloat64) &&
		storekit.SortableNumber(math.Inf(1)) > storekit.SortableNumber(math.MaxFloat64),
		"infinite numbers do not stand at the ends")
}
