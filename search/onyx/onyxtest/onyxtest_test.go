package onyxtest

import (
	"encoding/json"
	"reflect"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search/onyx"
)

// TestFiltersOfCases checks that every filter of a case is read, and that an unknown filter is an error.
func TestFiltersOfCases(t *testing.T) {
	var in fileCase
	text := `{"now": 5, "filters": {"acl": ["a"], "include_hidden": true, "tenant": "t",
		"sources": ["web"], "tags": ["k===v"], "sets": ["s"], "forced_sets": ["f"], "persona": 3, "project": 7,
		"nodes": [1], "doc_ids": ["d"], "created_range": [1, null], "updated_range": [null, 2]}}`
	must.Do(t, json.Unmarshal([]byte(text), &in))
	one, two := int64(1), int64(2)
	want := onyx.Filters{Tenant: "t", Access: []string{"a"}, Hidden: true, Sources: []string{"web"},
		Tags: []string{"k===v"}, ForcedSets: []string{"f"},
		Scope: onyx.Scope{Sets: []string{"s"}, Personas: []int{3}, Projects: []int{7}, Nodes: []int{1},
			Documents: []sheaf.ID{"t:d"}},
		Created: Window(&one, nil), Updated: Window(nil, &two)}
	got := in.filtered().Filters
	check.That(t, reflect.DeepEqual(got, want), "got %+v, want %+v", got, want)
	if err := json.Unmarshal([]byte(`{"filters": {"projekt": 7}}`), &in); err == nil {
		t.Error("an unknown filter was accepted")
	}
}
