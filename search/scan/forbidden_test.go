package scan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf/search"
)

// TestForbiddenWordInsideLongerWord checks files that contain the letters of a forbidden word in a
// longer word or in another section. They stay candidates.
func TestForbiddenWordInsideLongerWord(t *testing.T) {
	files := map[string]string{"last/part.md": "cat and mouse, each a part\n",
		"last/sections.md": "# One\n\ncat mouse\n\n# Two\n\nstone\n" + strings.Repeat("filler ", 30)}
	for i := range 30 {
		files[fmt.Sprintf("a/%02d.md", i)] = "cat\n"
		if i%10 == 0 {
			files[fmt.Sprintf("m/%02d.md", i)] = "mouse\n"
		}
	}
	s := searcher(t, folder(t, files))
	for query, want := range map[string]string{"cat mouse -art": "last/part.md#0",
		"cat mouse -stone": "last/sections.md#0"} {
		r := ask(t, s, query, search.Options{Parameters: map[string]string{"candidate_limit": "10", "chunk_chars": "100"}})
		if got := ids(r); !slices.Contains(got, want) {
			t.Errorf("%s: got %v, want %s among them", query, got, want)
		}
	}
}
