package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
)

func TestAggregate(t *testing.T) {
	l := guide()
	in := ranking(hit(at("A1"), 0.8), hit("t:lone.md#Only", 0.75), hit(at("A2"), 0.6), hit(at(""), 0.5), hit(at("B"), 0.4))
	tests := []struct {
		name string
		a    rank.Aggregate
		want string
	}{
		{"max", rank.Aggregate{},
			"t:guide.md 0.8 [t:guide.md#A1 t:guide.md#A2 t:guide.md#B]\nt:lone.md 0.75 [t:lone.md#Only]"},
		{"decayed sum", rank.Aggregate{Scoring: rank.Scoring{Method: rank.DecayedSum, M: 3, Decay: 0.95}},
			"t:guide.md 1.821 [t:guide.md#A1 t:guide.md#A2 t:guide.md#B]\nt:lone.md 0.75 [t:lone.md#Only]"},
		{"to the parent", rank.Aggregate{To: rank.ToParent, Scoring: rank.Scoring{Method: rank.TopMSum, M: 3}},
			"t:guide.md#A 1.4 [t:guide.md#A1 t:guide.md#A2]\nt:guide.md 0.9 [t:guide.md#B]\nt:lone.md 0.75 [t:lone.md#Only]"},
		{"mean", rank.Aggregate{Scoring: rank.Scoring{Method: rank.TopMAvg, M: 3}},
			"t:lone.md 0.75 [t:lone.md#Only]\nt:guide.md 0.6333 [t:guide.md#A1 t:guide.md#A2 t:guide.md#B]"},
		{"reciprocal ranks", rank.Aggregate{Scoring: rank.Scoring{Method: rank.RRFPerDoc, K: 60}},
			"t:guide.md 0.06402 [t:guide.md#A1 t:guide.md#A2 t:guide.md#B]\nt:lone.md 0.01639 [t:lone.md#Only]"},
		{"root of the sum of squares", rank.Aggregate{Scoring: rank.Scoring{Method: rank.RSS}},
			"t:guide.md 1.187 [t:guide.md#A1 t:guide.md#A2 t:guide.md#B]\nt:lone.md 0.75 [t:lone.md#Only]"},
	}
	for _, test := range tests {
		out := apply(t, test.a, withReasons(in), rank.Env{Facts: l})
		equal(t, test.name, lines(out), test.want)
		checkReasons(t, test.name, out)
	}
}

// TestAggregateReasons checks that explanations have only scores that count, and their number.
func TestAggregateReasons(t *testing.T) {
	in := withReasons(ranking(hit(at("A1"), 0.8), hit(at("A2"), 0.6), hit(at("A3"), 0.5)))
	for method, want := range map[rank.Method]string{rank.MaxP: "document from 3 matches",
		rank.TopMSum: "document from 3 matches, the best 2",
		rank.TopMAvg: "mean, document from 3 matches, the best 2", rank.DecayedSum: "document from 3 matches, the best 2"} {
		out := apply(t, rank.Aggregate{Scoring: rank.Scoring{Method: method, M: 2, Decay: 0.5}}, in, rank.Env{Facts: guide()})
		check.Equal(t, out[0].Explanation.Label, want, "%d", method)
	}
}

// TestAggregateLegs checks that an aggregate has the best rank of any candidate in each leg.
func TestAggregateLegs(t *testing.T) {
	a, b := hit(at("A1"), 2), hit(at("B"), 1)
	a.Legs, b.Legs = []sheaf.Leg{{Rank: 3, Score: 7}, {}}, []sheaf.Leg{{Rank: 5, Score: 5}, {Rank: 1, Score: 9}}
	out := apply(t, rank.Aggregate{}, ranking(a, b), rank.Env{Facts: guide()})
	equal(t, "legs", out[0].Legs, []sheaf.Leg{{Rank: 3, Score: 7}, {Rank: 1, Score: 9}})
}

// TestAggregateTies checks answers of equal score: best rank in a leg, then first hit in the ranking, then ID.
func TestAggregateTies(t *testing.T) {
	l := newShelf()
	ranked := func(doc sheaf.ID, score float64, ranks ...int) sheaf.Hit {
		d := l.docs[doc]
		if d == nil {
			d = l.add(doc, "0", "1")
		}
		h := hit(d.Chunks[1].ID, score)
		if len(ranks) == 1 && ranks[0] < 0 {
			h.ID, ranks = d.Chunks[2].ID, nil
		}
		for _, r := range ranks {
			h.Legs = append(h.Legs, sheaf.Leg{Rank: r})
		}
		return h
	}
	in := ranking(ranked("t:a", 5, 3, 7), ranked("t:b", 5, 9, 2), ranked("t:z", 5), ranked("t:y", 4), ranked("t:y", 1, -1),
		ranked("t:x", 3), ranked("t:x", 2, -1))
	out := apply(t, rank.Aggregate{Scoring: rank.Scoring{Method: rank.TopMSum, M: 2}}, in, rank.Env{Facts: l})
	equal(t, "ties", ids(out), []sheaf.ID{"t:b", "t:a", "t:z", "t:y", "t:x"})
}

