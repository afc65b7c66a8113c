package rank_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/worked"
	"sheaf/rank"
)

// These tests run the worked numbers of the reference systems, which are not in the repository. The
// other tests have the essential numbers.

// vector is one case: an input and the output of the reference system.
type vector = worked.Case[json.RawMessage, json.RawMessage]

// vectors returns the cases of a file.
func vectors(t *testing.T, file string) []vector {
	t.Helper()
	return worked.Cases[json.RawMessage, json.RawMessage](t, file)
}

// each runs f on every case of a file, with decoded input and expectation.
func each[In, Want any](t *testing.T, file string, f func(t *testing.T, v vector, in In, want Want)) {
	for _, v := range vectors(t, file) {
		t.Run(v.Name, func(t *testing.T) {
			var in In
			var want Want
			must.Do(t, json.Unmarshal(v.Input, &in))
			must.Do(t, json.Unmarshal(v.Expected, &want))
			f(t, v, in, want)
		})
	}
}

// configure overwrites the defaults in config with the settings of a case.
func configure(t *testing.T, settings json.RawMessage, config any) {
	t.Helper()
	if err := json.Unmarshal(settings, config); err != nil && len(settings) > 0 {
		t.Fatal(err)
	}
}

// listed returns a ranking of ids with falling scores.
func listed(names []string) sheaf.Ranking {
	r := sheaf.Ranking{}
	for i, n := range names {
		r = append(r, hit(sheaf.ID(n), float64(len(names)-i)))
	}
	return r
}

func scoresOf(r sheaf.Ranking) map[string]float64 {
	out := map[string]float64{}
	for _, h := range r {
		out[string(h.ID)] = h.Score
	}
	return out
}

func nearScores(t *testing.T, got, want map[string]float64) {
	t.Helper()
	must.Equal(t, len(got), len(want), "number of scores %v", got)
	for id, w := range want {
		g, ok := got[id]
		check.That(t, ok && near(g, w), "%s: got %v, want %v", id, g, w)
	}
}

func nearList(t *testing.T, got sheaf.Ranking, want []float64) {
	t.Helper()
	must.Equal(t, len(got), len(want), "number of scores")
	for i := range want {
		check.That(t, near(got[i].Score, want[i]), "score %d: got %v, want %v", i, got[i].Score, want[i])
	}
}

func TestVectorsRRF(t *testing.T) {
	type in struct {
		Vector []string `json:"vector_results"`
		Text   []string `json:"text_results"`
		K      int      `json:"rrf_k"`
		Top    int      `json:"top_k"`
	}
	type want struct {
		ID     string
		Score  float64 `json:"rrf_score"`
		Vector *int    `json:"vector_rank"`
		Text   *int    `json:"text_rank"`
	}
	each(t, "rrf_fusion.json", func(t *testing.T, _ vector, in in, want []want) {
		out := must.Get(rank.RRF{K: in.K}.Fuse([]rank.Leg{{Name: "vector", Hits: listed(in.Vector), Weight: 1},
			{Name: "text", Hits: listed(in.Text), Weight: 1}}))
		out = apply(t, rank.Top{N: in.Top}, out, rank.Env{})
		must.Equal(t, len(out), len(want), "number of results %v", ids(out))
		for i, w := range want {
			h := out[i]
			rankIs := func(leg int, r *int) bool {
				return r == nil && h.Legs[leg].Rank == 0 || r != nil && h.Legs[leg].Rank == *r
			}
			check.That(t, string(h.ID) == w.ID && near(h.Score, w.Score) && rankIs(0, w.Vector) && rankIs(1, w.Text),
				"rank %d: got %+v, want %+v", i+1, h, w)
		}
	})
}

