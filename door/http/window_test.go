package http_test

import (
	"slices"
	"testing"
)

// TestWindowsAndSets checks that parameters and a body narrow a search to time windows and document
// sets. An error names its field.
func TestWindowsAndSets(t *testing.T) {
	s := start(t, map[string]string{
		"early.md":   "---\ncreated: 2024-02-03\nupdated: 2024-03-04\n---\nA heron.\n",
		"late.md":    "---\ncreated: 2024-08-09\nmodified: 2024-09-10\nsets: [finance]\n---\nA heron.\n",
		"undated.md": "A heron.\n",
	}, nil)
	paths := func(method, path, body string) (out []string) {
		var a struct{ Results []struct{ Path string } }
		s.get(t, method, path, body, &a)
		for _, r := range a.Results {
			out = append(out, r.Path)
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		query, body string
		want        []string
	}{
		{"created=2024..2024-06", `"created": "2024..2024-06"`, []string{"early.md", "undated.md"}},
		{"updated=2024-07..", `"updated": "2024-07.."`, []string{"late.md", "undated.md"}},
		{"updated=..2024-12", `"updated": "..2024-12"`, []string{"early.md", "late.md"}},
		{"sets=finance,other", `"sets": ["finance", "other"]`, []string{"late.md"}},
		{"sets=finance&created=..2024-06", `"sets": ["finance"], "created": "..2024-06"`, nil},
	} {
		if got := paths("GET", "/v1/search?query=heron&"+c.query, ""); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
		if got := paths("POST", "/v1/search", `{"query": "heron", `+c.body+`}`); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
	for _, c := range []struct {
		query, field string
		status       int
	}{{"created=soon..", "created", 422}, {"updated=2024", "updated", 422}, {"sets=", "sets", 400}} {
		if p := s.wrong(t, c.status, "GET", "/v1/search?query=heron&"+c.query, ""); len(p.Errors) == 0 ||
			p.Errors[0].Parameter != c.field {
			t.Errorf("%s: %+v", c.query, p.Errors)
		}
	}
}