// TestFolderBoost checks the cap, which default minima always reach, and the formula without a cap.
func TestFolderBoost(t *testing.T) {
	tests := []struct {
		least, found, total int
		limit, want         float64
	}{
		{2, 3, 5, 0, 1 + (2-1)*math.Sqrt(0.6)},
		{2, 3, 5, 1.15, 1.15},
		{2, 2, 5, 1.15, 1.15},
		{2, 3, 10, 1.15, 1},
		{2, 1, 1, 1.15, 1},
		{2, 2, 2, 0, 1 + (math.Log2(3) - 1)},
		{3, 2, 2, 1.15, 1},
		{3, 3, 3, 1.15, 1.15},
	}
	for _, test := range tests {
		l, in := newShelf(), sheaf.Ranking{}
		for i := range test.total {
			d := l.add(sheaf.ID(fmt.Sprintf("t:x/%d.md", i)), "A")
			if i < test.found {
				in = append(in, hit(d.ID, 1), hit(d.Chunks[1].ID, 1)) // two hits of one document count once
			}
		}
		in.Sort()
		out := apply(t, rank.FolderBoost{MinDocuments: test.least, MinShare: 0.4, Max: test.limit}, withReasons(in),
			rank.Env{Facts: l})
		checkReasons(t, "folder", out)
		check.That(t, near(out[0].Score, test.want), "%+v: got %v", test, out[0].Score)
	}
	// A folder has at least as many documents as were found in it.
	l := newShelf()
	in := ranking(hit(l.add("t:x/a.md").ID, 1), hit(l.add("t:x/b.md").ID, 1))
	out := apply(t, rank.FolderBoost{MinDocuments: 2, MinShare: 0.4}, in, rank.Env{Facts: smallFolders{l}})
	want := math.Log2(3)
	check.That(t, near(out[0].Score, want), "got %v, want %v", out[0].Score, want)
}

// smallFolders reports one document for every folder.
type smallFolders struct{ *shelf }

func (smallFolders) FolderSize(string, string) int { return 1 }

// TestGraphBoost checks that tags of the frontmatter count in any case.
func TestGraphBoost(t *testing.T) {
	l := newShelf()
	l.add("t:a.md").Tags = []string{"Go"}
	l.add("t:b.md").Tags = []string{"go"}
	l.add("t:c.md")
	l.link("t:c.md", "t:a.md")
	stage := rank.GraphBoost{Candidates: 10, Backlink: 1, CoCitation: 0.5, SharedTag: 0.3, Strength: 0.1, Max: 1.15}
	out := apply(t, stage, withReasons(ranking(hit("t:b.md", 1), hit("t:c.md", 1), hit("t:a.md", 1))), rank.Env{Facts: l})
	checkReasons(t, "graph", out)
	nearScores(t, scoresOf(out), map[string]float64{"t:a.md": 1 + 0.1*math.Log(2.3), "t:b.md": 1 + 0.1*math.Log(1.3),
		"t:c.md": 1})
	stage.Strength = 5
	nearScores(t, scoresOf(apply(t, stage, out, rank.Env{Facts: l})),
		map[string]float64{"t:a.md": 1.15 * (1 + 0.1*math.Log(2.3)), "t:b.md": 1.15 * (1 + 0.1*math.Log(1.3)), "t:c.md": 1})
}

