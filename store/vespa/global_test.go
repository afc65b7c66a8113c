package vespa

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/worked"
	"sheaf/rank"
)

// signals are the values that Vespa's content nodes return for a chunk.
type signals struct {
	ID            string
	TitleVector   float64  `json:"closeness_title"`
	ContentVector float64  `json:"closeness_content"`
	TitleWords    float64  `json:"bm25_title"`
	ContentWords  float64  `json:"bm25_content"`
	Boost         *float64 `json:"boost"`
	Updated       *int64   `json:"doc_updated_at"`
	ChunkBoost    *float64 `json:"aggregated_chunk_boost_factor"`
}

// ranked is a ranking by the judge.
type ranked struct {
	Order  []string
	Scores map[string]float64
}

// globally returns Vespa's ranking by the functions and the global phase of Sheaf's package.
func globally(t *testing.T, j *judge, dir string, now int64, inputs map[string]float64, docs []signals) ranked {
	t.Helper()
	profile := "hybrid_search_semantic_base_3"
	var hits []object
	for _, d := range docs {
		values := object{"attribute(boost)": d.Boost, "attribute(doc_updated_at)": d.Updated,
			"attribute(aggregated_chunk_boost_factor)": d.ChunkBoost, "now": now,
			"query(decay_factor)": inputs["decay_factor"], "closeness(field,embeddings)": d.ContentVector,
			"closeness(field,title_embedding)": d.TitleVector}
		features := object{"bm25(title)": d.TitleWords, "bm25(content)": d.ContentWords,
			"closeness(field,embeddings)": d.ContentVector, "closeness(field,title_embedding)": d.TitleVector}
		for _, name := range []string{"document_boost", "recency_bias", "aggregated_chunk_boost", "title_vector_score"} {
			var got struct{ Value float64 }
			j.accept(t, object{"do": "function", "dir": dir, "schema": "notes", "profile": profile, "name": name,
				"values": values}, &got)
			features[name] = got.Value
		}
		hits = append(hits, object{"id": d.ID, "first": 0.0, "features": features})
	}
	var got ranked
	j.accept(t, object{"do": "global", "dir": dir, "schema": "notes", "profile": profile, "inputs": inputs, "hits": hits},
		&got)
	return got
}

// TestGlobalPhaseWorkedNumbers checks that Vespa's code and Sheaf's package give the worked numbers.
func TestGlobalPhaseWorkedNumbers(t *testing.T) {
	j := classes(t)
	dir := written(t, testOptions(t))
	type in struct {
		Now         int64
		Alpha       float64
		Ratio       float64 `json:"title_content_ratio"`
		DecayFactor float64 `json:"decay_factor"`
		Docs        []signals
	}
	type want struct {
		Docs []struct {
			ID    string
			Score float64
		} `json:"per_doc"`
		Order []string
	}
	worked.Each(t, "onyx_vespa_global_phase.json", func(t *testing.T, in in, want want) {
		got := globally(t, j, dir, in.Now, map[string]float64{"alpha": in.Alpha, "title_content_ratio": in.Ratio,
			"decay_factor": in.DecayFactor}, in.Docs)
		for _, w := range want.Docs {
			s, ok := got.Scores[w.ID]
			check.That(t, ok && math.Abs(s-w.Score) <= 1e-9, "score of %s: %v, want %v", w.ID, s, w.Score)
		}
		check.List(t, got.Order, want.Order, "order")
	})
}

// facts answers the questions of rank stages about documents.
type facts map[sheaf.ID]signals

func (facts) Chunk(id sheaf.ID) (sheaf.Chunk, bool) { return sheaf.Chunk{ID: id, Doc: id}, true }
func (f facts) Document(id sheaf.ID) (sheaf.Document, bool) {
	d, ok := f[id]
	out := sheaf.Document{ID: id}
	for name, v := range map[string]*float64{"boost": d.Boost, "chunk_boost": d.ChunkBoost} {
		if v != nil {
			out.Properties = append(out.Properties, sheaf.Property{Name: name, Values: []sheaf.Value{sheaf.NumberValue(*v)}})
		}
	}
	return out, ok
}
func (facts) Node(id sheaf.ID) *sheaf.Node { return &sheaf.Node{ID: id, Doc: id} }
func (f facts) Outline(id sheaf.ID) *sheaf.Outline {
	d, _ := f.Document(id)
	var date sheaf.Dated
	if updated := f[id].Updated; updated != nil {
		date = sheaf.Dated{Time: time.Unix(*updated, 0), Source: sheaf.DateModified}
	}
	return sheaf.OutlineOf(&d, date)
}
func (facts) FolderSize(string, string) int { return 0 }
func (facts) Links(sheaf.ID) []sheaf.ID     { return nil }
func (facts) Backlinks(sheaf.ID) []sheaf.ID { return nil }