func TestVectorsWeightedRRF(t *testing.T) {
	type in struct {
		Lists   [][]string
		Weights []float64
		K       int
	}
	type want struct {
		Scores map[string]float64
		Order  []sheaf.ID
	}
	for _, file := range []string{"onyx_weighted_rrf.json", "rrf_variants.json"} {
		each(t, file, func(t *testing.T, v vector, in in, want want) {
			var legs []rank.Leg
			for i, list := range in.Lists {
				legs = append(legs, rank.Leg{Name: fmt.Sprint("query ", i), Hits: listed(list), Weight: in.Weights[i]})
			}
			out := must.Get(rank.RRF{K: in.K, Repeats: strings.Contains(v.Name, "accumulates")}.Fuse(legs))
			nearScores(t, scoresOf(out), want.Scores)
			equal(t, "order", ids(out), want.Order)
		})
	}
}

func TestVectorsSonarRRF(t *testing.T) {
	type in struct {
		Embedding, BM25             []string
		EmbeddingWeight, BM25Weight float64
		K                           int
	}
	for _, v := range vectors(t, "sonar_rrf.json") {
		t.Run(v.Name, func(t *testing.T) {
			var in in
			must.Do(t, json.Unmarshal(v.Input, &in))
			legs := []rank.Leg{{Name: "embedding", Hits: listed(in.Embedding), Weight: in.EmbeddingWeight},
				{Name: "bm25", Hits: listed(in.BM25), Weight: in.BM25Weight}}
			out := must.Get(rank.RRF{K: in.K, Unit: v.Op == "fuse_normalized_order"}.Fuse(legs))
			if v.Op == "rrf_scores" {
				var want map[string]float64
				must.Do(t, json.Unmarshal(v.Expected, &want))
				nearScores(t, scoresOf(out), want)
				return
			}
			var want struct {
				Order  []sheaf.ID
				Scores []float64
				Source []string `json:"chosen_source"`
			}
			must.Do(t, json.Unmarshal(v.Expected, &want))
			equal(t, "order", ids(out), want.Order)
			nearList(t, out, want.Scores)
			for i, h := range out {
				source := "bm25"
				if h.Legs[0].Rank > 0 {
					source = "embedding"
				}
				check.Equal(t, source, want.Source[i], "%s: found by", h.ID)
			}
		})
	}
}

func TestVectorsSonarAggregation(t *testing.T) {
	type in struct {
		Scores map[string][]float64
		Params json.RawMessage
	}
	each(t, "sonar_aggregation.json", func(t *testing.T, _ vector, in in, want map[string]float64) {
		methods := map[string]rank.Method{"max_p": rank.MaxP, "top_m_sum": rank.TopMSum, "top_m_avg": rank.TopMAvg,
			"rrf_per_doc": rank.RRFPerDoc, "weighted_top_l_sum": rank.DecayedSum}
		params := struct {
			Method     string
			M, L, RRFK int
			Decay      float64
		}{"", 3, 3, 0, 0.95}
		configure(t, in.Params, &params)
		method, ok := methods[params.Method]
		must.That(t, ok, "unknown method %q", params.Method)
		s := rank.Scoring{Method: method, M: params.M, Decay: params.Decay, K: params.RRFK}
		if method == rank.DecayedSum {
			s.M = params.L
		}
		l, r := newShelf(), sheaf.Ranking{}
		for doc, scores := range in.Scores {
			var outline []string
			for i, score := range scores {
				name := fmt.Sprint("chunk", i)
				outline = append(outline, name)
				r = append(r, hit(sheaf.ChunkID(sheaf.ID("t:"+doc), name), score))
			}
			l.add(sheaf.ID("t:"+doc), outline...)
		}
		r.Sort()
		out := apply(t, rank.Aggregate{To: rank.ToDocument, Scoring: s}, r, rank.Env{Facts: l})
		got := map[string]float64{}
		for id, score := range scoresOf(out) {
			got[strings.TrimPrefix(id, "t:")] = score
		}
		nearScores(t, got, want)
	})
}