func TestRecency(t *testing.T) {
	l := newShelf()
	ages := map[string]int{"new": 0, "future": -30, "half": 182, "old": 3650}
	in := ranking(hit("t:undated", 1))
	l.add("t:undated")
	for name, days := range ages {
		id := sheaf.ID("t:" + name)
		l.add(id)
		l.dates[id] = now.AddDate(0, 0, -days)
		in = append(in, hit(id, 1))
	}
	in.Sort()
	env := rank.Env{Facts: l, Now: now}
	out := apply(t, rank.Recency{Decay: 0.5, Floor: 0.75, Undated: rank.UndatedAge}, withReasons(in), env)
	checkReasons(t, "hyperbolic", out)
	nearScores(t, scoresOf(out), map[string]float64{"t:new": 1, "t:future": 1, "t:half": 1 / (1 + 0.5*182.0/365),
		"t:old": 0.75, "t:undated": 0.8888137312928046})
	out = apply(t, rank.Recency{Curve: rank.HalfLife, HalfLife: 182 * 24 * time.Hour, Floor: 0.1, Undated: 0},
		withReasons(in), env)
	checkReasons(t, "half life", out)
	nearScores(t, scoresOf(out), map[string]float64{"t:new": 1, "t:future": 1, "t:half": 0.5, "t:old": 0.1,
		"t:undated": 1})
}

func TestPropertyBoost(t *testing.T) {
	for b, want := range map[float64]float64{0: 1, 3: 1.462117157260, -3: 0.768941421370, -0.5: 0.9584295167832002,
		0.5: 1.0831409664335998, 100: 1.999999999999993} {
		got := rank.Feedback.Factor(b)
		check.That(t, near(got, want), "feedback %v: got %v, want %v", b, got, want)
	}
	l := newShelf()
	l.add("t:a").Properties = []sheaf.Property{{Name: "Boost", Values: []sheaf.Value{sheaf.NumberValue(-3)}}}
	l.add("t:b").Properties = []sheaf.Property{{Name: "boost", Values: []sheaf.Value{sheaf.TextValue("3")}}}
	out := apply(t, rank.PropertyBoost{Name: "boost"}, withReasons(ranking(hit("t:a", 2), hit("t:b", 1))),
		rank.Env{Facts: l})
	checkReasons(t, "feedback", out)
	nearScores(t, scoresOf(out), map[string]float64{"t:a": 2 * 0.768941421370, "t:b": 1})
	out = apply(t, rank.PropertyBoost{Name: "boost", Curve: rank.Plain}, ranking(hit("t:a", 2)), rank.Env{Facts: l})
	nearScores(t, scoresOf(out), map[string]float64{"t:a": 2}) // a negative factor is ignored
	l.add("t:c").Properties = []sheaf.Property{{Name: "chunk_boost", Values: []sheaf.Value{sheaf.NumberValue(0.7)}}}
	out = apply(t, rank.PropertyBoost{Name: "chunk_boost", Curve: rank.Plain}, withReasons(ranking(hit("t:c", 2))),
		rank.Env{Facts: l})
	nearScores(t, scoresOf(out), map[string]float64{"t:c": 1.4})
}

func TestHeadingBoost(t *testing.T) {
	out := apply(t, rank.HeadingBoost{Max: 1.3, Decay: 0.9},
		withReasons(ranking(hit(at(""), 1), hit(at("A"), 1), hit(at("A1"), 1), hit(at("C1"), 1))), rank.Env{Facts: guide()})
	checkReasons(t, "heading", out)
	nearScores(t, scoresOf(out), map[string]float64{"t:guide.md": 1.3, "t:guide.md#A": 1.3, "t:guide.md#A1": 1.17,
		"t:guide.md#C1": 1.053})
}

func TestFieldBoost(t *testing.T) {
	l := newShelf()
	d := l.add("mine:x/y/a.md")
	d.Tags = []string{"Project/Alpha"}
	d.Properties = []sheaf.Property{{Name: "status", Values: []sheaf.Value{sheaf.TextValue("Done")}},
		{Name: "author", Values: []sheaf.Value{sheaf.TextValue("[[People/Ann|A]]")}}}
	in := ranking(hit(d.ID, 1))
	for _, test := range []struct {
		field, value string
		want         float64
	}{{"tree", "mine", 1.5}, {"tree", "other", 1}, {"folder", "x", 1.5}, {"folder", "x/y", 1.5}, {"folder", "x/", 1},
		{"tag", "project", 1.5},
		{"tag", "proj", 1}, {"prop.Status", "done", 1.5}, {"prop.status", "open", 1}, {"prop.author", "ann", 1.5},
		{"prop.author", "A", 1}} {
		out := apply(t, rank.FieldBoost{Field: test.field, Values: []string{test.value}, Factor: 1.5}, in, rank.Env{Facts: l})
		check.Equal(t, out[0].Score, test.want, "%s is %s", test.field, test.value)
	}
}

