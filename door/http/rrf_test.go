package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/worked"
	"sheaf/store"
)

// legs is a store whose vector and text searches return what a test sets. Documents and texts come
// from a real collection.
type legs struct {
	store.Backend
	vector, text       []string
	vectorErr, textErr error
	limits             chan int
	both               chan struct{} // if set, a search waits here for the other search
}

// Retrieve implements store.Backend.
func (l *legs) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	names, err := l.text, l.textErr
	if req.Vector != nil {
		names, err = l.vector, l.vectorErr
	}
	if l.limits != nil {
		l.limits <- req.Limit
	}
	if l.both != nil {
		select {
		case l.both <- struct{}{}:
		case <-l.both:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	ranking := sheaf.Ranking{}
	for i, n := range names {
		ranking = append(ranking, sheaf.Hit{ID: sheaf.ID("notes:" + n + ".md"), Score: 1 / float64(1+i)})
	}
	return ranking, err
}

// rrfAnswer has the fields of an answer in the contract.
type rrfAnswer struct {
	Success *bool `json:"success"`
	Data    struct {
		Results  []map[string]json.RawMessage `json:"results"`
		Method   string                       `json:"fusion_method"`
		K        int                          `json:"rrf_k"`
		Other    map[string]any               `json:"-"`
		Degraded bool                         `json:"degraded"`
		Warnings []string                     `json:"warnings"`
	} `json:"data"`
}

func startLegs(t *testing.T, l *legs, defaults httpdoor.RRF) *server {
	t.Helper()
	files := map[string]string{}
	for _, n := range append(append([]string{"extra"}, l.vector...), l.text...) {
		files[n+".md"] = "text of " + n + "\n"
	}
	f := collectiontest.Open(t, files, func(o *collection.Options) { l.Backend, o.Backend = o.Backend, l })
	return startOf(t, f, func(o *httpdoor.Options) { o.RRF = defaults })
}

const rrfPath = "/v1/rrf/search"

// TestRRFAnswer checks the fields and defaults of the answer, and ranks that are null.
func TestRRFAnswer(t *testing.T) {
	s := startLegs(t, &legs{vector: []string{"A", "B", "C"}, text: []string{"B", "D", "A"}}, httpdoor.RRF{})
	var a rrfAnswer
	s.get(t, "POST", rrfPath, `{"query": "search query text", "fusion_method": "rrf", "rrf_k": 60, "top_k": 10}`, &a)
	check.That(t, a.Success != nil && *a.Success && a.Data.Method == "rrf" && a.Data.K == 60 && !a.Data.Degraded, "%+v", a)
	want := []struct {
		id           string
		score        float64
		vector, text string
	}{
		{"B", 1.0/62 + 1.0/61, "2", "1"}, {"A", 1.0/61 + 1.0/63, "1", "3"}, {"D", 1.0 / 62, "null", "2"},
		{"C", 1.0 / 63, "3", "null"},
	}
	must.That(t, len(a.Data.Results) == len(want), "%d results", len(a.Data.Results))
	for i, w := range want {
		r := a.Data.Results[i]
		var score float64
		must.Do(t, json.Unmarshal(r["rrf_score"], &score))
		check.That(t, string(r["id"]) == `"notes:`+w.id+`.md"` && math.Abs(score-w.score) <= 1e-12 &&
			string(r["vector_rank"]) == w.vector && string(r["text_rank"]) == w.text, "result %d: %s, want %+v", i+1, r, w)
		check.That(t, string(r["content"]) == `"text of `+w.id+`\n"` && strings.HasPrefix(string(r["metadata"]), "{") &&
			len(r) == 6, "result %d: %s", i+1, r)
	}
	s.get(t, "POST", rrfPath, `{"query": "q"}`, &a)
	check.That(t, a.Data.Method == "rrf" && a.Data.K == 60, "defaults: %+v", a.Data)
	s.get(t, "POST", rrfPath, `{"query": "q", "top_k": 2}`, &a)
	check.That(t, len(a.Data.Results) == 2, "%d results for top_k 2", len(a.Data.Results))
	// D11: contributions below 0.001 still count, since they order the answer.
	s.get(t, "POST", rrfPath, `{"query": "q", "rrf_k": 1000}`, &a)
	check.That(t, len(a.Data.Results) == 4 && string(a.Data.Results[0]["id"]) == `"notes:B.md"`, "rrf_k 1000: %s",
		a.Data.Results)
}

// TestRRFWeightedSum checks D19: w x minmax(vector) + (1-w) x minmax(text), w 0.5, a missing leg 0.
func TestRRFWeightedSum(t *testing.T) {
	s := startLegs(t, &legs{vector: []string{"A", "B", "C"}, text: []string{"B", "D"}}, httpdoor.RRF{})
	var a rrfAnswer
	s.get(t, "POST", rrfPath, `{"query": "q", "fusion_method": "weighted_sum"}`, &a)
	// The scores of the legs are 1, 1/2, 1/3 and 1, 1/2.
	want := map[string]float64{"A": 0.5, "B": 0.5*(1.0/2-1.0/3)/(1-1.0/3) + 0.5, "C": 0, "D": 0}
	must.That(t, a.Data.Method == "weighted_sum" && len(a.Data.Results) == 4, "%+v", a.Data)
	for _, r := range a.Data.Results {
		var id string
		var score float64
		must.That(t, json.Unmarshal(r["id"], &id) == nil && json.Unmarshal(r["rrf_score"], &score) == nil, "%s", r)
		name := strings.TrimSuffix(strings.TrimPrefix(id, "notes:"), ".md")
		check.That(t, math.Abs(score-want[name]) <= 1e-9, "%s: %v, want %v", name, score, want[name])
	}
}

// TestRRFNothingFound checks D8: a search without results is no error.
func TestRRFNothingFound(t *testing.T) {
	s := startLegs(t, &legs{}, httpdoor.RRF{})
	check.Equal(t, strings.TrimSpace(s.want(t, 200, "POST", rrfPath, `{"query": "zzzz"}`)),
		`{"success":true,"data":{"results":[],"fusion_method":"rrf","rrf_k":60}}`, "nothing found")
}

// TestRRFFailures checks D9: when one search fails, the other answers; when both fail, the request fails.
func TestRRFFailures(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for name, l := range map[string]*legs{
		"vector": {vector: []string{"A"}, text: []string{"B"}, vectorErr: broken},
		"text":   {vector: []string{"A"}, text: []string{"B"}, textErr: broken},
	} {
		s := startLegs(t, l, httpdoor.RRF{})
		var a rrfAnswer
		s.get(t, "POST", rrfPath, `{"query": "q"}`, &a)
		check.That(t, a.Data.Degraded && len(a.Data.Warnings) == 1 && len(a.Data.Results) == 1 &&
			string(a.Data.Results[0][name+"_rank"]) == "null", "%s failed: %+v", name, a.Data)
		check.That(t, strings.Contains(s.log.String(), "on fire"), "%s failed and the log says %q", name, s.log)
	}
	s := startLegs(t, &legs{vectorErr: broken, textErr: broken}, httpdoor.RRF{})
	check.Equal(t, s.want(t, 500, "POST", rrfPath, `{"query": "q"}`), `{"error":"search failed"}`, "both failed")
	check.That(t, strings.Contains(s.log.String(), "on fire"), "both failed and the log says %q", s.log)
}

// TestRRFWithoutModel checks that only words are searched without a model, and that the answer says so.
func TestRRFWithoutModel(t *testing.T) {
	s := startOf(t, collectiontest.Open(t, notes, func(o *collection.Options) { o.Model, o.Embed = nil, nil }), nil)
	var a rrfAnswer
	s.get(t, "POST", rrfPath, `{"query": "undo"}`, &a)
	check.That(t, !a.Data.Degraded && len(a.Data.Results) != 0 && string(a.Data.Results[0]["vector_rank"]) == "null" &&
		len(a.Data.Warnings) == 1 && strings.Contains(a.Data.Warnings[0], "no embedding model is in use"), "%+v", a.Data)
}

// TestRRFSearchesTogether checks that both searches run at once, with the limits of D10.
func TestRRFSearchesTogether(t *testing.T) {
	l := &legs{vector: []string{"A"}, text: []string{"B"}, limits: make(chan int, 100), both: make(chan struct{})}
	s := startLegs(t, l, httpdoor.RRF{})
	var a rrfAnswer
	s.get(t, "POST", rrfPath, `{"query": "q", "top_k": 10}`, &a)
	must.That(t, len(l.limits) == 2 && !a.Data.Degraded && len(a.Data.Results) == 2,
		"one search waited for the other in vain: %d began, %+v", len(l.limits), a.Data)
	for topK, want := range map[int]int{1: 50, 10: 50, 11: 55, 20: 100, 200: 1000, 1000: 1000} {
		for len(l.limits) > 0 {
			<-l.limits
		}
		s.get(t, "POST", rrfPath, fmt.Sprintf(`{"query": "q", "top_k": %d}`, topK), &a)
		one, two := <-l.limits, <-l.limits
		check.That(t, one == want && two == want, "top_k %d: each search gave %d and %d, want %d", topK, one, two, want)
	}
}

// TestRRFConfiguration checks that the configured defaults apply unless a request overrides them.
func TestRRFConfiguration(t *testing.T) {
	s := startLegs(t, &legs{vector: []string{"A"}, text: []string{"B"}}, httpdoor.RRF{Method: "weighted_sum", K: 20})
	var a rrfAnswer
	s.get(t, "POST", rrfPath, `{"query": "q"}`, &a)
	check.That(t, a.Data.Method == "weighted_sum" && a.Data.K == 20, "%+v", a.Data)
	s.get(t, "POST", rrfPath, `{"query": "q", "fusion_method": "rrf", "rrf_k": 1}`, &a)
	check.That(t, a.Data.Method == "rrf" && a.Data.K == 1, "%+v", a.Data)
	for want, d := range map[string]httpdoor.RRF{"rrf_k must be at least 1": {K: -1},
		"rrf_k must not exceed 1000": {K: 1001}, "fusion_method must be 'weighted_sum' or 'rrf'": {Method: "x"}} {
		check.Fails(t, must.Err(httpdoor.New(httpdoor.Options{Collections: []*collection.Collection{s.fixture.Collection},
			Open: access.Unrestricted(), RRF: d})), sheaf.ErrInvalid, want, "%+v", d)
	}
}

// TestRRFVectors runs the shared cases of the contract, if they exist.
func TestRRFVectors(t *testing.T) {
	type problem struct {
		Status int
		Error  string
	}
	s := startLegs(t, &legs{vector: []string{"A"}, text: []string{"B"}}, httpdoor.RRF{})
	for _, c := range worked.Cases[map[string]any, problem](t, "rrf_validation.json") {
		delete(c.Input, "_stub")
		body := must.Get(json.Marshal(c.Input))
		res, got := s.ask(t, "POST", rrfPath, string(body))
		var answer struct {
			Error string `json:"error"`
		}
		err := json.Unmarshal(got, &answer)
		check.That(t, err == nil && res.StatusCode == c.Expected.Status && reflect.DeepEqual(answer.Error, c.Expected.Error),
			"%s: %d %s, want %+v", c.Name, res.StatusCode, got, c.Expected)
	}
	testFusionVectors(t)
}

// testFusionVectors runs the shared rankings through the route.
func testFusionVectors(t *testing.T) {
	type in struct {
		Vector []string `json:"vector_results"`
		Text   []string `json:"text_results"`
		K      int      `json:"rrf_k"`
		TopK   int      `json:"top_k"`
	}
	type fused struct {
		ID     string  `json:"id"`
		Score  float64 `json:"rrf_score"`
		Vector *int    `json:"vector_rank"`
		Text   *int    `json:"text_rank"`
	}
	for _, c := range worked.Cases[in, []fused](t, "rrf_fusion.json") {
		s := startLegs(t, &legs{vector: unique(c.Input.Vector), text: unique(c.Input.Text)}, httpdoor.RRF{})
		var a struct {
			Data httpdoor.RRFData `json:"data"`
		}
		s.get(t, "POST", rrfPath, fmt.Sprintf(`{"query": "q", "rrf_k": %d, "top_k": %d}`, c.Input.K, c.Input.TopK), &a)
		if len(a.Data.Results) != len(c.Expected) {
			t.Errorf("%s: %d results, want %d", c.Name, len(a.Data.Results), len(c.Expected))
			continue
		}
		for i, w := range c.Expected {
			r := a.Data.Results[i]
			check.That(t, string(r.ID) == "notes:"+w.ID+".md" && math.Abs(r.Score-w.Score) <= 1e-12 &&
				reflect.DeepEqual(r.VectorRank, w.Vector) && reflect.DeepEqual(r.TextRank, w.Text),
				"%s: result %d is %+v, want %+v", c.Name, i+1, r, w)
		}
	}
}

// unique keeps the first occurrence of each name, since a store never returns duplicates.
func unique(names []string) []string {
	var out []string
	for _, n := range names {
		if !strings.Contains("\x00"+strings.Join(out, "\x00")+"\x00", "\x00"+n+"\x00") {
			out = append(out, n)
		}
	}
	return out
}
