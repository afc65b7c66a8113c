package segment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"sheaf/internal/must"
)

// TestTableSeek checks that seek finds present keys and returns the next key for absent ones. Keys share their first
// eight bytes, are shorter, or hold zeros, in letters or as plain bytes.
func TestTableSeek(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	parts := []string{"", "\x00", "\x00\x00", "a", "b", "\xff", "long beginning ", "\x00\x00\x00\x00\x00\x00\x00\x00"}
	random := func() string {
		key := ""
		for range 1 + rng.IntN(4) {
			key += parts[rng.IntN(len(parts))]
		}
		return key + fmt.Sprint(rng.IntN(40))
	}
	var keys []string
	for range 2000 {
		keys = append(keys, random())
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, l := range []*letters{nil, makeLetters(1, []byte("0123459\x00 glonbei"))} {
		table := tableOf(t, keys, l)
		var c tableCursor
		for range 20_000 {
			target := random()
			if rng.IntN(2) == 0 {
				target = keys[rng.IntN(len(keys))]
			}
			c.reset(table)
			found := c.seek([]byte(target))
			at := sort.SearchStrings(keys, target)
			must.That(t, found == (at < len(keys)) && (!found || string(c.key) == keys[at] && c.number == int64(at)),
				"%q: %v, %q at %d; want place %d", target, found, c.key, c.number, at)
			if found && at+1 < len(keys) && (!c.next() || string(c.key) != keys[at+1]) {
				t.Fatalf("after %q, from %q: %q, want %q", keys[at], target, c.key, keys[at+1])
			}
		}
	}
}

// tableOf returns a table that numbers sorted keys.
func tableOf(t *testing.T, keys []string, l *letters) *table {
	t.Helper()
	w := tableWriter{letters: l}
	defer w.free()
	for i, key := range keys {
		w.addNumber(key, i)
	}
	table := must.Get(openTable(trusted(t, w.finish()), tableOfNumbers))
	table.letters = l
	return table
}
