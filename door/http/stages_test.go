package http_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf/collection"
	httpdoor "sheaf/door/http"
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
				if err != nil {
					t.Fatal(err)
				}
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
	for weights, status := range map[string]int{`[2, 1]`: 200, `[0, 1]`: 200, `[1]`: 409, `[0, 0]`: 409, `[-1, 1]`: 400,
		`["1", 1]`: 400, `1`: 400} {
		if res, body := s.ask(t, "POST", "/v1/stages/fuse", `{"rankings": [[{"id": "a", "score": 2}], [{"id": "b", `+
			`"score": 1}]], "settings": {"method": "rrf"}, "weights": `+weights+`}`); res.StatusCode != status ||
			status == 200 == strings.Contains(string(body), "#/weights") {
			t.Errorf("weights %s: %d %s", weights, res.StatusCode, body)
		}
	}
	for unit, status := range map[string]int{`true`: 200, `"true"`: 200, `false`: 200, `1`: 422, `null`: 400} {
		if res, body := s.ask(t, "POST", "/v1/stages/fuse", `{"rankings": [[{"id": "a", "score": 2}]], "settings": `+
			`{"method": "rrf", "unit": `+unit+`}}`); res.StatusCode != status ||
			strings.Contains(string(body), `"score":1`) != strings.Contains(unit, "true") {
			t.Errorf("unit %s: %d %s", unit, res.StatusCode, body)
		}
	}
	if p := s.wrong(t, 422, "POST", "/v1/stages/top", `{"rankings": [[{"id": "a", "score": 2}]], "settings": {"n": 1}, `+
		`"weights": [1]}`); len(p.Errors) != 1 || p.Errors[0].Pointer != "#/weights" {
		t.Errorf("weights of one ranking: %+v", p)
	}
	if p := s.wrong(t, 400, "POST", "/v1/stages/top", `{"rankings": [[{"score": 1}]]}`); len(p.Errors) != 1 ||
		p.Errors[0].Pointer != "#/rankings/0/0/id" {
		t.Errorf("a hit without an identifier: %+v", p)
	}
	if res, body := s.ask(t, "POST", "/v1/stages/top", `{"rankings": [[{"id": "a", "score": 2}, {"id": "b", "score": `+
		`1}]], "settings": {"n": 1, "when": 0}}`); res.StatusCode != 200 || !strings.Contains(string(body), `"id":"b"`) {
		t.Errorf("a stage that is left out: %d %s", res.StatusCode, body)
	}
	if res, body := s.ask(t, "POST", "/v1/stages/rerank", `{"rankings": [[]]}`); res.StatusCode != 404 {
		t.Errorf("a stage that calls a model: %d %s", res.StatusCode, fmt.Sprintf("%.200s", body))
	}
}

// TestExtremeScores checks that stages can compute with the largest scores that the server accepts.
// An error about larger scores points at them.
func TestExtremeScores(t *testing.T) {
	s := start(t, notes, nil)
	ranking := func(score string) string {
		return fmt.Sprintf(`[{"id": "t:a.md", "score": %s}, {"id": "t:b.md", "score": 1e-300}, {"id": "t:c.md", `+
			`"score": -%[1]s}]`, score)
	}
	for _, scale := range []string{"minmax", "tanh", "sigmoid", "percentile", "max", "zscore", "l2"} {
		body := fmt.Sprintf(`{"settings": {"scale": %q}, "rankings": [%s]}`, scale, ranking("1e100"))
		if res, answer := s.ask(t, "POST", "/v1/stages/normalize", body); res.StatusCode != 200 {
			t.Errorf("%s: %d %s", scale, res.StatusCode, answer)
		}
	}
	for _, norm := range []string{"none", "minmax", "linear", "zscore", "max", "l2", "minmax_opensearch",
		"zscore_opensearch"} {
		body := fmt.Sprintf(`{"settings": {"method": "scores", "norm": %q, "mean": "sum"}, "rankings": [%s, %[2]s]}`, norm,
			ranking("1e100"))
		if res, answer := s.ask(t, "POST", "/v1/stages/fuse", body); res.StatusCode != 200 {
			t.Errorf("fuse by %s: %d %s", norm, res.StatusCode, answer)
		}
	}
	res, answer := s.ask(t, "POST", "/v1/stages/fuse", `{"settings": {"method": "scores", "norm": "none", "mean": `+
		`"sum"}, "rankings": [`+ranking("1e100")+`, `+ranking("1e100")+`]}`)
	if res.StatusCode != 200 || !strings.Contains(string(answer), `"score":1e+100`) ||
		strings.Contains(string(answer), `2e+100`) {
		t.Errorf("a sum above what an answer has: %d %s", res.StatusCode, answer)
	}
	res, answer = s.ask(t, "POST", "/v1/stages/normalize", `{"rankings": [`+ranking("1e308")+`]}`)
	if res.StatusCode != 400 || !strings.Contains(string(answer), `"pointer":"#/rankings/0/0/score"`) {
		t.Errorf("too large: %d %s", res.StatusCode, answer)
	}
}
