package http_test

import (
	"encoding/json"
	"slices"
	"testing"

	"sheaf/collection"
	httpdoor "sheaf/door/http"
	"sheaf/internal/must"
)

// TestStages checks that every stage is listed with its settings, and accepts the bounds of their values.
func TestStages(t *testing.T) {
	s := start(t, notes, nil)
	for _, name := range collection.Stages() {
		for _, o := range collection.StageOptions(name) {
			if !o.Number() {
				continue
			}
			for _, x := range []float64{o.Min, o.Max} {
				set := map[string]any{o.Name: x}
				for _, other := range collection.StageOptions(name) {
					switch {
					case other.Default != "" || other.Name == o.Name:
					case other.Number():
						set[other.Name] = max(1, other.Min)
					case len(other.OneOf) > 0:
						set[other.Name] = other.OneOf[0]
					default:
						set[other.Name] = "tag"
					}
				}
				body, err := json.Marshal(map[string]any{"rankings": [][]collection.Scored{{{ID: "notes:git.md", Score: 1}}},
					"settings": set})
				must.Do(t, err)
				// each setting of a pair bounds the other
				pair := slices.Contains([]string{"normalize.low", "normalize.high", "adaptive.floor", "adaptive.ceiling"}, name+"."+
					o.Name)
				if res, answer := s.ask(t, "POST", "/v1/stages/"+name, string(body)); res.StatusCode != 200 &&
					!(pair && res.StatusCode == 409) {
					t.Errorf("%s %s: %d %s", name, body, res.StatusCode, answer)
				}
			}
		}
	}
	var list httpdoor.StageList
	s.get(t, "GET", "/v1/stages", "", &list)
	for _, name := range collection.Stages() {
		if len(list.Settings[name]) != len(collection.StageOptions(name)) {
			t.Errorf("%s has the settings %v", name, list.Settings[name])
		}
	}
}