// TestBoostOfNegativeScore checks that a factor above 1 raises a negative score, too.
func TestBoostOfNegativeScore(t *testing.T) {
	stage := rank.HeadingBoost{Max: 2, Decay: 1}
	out := apply(t, stage, withReasons(ranking(hit(at("B"), 0), hit(at("A"), -4))), rank.Env{Facts: guide()})
	checkReasons(t, "negative", out)
	nearScores(t, scoresOf(out), map[string]float64{"t:guide.md#B": 0, "t:guide.md#A": -2})
}

func TestElbow(t *testing.T) {
	tests := []struct {
		scores []float64
		ratio  float64
		max    int
		want   int
	}{
		{[]float64{8, 7.5, 7, 3.2, 3, 2.8, 0.9}, 0.5, 20, 3},
		{nil, 0.5, 20, 0}, {[]float64{0}, 0.5, 20, 1}, {[]float64{0, 0}, 0.5, 20, 0},
		{[]float64{10, 5, 2.5}, 0.5, 20, 3}, {[]float64{10, 4.9, 2}, 0.5, 20, 1},
		{[]float64{5, 4, 0, 3}, 0.5, 20, 2}, {[]float64{10, 9, 8}, 0.5, 2, 2}, {[]float64{10, 0.001}, 0, 20, 2},
		{[]float64{10, 0}, 0, 20, 1}, {[]float64{10, 10, 0, 0}, 0, 20, 2}, // the maximum also applies when no ratio cuts
		{[]float64{3, 2}, 0.5, 0, 0},
		// The elbow or the maximum cuts, whichever is smaller (rule A16).
		{[]float64{8, 7.5, 7, 3.2}, 0.5, 2, 2}, {[]float64{8, 3, 2.9, 2.8}, 0.5, 2, 1},
		{[]float64{-1}, 0.5, 20, 1}, {[]float64{-1, -2}, 0.5, 20, 0}, {[]float64{5, -1, -2}, 0.5, 20, 1},
	}
	for _, test := range tests {
		r := sheaf.Ranking{}
		for i, s := range test.scores {
			r = append(r, hit(sheaf.ID(fmt.Sprint(i)), s))
		}
		check.Equal(t, len(apply(t, rank.Elbow{Ratio: test.ratio, Max: test.max}, r, rank.Env{})), test.want,
			"%v: kept", test)
	}
}

func TestAdaptive(t *testing.T) {
	l := guide()
	in := ranking(hit(at("A1"), 0.95), hit(at("A2"), 0.9), hit("t:lone.md", 0.5), hit("t:lone.md#Only", 0.1))
	for _, test := range []struct {
		a    rank.Adaptive
		want []sheaf.ID
	}{
		{rank.Adaptive{Floor: 1, Ceiling: 30, Relative: 0.3}, []sheaf.ID{at("A1"), at("A2"), "t:lone.md"}},
		{rank.Adaptive{Floor: 1, Ceiling: 2, Relative: 0.3}, []sheaf.ID{at("A1"), at("A2")}},
		{rank.Adaptive{Floor: 1, Ceiling: 2, Relative: 0.3, Diverse: true}, []sheaf.ID{at("A1"), "t:lone.md"}},
		{rank.Adaptive{Floor: 4, Ceiling: 30, Relative: 0.9}, ids(in)},
		{rank.Adaptive{Floor: 2, Ceiling: 30, Relative: 0.99}, []sheaf.ID{at("A1"), at("A2")}},
		{rank.Adaptive{Floor: 2, Ceiling: 30, Relative: 0.99, Diverse: true}, []sheaf.ID{at("A1"), "t:lone.md"}},
		{rank.Adaptive{Floor: 0, Ceiling: 30, Absolute: 0.5}, []sheaf.ID{at("A1"), at("A2"), "t:lone.md"}},
		{rank.Adaptive{Floor: 1, Ceiling: 30, Relative: 0.3, Absolute: 0.6}, []sheaf.ID{at("A1"), at("A2")}},
	} {
		equal(t, fmt.Sprintf("%+v", test.a), ids(apply(t, test.a, in, rank.Env{Facts: l})), test.want)
	}
}

