package collection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestValues checks that property values are found in each form that documents use.
func TestValues(t *testing.T) {
	files := map[string]string{
		"quoted.md": "---\ndue: \"2024-01-05\"\nqn: \"0012\"\n---\n# Heron\n",
		"month.md":  "---\ndue: 5 Jan 2024\nhex: 0x1F\ntags: [schiff\u00adfahrt]\n---\n# Heron\n",
		"zone.md":   "---\ndue: 2024-01-05 23:30 -0800\nauthor: \"Ann\u00a0Lee\"\n---\n# Heron\n",
		"dots.md":   "---\ndue: 05.01.2024\nversion: 2024.1.15\n---\n# Heron\n",
		"hyphen.md": "---\ndate: 2020\u201111\u201125\ncost: 12.50\n---\n# Heron\n",
		"field.md":  "# K\n\nheron [f:: 0.50] [g:: x]\n",
	}
	r := reader(t, collectiontest.Open(t, files, nil), access.Unrestricted())
	for query, want := range map[string]string{
		"due:<2025":         "dots month quoted zone",
		"due:>=2024-01-05":  "dots month quoted zone",
		"due:2024-01":       "dots month quoted zone",
		"due:2024-01-05":    "dots month quoted zone",
		`due:"5 Jan 2024"`:  "month",
		"due:>2024-01-05":   "",
		"version:2024.1*":   "dots",
		"version:2024.1.15": "dots",
		"qn:>11":            "quoted",
		"qn:0012":           "quoted",
		"qn:12":             "",
		"hex:0x1F":          "month",
		"hex:>30":           "month",
		"tag:schifffahrt":   "month",
		"tag:*":             "month",
		`author:"Ann Lee"`:  "zone",
		"date:2020-11-25":   "hyphen",
		"-ext:*":            "",
		"ext:* f:0.50":      "field",
	} {
		a, err := r.Search(t.Context(), collection.SearchRequest{Text: query, Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for name := range files {
			name = strings.TrimSuffix(name, ".md")
			if strings.Contains(fmt.Sprintf("%v", a.Results), ":"+name+".md") {
				found = append(found, name)
			}
		}
		if got := sorted(found); got != want {
			t.Errorf("%s: found %q, want %q", query, got, want)
		}
	}
	ask := collection.SearchRequest{Text: "heron", Limit: 1, Facets: []string{"prop.due"}}
	a, err := r.Search(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	var due []string
	for _, f := range a.Facets["prop.due"] {
		due = append(due, fmt.Sprint(f))
	}
	if got := sorted(due); got != "{05.01.2024 1} {2024-01-05 1} {2024-01-05T23:30:00-08:00 1} {5 Jan 2024 1}" {
		t.Errorf("facet: %s", got)
	}
	doc, err := r.Document(t.Context(), "notes:field.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Properties) > 0 {
		t.Errorf("properties without a value: %v", doc.Properties)
	}
}

func sorted(list []string) string {
	slices.Sort(list)
	return strings.Join(list, " ")
}