func TestVectorsRootSumSquare(t *testing.T) {
	each(t, "ra_aggregate_scores.json", func(t *testing.T, v vector, in []float64, want struct{ RSS, Max float64 }) {
		sort.Sort(sort.Reverse(sort.Float64Slice(in)))
		rss, best := rank.Scoring{Method: rank.RSS}.Score(in), rank.Scoring{Method: rank.MaxP}.Score(in)
		if d := rss - want.RSS; d > v.Tolerance || d < -v.Tolerance || best != want.Max {
			t.Errorf("got %v and %v, want %v and %v", rss, best, want.RSS, want.Max)
		}
	})
}

func TestVectorsElbow(t *testing.T) {
	type in struct {
		Scores []float64
		Ratio  float64 `json:"cutoff_ratio"`
		Max    int     `json:"max_results"`
	}
	each(t, "ra_elbow.json", func(t *testing.T, _ vector, in in, want struct{ Kept, Index int }) {
		r := sheaf.Ranking{}
		for i, s := range in.Scores {
			r = append(r, hit(sheaf.ID(fmt.Sprint(i)), s))
		}
		e := rank.Elbow{Ratio: in.Ratio, Max: in.Max}
		if got := len(apply(t, e, r, rank.Env{})); got != want.Kept || e.Find(r) != want.Index {
			t.Errorf("kept %d, elbow at %d, want %+v", got, e.Find(r), want)
		}
	})
}

func TestVectorsNormalizeLinear(t *testing.T) {
	each(t, "onyx_normalize_linear.json", func(t *testing.T, _ vector, in struct{ Scores []float64 }, want []float64) {
		out := fuseOne(t, rank.NormLinear, in.Scores)
		nearList(t, out, want)
	})
}

// fuseOne normalizes scores as the only leg of a fusion, and returns them in the given order.
func fuseOne(t *testing.T, norm rank.Norm, scores []float64) sheaf.Ranking {
	t.Helper()
	r := sheaf.Ranking{}
	for i, s := range scores {
		r = append(r, hit(sheaf.ID(fmt.Sprintf("%03d", i)), s))
	}
	out := must.Get(rank.Scores{Norm: norm, Mean: rank.MeanSum}.Fuse([]rank.Leg{{Name: "leg", Hits: r, Weight: 1}}))
	slices.SortFunc(out, func(a, b sheaf.Hit) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

func TestVectorsOpenSearchNormalization(t *testing.T) {
	type in struct {
		Technique  string
		Scores     []float64
		Weights    []float64
		Subqueries []map[string]float64
	}
	norms := map[string]rank.Norm{"min_max": rank.NormMinMaxOpenSearch, "z_score": rank.NormZScoreOpenSearch}
	for _, v := range vectors(t, "onyx_opensearch_normalization.json") {
		t.Run(v.Name, func(t *testing.T) {
			var in in
			must.Do(t, json.Unmarshal(v.Input, &in))
			if in.Subqueries == nil {
				var want []float64
				must.Do(t, json.Unmarshal(v.Expected, &want))
				nearList(t, fuseOne(t, norms[in.Technique], in.Scores), want)
				return
			}
			var want struct {
				Scores map[string]float64
				Order  []sheaf.ID `json:"order_by_score_then_id"`
			}
			must.Do(t, json.Unmarshal(v.Expected, &want))
			var legs []rank.Leg
			for i, q := range in.Subqueries {
				r := sheaf.Ranking{}
				for id, s := range q {
					r = append(r, hit(sheaf.ID(id), s))
				}
				r.Sort()
				legs = append(legs, rank.Leg{Name: fmt.Sprint("subquery ", i), Hits: r, Weight: in.Weights[i]})
			}
			out := must.Get(rank.Scores{Norm: norms[in.Technique], Mean: rank.MeanArithmetic}.Fuse(legs))
			nearScores(t, scoresOf(out), want.Scores)
			// The reference breaks ties by ID, and Sheaf first by the best single rank. Sort ties
			// as the reference does.
			slices.SortStableFunc(out, func(a, b sheaf.Hit) int {
				if near(a.Score, b.Score) {
					return strings.Compare(string(a.ID), string(b.ID))
				}
				return 0
			})
			equal(t, "order", ids(out), want.Order)
		})
	}
}