func TestNormalize(t *testing.T) {
	in := ranking(hit("a", 33.7378), hit("b", 1.3114), hit("c", 0.5))
	for _, test := range []struct {
		n    rank.Normalize
		want []float64
	}{
		{rank.Normalize{Low: 0.02, High: 0.98}, []float64{0.98, 0.04343548610317169, 0.02}},
		{rank.Normalize{Scale: rank.ScalePercentile, Low: 0, High: 1}, []float64{1, 0.5, 0}},
		// z is 1.4139, -0.6807 and -0.7332.
		{rank.Normalize{Scale: rank.ScaleTanh, Low: 0.02, High: 0.98, Spread: 2},
			[]float64{0.8043787372670084, 0.3360965785644582, 0.32450350457552724}},
		{rank.Normalize{Scale: rank.ScaleTanh, Low: 0.3, High: 0.8, Spread: 2},
			[]float64{0.8, 0.3360965785644582, 0.32450350457552724}},
		{rank.Normalize{Scale: rank.ScaleMax}, []float64{1, 1.3114 / 33.7378, 0.5 / 33.7378}},
		{rank.Normalize{Scale: rank.ScaleSigmoid, Low: 0, High: 1, Middle: 0.5, Spread: 2},
			[]float64{1 / (1 + math.Exp(-(33.7378-0.5)/2)), 1 / (1 + math.Exp(-(1.3114-0.5)/2)), 0.5}},
	} {
		out := apply(t, test.n, withReasons(in), rank.Env{})
		checkReasons(t, "normalize", out)
		nearList(t, out, test.want)
	}
	ties := ranking(hit("a", 2), hit("b", 2), hit("c", 1))
	nearList(t, apply(t, rank.Normalize{Scale: rank.ScalePercentile, Low: 0, High: 1}, ties, rank.Env{}),
		[]float64{0.75, 0.75, 0})
	for _, scale := range []rank.Scale{rank.ScaleMinMax, rank.ScaleTanh, rank.ScalePercentile} {
		one := apply(t, rank.Normalize{Scale: scale, Low: 0.02, High: 0.98, Spread: 2}, ranking(hit("a", 7)), rank.Env{})
		nearList(t, one, []float64{0.5})
	}
}

func TestPerDocument(t *testing.T) {
	in := ranking(hit(at("A1"), 5), hit(at("A2"), 4), hit("t:lone.md", 3), hit(at("B"), 2))
	equal(t, "two each", ids(apply(t, rank.PerDocument{Max: 2}, in, rank.Env{Facts: guide()})),
		[]sheaf.ID{at("A1"), at("A2"), "t:lone.md"})
}

// TestPerDocumentOfOneSection checks that a document and its only section with the same title are
// one answer, the better hit. With another title they are two.
func TestPerDocumentOfOneSection(t *testing.T) {
	l := newShelf()
	l.add("t:tea", "tea", "  Green")
	l.add("t:how.md", "Tea")
	const doc, section, below = "t:tea", "t:tea#tea", "t:tea#Green"
	for _, c := range []struct{ in, want []sheaf.ID }{
		{[]sheaf.ID{doc, section, below}, []sheaf.ID{doc, below}},
		{[]sheaf.ID{below, section, doc}, []sheaf.ID{below, section}},
		{[]sheaf.ID{"t:how.md", "t:how.md#Tea"}, []sheaf.ID{"t:how.md", "t:how.md#Tea"}},
	} {
		var in sheaf.Ranking
		for i, id := range c.in {
			in = append(in, hit(id, float64(10-i)))
		}
		equal(t, fmt.Sprint(c.in), ids(apply(t, rank.PerDocument{Max: 3}, in, rank.Env{Facts: l})), c.want)
	}
}

func TestMMR(t *testing.T) {
	env := rank.Env{Facts: guide()}
	in := ranking(hit(at("A1"), 10), hit(at("A2"), 9), hit("t:lone.md", 8), hit(at("B"), 0))
	out := apply(t, rank.MMR{Lambda: 0.5, N: 10}, withReasons(in), env)
	checkReasons(t, "mmr", out)
	equal(t, "half", ids(out), []sheaf.ID{at("A1"), "t:lone.md", at("A2"), at("B")})
	nearList(t, out, []float64{0.5, 0.4, 0.45 - 0.5*2/3, -0.5 / 3})
	equal(t, "one", ids(apply(t, rank.MMR{Lambda: 1, N: 10}, in, env)), ids(in))
}

func TestNeighbors(t *testing.T) {
	in := ranking(hit(at("A2"), 5), hit(at("A3"), 4))
	out := apply(t, rank.Neighbors{Before: 1, After: 1}, in, rank.Env{Facts: guide()})
	equal(t, "neighbours", lines(out), "t:guide.md#A2 5 [t:guide.md#A1 t:guide.md#A3]\nt:guide.md#A3 4 [t:guide.md#A2 "+
		"t:guide.md#B]")
	equal(t, "score of a neighbour that was found", out[0].Constituents[1].Score, 4.0)
	in[1].Constituents = []sheaf.Hit{hit(at("C1"), 1)}
	out = apply(t, rank.Neighbors{Before: 1, After: 1}, in, rank.Env{Facts: guide()})
	equal(t, "constituents are flat", len(out[0].Constituents[1].Constituents), 0)
}

