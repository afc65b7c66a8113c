package arena_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/internal/arena"
	"sheaf/internal/check"
)

// TestTexts checks that strings keep their content while others follow, also strings that are longer than a block.
func TestTexts(t *testing.T) {
	texts := arena.NewTexts(64)
	var got, want []string
	for i := range 300 {
		long := strings.Repeat("é", i)
		got, want = append(got, texts.Join(long, "#", fmt.Sprint(i))), append(want, long+"#"+fmt.Sprint(i))
	}
	check.Equal(t, strings.Join(got, "|"), strings.Join(want, "|"), "the strings")
	check.Equal(t, texts.Join(), "", "no parts")
	check.That(t, texts.Own(nil) == nil, "a copy of nil is not nil")
	list := []string{"a", "", "bc"}
	own := texts.Own(list)
	list[0] = "z"
	check.Equal(t, strings.Join(own, "|"), "a||bc", "a copy of a list")
	allocated := testing.AllocsPerRun(100, func() {
		texts := arena.NewTexts(4096)
		for range 100 {
			texts.Join("part", "#", "other part")
		}
	})
	check.That(t, allocated <= 2, "100 short strings take %v allocations", allocated)
}
