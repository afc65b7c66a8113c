package http_test

import (
	"fmt"
	"strings"
	"testing"
)

// The largest scores that a stage takes are no larger than what it can work with, and
// larger ones are refused with their place.
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