func TestAround(t *testing.T) {
	for _, c := range []struct{ n, center, most, from, to int }{
		{10, 5, 1, 5, 6}, {10, 5, 2, 4, 6}, {10, 5, 3, 4, 7}, {10, 5, 4, 3, 7}, // the side before first
		{10, 0, 3, 0, 3}, {10, 9, 3, 7, 10}, {10, 9, 4, 6, 10}, // one side gets the places that the other side cannot fill
		{3, 1, 9, 0, 3}, {3, 1, 0, 1, 1}, {1, 0, 5, 0, 1},
	} {
		if from, to := rank.Around(c.n, c.center, c.most); from != c.from || to != c.to {
			t.Errorf("%d of %d around %d: %d..%d, want %d..%d", c.most, c.n, c.center, from, to, c.from, c.to)
		}
	}
}

func TestMergeAdjacent(t *testing.T) {
	in := ranking(hit(at("A2"), 5), hit("t:lone.md", 4), hit(at("A1"), 3), hit(at("A3"), 2), hit(at("C1"), 1))
	out := apply(t, rank.MergeAdjacent{}, withReasons(in), rank.Env{Facts: guide()})
	equal(t, "sections", lines(out), "t:guide.md#A2 5 [t:guide.md#A1 t:guide.md#A3]\nt:lone.md 4\nt:guide.md#C1 1")
	in = ranking(hit(at("A1"), 5), hit(at("A3"), 4))
	equal(t, "with one between", lines(apply(t, rank.MergeAdjacent{}, in, rank.Env{Facts: guide()})),
		"t:guide.md#A1 5\nt:guide.md#A3 4")
}

func TestBudget(t *testing.T) {
	l := guide() // a section spans 100 bytes, the document 800
	in := ranking(hit(at("A1"), 5), hit(at(""), 4), hit(at("B"), 3))
	env := rank.Env{Facts: l}
	equal(t, "stop", ids(apply(t, rank.Budget{Tokens: 60, BytesPerToken: 4}, in, env)), []sheaf.ID{at("A1")})
	equal(t, "skip", ids(apply(t, rank.Budget{Tokens: 60, BytesPerToken: 4, Skip: true}, in, env)),
		[]sheaf.ID{at("A1"), at("B")})
	equal(t, "overhead", ids(apply(t, rank.Budget{Tokens: 60, BytesPerToken: 4, Overhead: 10, Skip: true}, in, env)),
		[]sheaf.ID{at("A1")})
}

func TestPin(t *testing.T) {
	in := ranking(hit("a", 5), hit("b", 4), hit("c", 3))
	out := apply(t, rank.Pin{IDs: []sheaf.ID{"c", "nowhere", "b", "c"}}, withReasons(in), rank.Env{})
	checkReasons(t, "pin", out)
	equal(t, "pinned", lines(out), "c 7\nb 6\na 5")
}

func TestAsSimilarity(t *testing.T) {
	out := apply(t, rank.AsSimilarity{To: rank.Closeness},
		withReasons(ranking(hit("a", math.Cos(math.Pi/4)), hit("b", 0))), rank.Env{})
	checkReasons(t, "closeness", out)
	nearList(t, out, []float64{1 / (1 + math.Pi/4), 1 / (1 + math.Pi/2)})
}

