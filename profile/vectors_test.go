package profile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/worked"
	"sheaf/profile"
	"sheaf/rank"
)

func builtin(t *testing.T, name string) *profile.Profile {
	t.Helper()
	return must.Get(profile.Load(name, profile.Builtin))
}

func TestVectorsElasticParameters(t *testing.T) {
	type in struct {
		QueryType string  `json:"query_type"`
		Limit     int     `json:"num_to_retrieve"`
		Ratio     float64 `json:"title_content_ratio"`
	}
	type want struct {
		K          int     `json:"rank_constant"`
		Window     int     `json:"rank_window_size"`
		Candidates int     `json:"num_candidates"`
		Title      float64 `json:"title_boost"`
		Body       float64 `json:"content_boost"`
		TieBreaker float64 `json:"tie_breaker"`
	}
	p := builtin(t, "onyx-elastic")
	worked.Each(t, "onyx_es_parameters.json", func(t *testing.T, in in, want want) {
		set := map[string]string{"keyword": fmt.Sprint(in.QueryType == "keyword"),
			"title_content_ratio": fmt.Sprint(in.Ratio)}
		plan := must.Get(p.Plan(in.Limit, set))
		words, meaning := plan.Main.Branches[0], plan.Main.Branches[1]
		if plan.Main.Fusion != (rank.RRF{K: want.K}) || words.Limit != want.Window || meaning.Limit != want.Window ||
			meaning.Vector.Candidates != want.Candidates || words.Text.TieBreaker != want.TieBreaker ||
			words.Text.Combine != "best" ||
			words.Text.Fields[0] != (profile.Field{Name: "title", Weight: want.Title}) ||
			words.Text.Fields[1] != (profile.Field{Name: "body", Weight: want.Body}) {
			t.Errorf("got %+v %+v %+v, want %+v", words, *words.Text, *meaning.Vector, want)
		}
	})
}

func TestCandidateCap(t *testing.T) {
	for limit, want := range map[int]int{1: 50, 10: 50, 11: 55, 100: 500, 200: 1000, 1000: 1000} {
		plan := must.Get(builtin(t, "rrf").Plan(limit, nil))
		for _, b := range plan.Main.Branches {
			check.Equal(t, b.Limit, want, "%d results: limit of %s", limit, b.Name)
		}
	}
}

// TestVectorsCandidateCap checks that each branch's window is 5 times the limit, within 50..1000 (decision D10). The
// two rules of the reference contradict each other.
func TestVectorsCandidateCap(t *testing.T) {
	p := builtin(t, "rrf")
	worked.Each(t, "rrf_candidate_cap.json", func(t *testing.T, in struct {
		TopK int `json:"top_k"`
	}, want struct {
		Cap int `json:"cap_top_k_times_5"`
	}) {
		plan := must.Get(p.Plan(in.TopK, nil))
		for _, b := range plan.Main.Branches {
			check.Equal(t, b.Limit, min(max(want.Cap, 50), 1000), "limit of %s, %d within 50..1000", b.Name, want.Cap)
		}
	})
}

func TestVectorsRRFValidation(t *testing.T) {
	type in struct {
		Method *string  `json:"fusion_method"`
		K      *float64 `json:"rrf_k"`
		TopK   int      `json:"top_k"`
	}
	p := builtin(t, "rrf")
	worked.Each(t, "rrf_validation.json", func(t *testing.T, in in, want struct {
		Status int
		Error  string
	}) {
		set := map[string]string{}
		if in.Method != nil {
			set["method"] = *in.Method
		}
		if in.K != nil {
			set["rrf_k"] = fmt.Sprint(*in.K)
		}
		_, err := p.Plan(in.TopK, set)
		must.Equal(t, err == nil, want.Status == 200, "%v, status %d", err, want.Status)
		name, _, _ := strings.Cut(want.Error, " ")
		check.That(t, err == nil || errors.Is(err, sheaf.ErrInvalid) &&
			strings.Contains(err.Error(), strings.TrimPrefix(name, "fusion_")), "got %v, want something about %s", err, name)
	})
}