// plainly returns this program's ranking by the stages of the profile onyx-vespa.
func plainly(t *testing.T, now int64, alpha, ratio, decay float64, docs []signals) sheaf.Ranking {
	t.Helper()
	leg := func(f func(signals) float64, found func(signals) bool) sheaf.Ranking {
		var r sheaf.Ranking
		for _, d := range docs {
			if found(d) {
				r = append(r, sheaf.Hit{ID: sheaf.ID(d.ID), Score: f(d)})
			}
		}
		r.Sort()
		return r
	}
	always := func(signals) bool { return true }
	content := leg(func(d signals) float64 { return d.ContentVector }, always)
	title := rank.MaxLegs(rank.Leg{Hits: content},
		rank.Leg{Hits: leg(func(d signals) float64 { return d.TitleVector }, always)}).Hits
	out, err := rank.Scores{Norm: rank.NormLinear, Mean: rank.MeanSum}.Fuse([]rank.Leg{
		{Name: "content vector", Hits: content, Weight: alpha * (1 - ratio)},
		{Name: "title vector", Hits: title, Weight: alpha * ratio},
		// A branch by words finds only documents with a word of the query.
		{Name: "content words", Hits: leg(func(d signals) float64 { return d.ContentWords }, func(d signals) bool {
			return d.ContentWords > 0
		}), Weight: (1 - alpha) * (1 - ratio)},
		{Name: "title words", Hits: leg(func(d signals) float64 { return d.TitleWords }, func(d signals) bool {
			return d.TitleWords > 0
		}), Weight: (1 - alpha) * ratio},
	})
	must.Do(t, err)
	known := facts{}
	for _, d := range docs {
		known[sheaf.ID(d.ID)] = d
	}
	env := rank.Env{Facts: known, Now: time.Unix(now, 0)}
	for _, stage := range []rank.Stage{rank.PropertyBoost{Name: "boost", Curve: rank.Feedback},
		rank.Recency{Decay: decay, Floor: 0.75, Undated: rank.UndatedAge},
		rank.PropertyBoost{Name: "chunk_boost", Curve: rank.Plain}} {
		out = must.Get(stage.Apply(out, env))
	}
	return out
}

// TestGlobalPhaseEqualsPlain checks that Vespa's global phase and this program's stages give the
// same scores and order on random signals. Equal scores may have another order.
func TestGlobalPhaseEqualsPlain(t *testing.T) {
	j := classes(t)
	dir := written(t, testOptions(t))
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 4))
	const now = 1_767_225_600
	for range 12 {
		alpha, ratio, decay := float64(r.IntN(11))/10, float64(r.IntN(11))/10, 2*r.Float64()
		var docs []signals
		for i := range 2 + r.IntN(25) {
			d := signals{ID: fmt.Sprintf("%02d", i), TitleVector: r.Float64(), ContentVector: r.Float64()}
			if r.IntN(3) > 0 {
				d.ContentWords = 20 * r.Float64()
			}
			if r.IntN(2) > 0 {
				d.TitleWords = float64(r.IntN(3))
			}
			if r.IntN(2) > 0 {
				boost := float64(r.IntN(9) - 4)
				d.Boost = &boost
			}
			if r.IntN(3) > 0 {
				updated := now - int64(r.IntN(4*365*86_400)) + 86_400
				d.Updated = &updated
			}
			if r.IntN(3) > 0 {
				worth := 0.5 + r.Float64()
				d.ChunkBoost = &worth
			}
			docs = append(docs, d)
		}
		got := globally(t, j, dir, now, map[string]float64{"alpha": alpha, "title_content_ratio": ratio,
			"decay_factor": decay}, docs)
		want := plainly(t, now, alpha, ratio, decay, docs)
		must.Equal(t, len(got.Order), len(want), "seed %d: hits that Vespa ranks", seed)
		for i, h := range want {
			if s := got.Scores[string(h.ID)]; math.Abs(s-h.Score) > 1e-9 {
				t.Errorf("seed %d, alpha %v, ratio %v: score of %s: %v by Vespa, %v here", seed, alpha, ratio, h.ID, s, h.Score)
			}
			if other := got.Order[i]; other != string(h.ID) && math.Abs(got.Scores[other]-h.Score) > 1e-9 {
				t.Errorf("seed %d: place %d is %s by Vespa, %s here", seed, i+1, other, h.ID)
			}
		}
	}
}

// TestFirstPhaseWorkedNumbers checks that the first phases of Sheaf's package give the worked numbers.
func TestFirstPhaseWorkedNumbers(t *testing.T) {
	j := classes(t)
	dir := written(t, testOptions(t))
	type in struct {
		Profile string
		Ratio   float64 `json:"title_content_ratio"`
		Docs    []signals
	}
	worked.Each(t, "onyx_vespa_first_phase.json", func(t *testing.T, in in, want map[string]float64) {
		profile := in.Profile
		if profile != "admin_search" {
			profile = "hybrid_search_" + profile + "_base_3"
		}
		for _, d := range in.Docs {
			var got struct{ Value float64 }
			j.accept(t, object{"do": "function", "dir": dir, "schema": "notes", "profile": profile, "name": "firstphase",
				"values": object{"query(title_content_ratio)": in.Ratio,
					"bm25(title)": d.TitleWords, "bm25(content)": d.ContentWords, "closeness(field,embeddings)": d.ContentVector,
					"closeness(field,title_embedding)": d.TitleVector}}, &got)
			check.That(t, math.Abs(got.Value-want[d.ID]) <= 1e-9, "first phase of %s: %v, want %v", d.ID, got.Value, want[d.ID])
		}
	})
}

// TestBestField checks that the rank profile of words combines fields like the other stores.
func TestBestField(t *testing.T) {
	j := classes(t)
	s := unconnected(t)
	dir := written(t, s.o)
	r := rand.New(rand.NewPCG(3, 5))
	for range 20 {
		values, tie := object{}, []float64{1, 0.3, 0}[r.IntN(3)]
		values["query(tie)"] = tie
		sum, best := 0.0, 0.0
		for _, f := range wordFields() {
			weight, bm25 := float64(r.IntN(4)), 10*r.Float64()
			values["query(weight_"+f+")"], values["bm25("+f+")"] = weight, bm25
			sum, best = sum+weight*bm25, max(best, weight*bm25)
		}
		var got struct{ Value float64 }
		j.accept(t, object{"do": "function", "dir": dir, "schema": "notes", "profile": s.o.wordsProfile(),
			"name": "firstphase", "values": values}, &got)
		want := best + tie*(sum-best)
		check.That(t, math.Abs(got.Value-want) <= 1e-9, "%v: %v, want %v", values, got.Value, want)
	}
}