// every has a value of each stage.
var every = []rank.Stage{
	rank.Aggregate{}, rank.Aggregate{To: rank.ToParent, Scoring: rank.Scoring{Method: rank.TopMAvg, M: 2}},
	rank.Aggregate{Scoring: rank.Scoring{Method: rank.DecayedSum, M: 3, Decay: 0.95}},
	rank.Aggregate{Scoring: rank.Scoring{Method: rank.RRFPerDoc, K: 60}},
	specification(), rank.Tree{Threshold: 0.3, MinMatches: 2, Nested: rank.NestedBoth,
		Scoring: rank.Scoring{Method: rank.RSS}},
	rank.FolderBoost{MinDocuments: 2, MinShare: 0.4, Max: 1.15}, rank.FolderBoost{Blend: rank.Add},
	rank.GraphBoost{Candidates: 10, Backlink: 1, CoCitation: 0.5, SharedTag: 0.3, Strength: 0.1, Max: 1.15},
	rank.Recency{Decay: 0.5, Floor: 0.75, Undated: rank.UndatedAge},
	rank.Recency{Curve: rank.HalfLife, HalfLife: time.Hour, Blend: rank.Add},
	rank.PropertyBoost{Name: "boost"}, rank.PropertyBoost{Name: "boost", Curve: rank.Plain, Blend: rank.Add},
	rank.HeadingBoost{Max: 5, Decay: 0.7},
	rank.Names{Document: 0.3, Heading: 0.3, Title: 1, Alias: 0.9, Equal: 0.4}, rank.WordPairs{Strength: 0.3, Hits: 20},
	rank.FieldBoost{Field: "folder", Values: []string{"x"}, Factor: 0.5},
	rank.Top{N: 5}, rank.Elbow{Ratio: 0.5, Max: 20}, rank.Adaptive{Floor: 2, Ceiling: 10, Relative: 0.3, Diverse: true},
	rank.Normalize{Low: 0.02, High: 0.98}, rank.Normalize{Scale: rank.ScaleTanh, Low: 0.02, High: 0.98, Spread: 2.5},
	rank.Normalize{Scale: rank.ScaleSigmoid, Low: 0, High: 1, Spread: 1},
	rank.Normalize{Scale: rank.ScalePercentile, Low: 0, High: 1},
	rank.Normalize{Scale: rank.ScaleMax}, rank.Normalize{Scale: rank.ScaleZScore}, rank.Normalize{Scale: rank.ScaleL2},
	rank.PerDocument{Max: 2}, rank.MMR{Lambda: 0.6, N: 20}, rank.Neighbors{Before: 1, After: 2}, rank.MergeAdjacent{},
	rank.Budget{Tokens: 200, BytesPerToken: 4, Skip: true}, rank.Pin{IDs: []sheaf.ID{"t:b.md", "t:a.md"}},
	rank.AsSimilarity{To: rank.HalfCosine}, rank.ReadingOrder{Within: 0.5},
}

// TestStageProperties checks that no stage changes its input, and that equal input gives equal
// output. Scores fall and are explained. An error names a score that is not a number.
func TestStageProperties(t *testing.T) {
	cuts := []rank.Stage{rank.Top{}, rank.Elbow{}}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 4))
		l, all := randomShelf(rng)
		in := randomRanking(rng, all, []float64{1, 0.01, 1000}[seed%3])
		if seed%4 == 0 { // some negative scores
			for i := range in {
				in[i].Score -= 3
			}
		}
		env := rank.Env{Facts: l, Now: now, Query: "A", Named: lettersOf("A"), Pairs: someHave}
		for _, s := range every {
			what := fmt.Sprintf("seed %d, %T%+v", seed, s, s)
			given := withReasons(in)
			before := withReasons(in)
			out := apply(t, s, given, env)
			must.That(t, reflect.DeepEqual(given, before), "%s changed its input", what)
			checkReasons(t, what, out)
			if !slices.IsSortedFunc(out, func(a, b sheaf.Hit) int {
				if near(a.Score, b.Score) {
					return 0
				}
				return int(math.Copysign(1, b.Score-a.Score))
			}) {
				t.Fatalf("%s: scores rise in %s", what, written(out))
			}
			again := apply(t, s, given, env)
			must.That(t, reflect.DeepEqual(out, again), "%s gives something else the second time", what)
			plain := apply(t, s, in, env)
			equal(t, what+": without reasons", ids(plain), ids(out))
			for _, c := range cuts {
				must.That(t, reflect.TypeOf(c) != reflect.TypeOf(s) || reflect.DeepEqual(given[:len(out)], out),
					"%s: not a prefix", what)
			}
			must.Equal(t, len(apply(t, s, nil, env)), 0, "%s: hits of an empty ranking", what)
		}
	}
	env := rank.Env{Facts: guide(), Now: now}
	for _, s := range every {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			check.Is(t, must.Err(s.Apply(ranking(hit("t:lone.md", bad)), env)), sheaf.ErrInvalid,
				"%T with a score of %v", s, bad)
		}
	}
}

