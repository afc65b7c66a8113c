package mcp_test

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestWindows: search narrows to windows of time and to sets of documents, with the words that HTTP and the command
// line have. Documents without created pass its windows; those without updated count as 90 days old.
func TestWindows(t *testing.T) {
	s := connectOver(t, collectiontest.Open(t, map[string]string{
		"early.md":   "---\ncreated: 2024-02-03\nupdated: 2024-03-04\n---\nA heron.\n",
		"late.md":    "---\ncreated: 2024-08-09\nmodified: 2024-09-10\nsets: [finance]\n---\nA heron.\n",
		"undated.md": "---\nsets: [legal]\n---\nA heron.\n",
	}, nil), access.Unrestricted())
	for _, c := range []struct {
		narrow map[string]any
		want   []string
	}{
		{map[string]any{}, []string{"early.md", "late.md", "undated.md"}},
		{map[string]any{"created": "2024..2024-06"}, []string{"early.md", "undated.md"}},
		{map[string]any{"updated": "2024-09.."}, []string{"late.md", "undated.md"}},
		{map[string]any{"updated": "..2024-06"}, []string{"early.md"}},
		{map[string]any{"sets": []string{"finance", "legal"}}, []string{"late.md", "undated.md"}},
		{map[string]any{"sets": []string{"finance"}, "created": "..2024-06"}, nil},
		{map[string]any{"sets": []string{"none"}}, nil},
	} {
		c.narrow["query"] = "heron"
		var out answer
		call(t, s, "search", c.narrow, &out)
		var got []string
		for _, r := range out.Results {
			path, _, _ := strings.Cut(strings.TrimPrefix(r.ID, collectiontest.Tree+":"), "#")
			if !slices.Contains(got, path) {
				got = append(got, path)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.narrow, got, c.want)
		}
	}
	for name, value := range map[string]any{"created": "soon..", "updated": "2024", "sets": []string{""}} {
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "search",
			Arguments: map[string]any{"query": "heron", name: value}})
		if err != nil || !r.IsError || !strings.Contains(textOf(r), name) {
			t.Errorf("%s %v: %v %s", name, value, err, textOf(r))
		}
	}
}