// TestStagesRefuse checks that stages refuse numbers that do not go together, and missing documents
// that they need. Package profile checks the range of each number.
func TestStagesRefuse(t *testing.T) {
	bad := []rank.Stage{
		rank.FolderBoost{Max: 0.5}, rank.FolderBoost{Max: math.NaN()}, rank.GraphBoost{Candidates: 1, Max: 0.5},
		rank.PropertyBoost{}, rank.PropertyBoost{Name: "boost", Max: 0.5},
		rank.FieldBoost{Field: "tree", Factor: 2}, rank.FieldBoost{Field: "body", Values: []string{"x"}, Factor: 2},
		rank.Adaptive{Floor: 3, Ceiling: 2}, rank.Normalize{},
	}
	for _, s := range bad {
		check.Is(t, must.Err(s.Apply(nil, rank.Env{Facts: guide(), Now: now})), sheaf.ErrInvalid, "%T%+v", s, s)
	}
	for _, s := range []rank.Stage{specification(), rank.Names{Document: 1}} {
		check.Fails(t, must.Err(s.Apply(nil, rank.Env{})), sheaf.ErrInvalid, "needs documents", "%T without documents", s)
	}
}

func BenchmarkStages(b *testing.B) {
	l, in := newShelf(), sheaf.Ranking{}
	for i := range 100 {
		d := l.add(sheaf.ID(fmt.Sprintf("t:folder%d/document-%03d.md", i%7, i)), "A", "  A1", "  A2", "B", "C")
		l.link(d.ID, sheaf.ID(fmt.Sprintf("t:folder%d/document-%03d.md", (i+1)%7, (i+1)%100)))
		for j, c := range d.Chunks[:5] {
			in = append(in, hit(c.ID, float64(500-3*i-j)))
		}
	}
	in.Sort()
	env := rank.Env{Facts: l, Now: now, Query: "A1", Named: lettersOf("A1"), Pairs: someHave}
	for _, s := range every {
		if _, ok := s.(rank.FolderBoost); ok {
			continue // this shelf reads all documents to count a folder
		}
		if _, ok := s.(rank.GraphBoost); ok {
			continue // this shelf reads all documents to find backlinks
		}
		b.Run(fmt.Sprintf("%T", s), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				apply(b, s, in, env)
			}
		})
	}
}

// TestGraphBoostOfFirstDocuments checks that only the first documents count, after a branch by meaning
// only those of the minimum similarity. A single document has no connections.
func TestGraphBoostOfFirstDocuments(t *testing.T) {
	l := newShelf()
	for _, id := range []sheaf.ID{"t:a.md", "t:b.md", "t:c.md"} {
		l.add(id)
	}
	l.link("t:b.md", "t:a.md")
	l.link("t:c.md", "t:a.md")
	l.link("t:a.md", "t:c.md")
	in := ranking(hit("t:a.md", 3), hit("t:b.md", 2), hit("t:c.md", 1))
	similar := func(of map[sheaf.ID]float64) func(sheaf.ID) (float64, bool) {
		return func(id sheaf.ID) (float64, bool) { s, ok := of[id]; return s, ok }
	}
	one, two := 1+0.1*math.Log(2), 1+0.1*math.Log(3)
	tests := []struct {
		name       string
		candidates int
		similarity func(sheaf.ID) (float64, bool)
		a, c       float64
	}{
		{"all", 10, nil, two, one},
		{"the first two", 2, nil, one, 1},
		{"the first alone", 1, nil, 1, 1},
		{"those of 0.75", 10, similar(map[sheaf.ID]float64{"t:a.md": 0.75, "t:b.md": 0.7499, "t:c.md": 0.9}), one, one},
		{"not those that meaning did not find", 10, similar(map[sheaf.ID]float64{"t:a.md": 0.8, "t:b.md": 0.8}), one, 1},
		{"one that is similar", 10, similar(map[sheaf.ID]float64{"t:a.md": 0.8}), 1, 1},
		{"meaning found none of them", 10, similar(nil), two, one},
	}
	for _, test := range tests {
		stage := rank.GraphBoost{Candidates: test.candidates, Backlink: 1, Strength: 0.1, Max: 1.15, MinSimilarity: 0.75}
		out := apply(t, stage, withReasons(in), rank.Env{Facts: l, Similarity: test.similarity})
		checkReasons(t, test.name, out)
		nearScores(t, scoresOf(out), map[string]float64{"t:a.md": 3 * test.a, "t:b.md": 2, "t:c.md": test.c})
	}
}

// TestBoostKeepsTheSignOfZero checks that a score that becomes 0 is 0, even if it was -0.
func TestBoostKeepsTheSignOfZero(t *testing.T) {
	l := newShelf()
	id := l.add("t:a.md").ID
	out := apply(t, rank.HeadingBoost{Max: 1, Decay: 1, Blend: rank.Add}, sheaf.Ranking{hit(id, math.Copysign(0, -1))},
		rank.Env{Facts: l})
	got := out[0].Score
	check.That(t, got == 0 && !math.Signbit(got), "-0 + (1 - 1) is %v, want 0", got)
}
