package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
)

func fuse(t testing.TB, f rank.Fusion, legs ...rank.Leg) sheaf.Ranking {
	t.Helper()
	out := must.Get(f.Fuse(legs))
	return out
}

func leg(name string, weight float64, hits ...sheaf.Hit) rank.Leg {
	return rank.Leg{Name: name, Weight: weight, Hits: hits}
}

func TestRRF(t *testing.T) {
	vector, text := listed([]string{"A", "B", "C"}), listed([]string{"B", "D", "A"})
	tests := []struct {
		name string
		f    rank.RRF
		legs []rank.Leg
		want string
	}{
		{"the specification's example", rank.RRF{K: 60},
			[]rank.Leg{{Name: "v", Hits: vector, Weight: 1}, {Name: "t", Hits: text, Weight: 1}}, "B .0325 A .0323 D " +
				".0161 C .0159"},
		{"k 1", rank.RRF{K: 1}, []rank.Leg{{Name: "v", Hits: vector, Weight: 1}, {Name: "t", Hits: text, Weight: 1}},
			"B .8333 A .7500 D .3333 C .2500"},
		{"Sonar's weights, scaled", rank.RRF{K: 60, Unit: true},
			[]rank.Leg{{Name: "v", Hits: vector, Weight: 0.6}, {Name: "t", Hits: text, Weight: 0.4}},
			"B .9903 A .9873 C .5810 D .3935"},
		{"ties by best rank, then the earlier leg", rank.RRF{K: 60},
			[]rank.Leg{{Name: "v", Hits: listed([]string{"x", "y"}), Weight: 1},
				{Name: "t", Hits: listed([]string{"a", "w"}), Weight: 1}}, "x .0164 a .0164 y .0161 w .0161"},
		{"alike but for the leg", rank.RRF{K: 60},
			[]rank.Leg{{Name: "v", Hits: listed([]string{"z", "m", "a"}), Weight: 1},
				{Name: "t", Hits: listed([]string{"a", "m", "z"}), Weight: 1}}, "z .0323 a .0323 m .0323"},
		// z is first in one leg, and third in a leg of twice the weight.
		{"the best rank before the id", rank.RRF{K: 1},
			[]rank.Leg{{Name: "v", Hits: listed([]string{"z"}), Weight: 1},
				{Name: "t", Hits: listed([]string{"p", "q", "a"}), Weight: 2}}, "p 1.0000 q .6667 z .5000 a .5000"},
		{"repeats close up", rank.RRF{K: 50}, []rank.Leg{{Name: "v", Hits: listed([]string{"a", "b", "a", "c"}), Weight: 1}},
			"a .0196 b .0192 c .0189"},
		{"repeats add up", rank.RRF{K: 50, Repeats: true},
			[]rank.Leg{{Name: "v", Hits: listed([]string{"a", "b", "a"}), Weight: 1}}, "a .0385 b .0192"},
		{"weight 0 adds members behind all others", rank.RRF{K: 60},
			[]rank.Leg{{Name: "v", Hits: listed([]string{"a"}), Weight: 1}, {Name: "t", Hits: listed([]string{"b"}), Weight: 0}},
			"a .0164 b .0000"},
		{"one leg is empty", rank.RRF{K: 60}, []rank.Leg{{Name: "v", Hits: nil, Weight: 1},
			{Name: "t", Hits: listed([]string{"b"}), Weight: 1}}, "b .0164"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			equal(t, "fused", written(fuse(t, test.f, test.legs...)), test.want)
			for i := range test.legs {
				test.legs[i].Hits = withReasons(test.legs[i].Hits)
			}
			out := fuse(t, test.f, test.legs...)
			equal(t, "fused with reasons", written(out), test.want)
			checkReasons(t, test.name, out)
		})
	}
}

// written returns a ranking as "id .1234 id .1234".
func written(r sheaf.Ranking) string {
	var parts []string
	for _, h := range r {
		parts = append(parts, string(h.ID), strings.TrimPrefix(fmt.Sprintf("%.4f", h.Score), "0"))
	}
	return strings.Join(parts, " ")
}

// TestSmallContributionsCount checks that a contribution below 0.001 counts like any other. With K
// 1000 all contributions are smaller.
func TestSmallContributionsCount(t *testing.T) {
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprintf("%03d", i)
	}
	for _, k := range []int{900, 999, 1000} {
		out := fuse(t, rank.RRF{K: k}, rank.Leg{Name: "a", Hits: listed(names), Weight: 1},
			rank.Leg{Name: "b", Hits: listed(names[150:]), Weight: 1})
		must.Equal(t, len(out), len(names), "k %d: results", k)
		for _, h := range out {
			var want float64
			for _, leg := range h.Legs {
				if leg.Rank > 0 {
					want += 1 / float64(k+leg.Rank)
				}
			}
			check.That(t, near(h.Score, want) && h.Score != 0, "k %d: %s scores %v, want %v", k, h.ID, h.Score, want)
		}
		check.Equal(t, out[0].ID, "150", "k %d: first result", k)
	}
}

// TestScores checks norms and means, also for different weights, negative scores (two means of
// OpenSearch ignore them) and equal scores.
func TestScores(t *testing.T) {
	a, b := leg("text", 1, hit("A", 3), hit("B", 2), hit("C", 1)), leg("vector", 1, hit("B", 10), hit("D", 4))
	heavy := leg("vector", 3, hit("B", 4), hit("D", -1))
	same, huge := leg("text", 1, hit("A", 7), hit("B", 7)), leg("text", 1, hit("A", 1e9), hit("B", 1e9), hit("C", 1e9))
	tests := []struct {
		f    rank.Scores
		legs []rank.Leg
		want string
	}{
		{rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanArithmetic}, []rank.Leg{a, b}, "B .7500 A .5000 D .0000 C .0000"},
		{rank.Scores{Norm: rank.NormNone, Mean: rank.MeanSum}, []rank.Leg{a, b}, "B 12.0000 D 4.0000 A 3.0000 C 1.0000"},
		{rank.Scores{Norm: rank.NormMax, Mean: rank.MeanSum}, []rank.Leg{a, b}, "B 1.6667 A 1.4000 D .7333 C .7333"},
		// The zeros of missing hits count: text is 3, 2, 1, 0 and vector is 0, 10, 0, 4.
		{rank.Scores{Norm: rank.NormLinear, Mean: rank.MeanSum}, []rank.Leg{a, b}, "B 1.6667 A 1.0000 D .4000 C .3333"},
		// text has mean 2 and deviation .8165; vector has mean 7 and deviation 3.
		{rank.Scores{Norm: rank.NormZScore, Mean: rank.MeanSum}, []rank.Leg{a, b}, "B 1.0000 A .2247 D -2.2247 C -2.2247"},
		{rank.Scores{Norm: rank.NormL2, Mean: rank.MeanSum}, []rank.Leg{a, b}, "B 1.4630 A .8018 D .3714 C .2673"},
		{rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanArithmetic}, []rank.Leg{a, b},
			"B .7500 A .5000 D .0005 C .0005"},
		// Both legs have B: sqrt(.5 x 1). The others have one leg above 0.
		{rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanGeometric}, []rank.Leg{a, b},
			"A 1.0000 B .7071 D .0010 C .0010"},
		{rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanHarmonic}, []rank.Leg{a, b},
			"A 1.0000 B .6667 D .0010 C .0010"},
		{rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanRSS}, []rank.Leg{a, b}, "B 1.1180 A 1.0000 D .0000 C .0000"},

		{rank.Scores{Mean: rank.MeanArithmetic}, []rank.Leg{a, heavy}, "B 3.5000 A .7500 C .2500 D -0.7500"},
		// B: (2 x 4 x 4 x 4)^(1/4), and 4/(1/2 + 3/4).
		{rank.Scores{Mean: rank.MeanGeometric}, []rank.Leg{a, heavy}, "B 3.3636 A 3.0000 C 1.0000 D .0000"},
		{rank.Scores{Mean: rank.MeanHarmonic}, []rank.Leg{a, heavy}, "B 3.2000 A 3.0000 C 1.0000 D .0000"},
		// B: root of 2 x 2 + 12 x 12.
		{rank.Scores{Mean: rank.MeanRSS}, []rank.Leg{a, heavy}, "B 12.1655 A 3.0000 C 1.0000 D -3.0000"},
		// text: mean 2, sample deviation 1. A has 1, B equals the mean and gets the highest score,
		// C 0.001. vector: mean 1.5, sample deviation 3.5355: B 0.7071, D 0.001.
		{rank.Scores{Norm: rank.NormZScoreOpenSearch, Mean: rank.MeanArithmetic}, []rank.Leg{a, heavy},
			"B 1.2803 A .2500 D .0008 C .0003"},

		// Shares of 6 and of 5. Without an ideal score the scores are shares already.
		{rank.Scores{Norm: rank.NormShare, Ideals: []float64{6, 5}}, []rank.Leg{a, b}, "B 2.3333 D .8000 A .5000 C .1667"},
		{rank.Scores{Norm: rank.NormShare, Ideals: []float64{6}}, []rank.Leg{a, b}, "B 10.3333 D 4.0000 A .5000 C .1667"},

		{rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanArithmetic}, []rank.Leg{same}, "A 1.0000 B 1.0000"},
		{rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanArithmetic}, []rank.Leg{same}, "A 1.0000 B 1.0000"},
		{rank.Scores{Norm: rank.NormZScoreOpenSearch, Mean: rank.MeanArithmetic}, []rank.Leg{same}, "A 7.0000 B 7.0000"},
		// A z-score does not depend on the raw scale of equal scores.
		{rank.Scores{Norm: rank.NormZScore}, []rank.Leg{same}, "A .0000 B .0000"},
		{rank.Scores{Norm: rank.NormZScore}, []rank.Leg{huge}, "A .0000 B .0000 C .0000"},
		{rank.Scores{Norm: rank.NormZScore}, []rank.Leg{leg("text", 1, hit("A", 0.1), hit("B", 0.1), hit("C", 0.1))},
			"A .0000 B .0000 C .0000"},
		{rank.Scores{Norm: rank.NormLinear}, []rank.Leg{same, leg("vector", 0.5, hit("A", 2), hit("B", 1))},
			"A 1.0000 B .5000"},
		// A hit that a leg lacks has the score 0 in that leg.
		{rank.Scores{Norm: rank.NormLinear},
			[]rank.Leg{leg("text", 1, hit("B", 1), hit("A", -1)), leg("vector", 1, hit("C", 2), hit("A", 1))},
			"C 1.5000 B 1.0000 A .5000"},
		// Vespa's normalize_linear scales over the hits of all legs, also of a leg of weight 0.
		{rank.Scores{Norm: rank.NormLinear}, []rank.Leg{leg("a", 1, hit("A", -1), hit("B", -5)), leg("b", 0, hit("C", 3))},
			"C 1.0000 A .8000 B .0000"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("norm %d mean %d", test.f.Norm, test.f.Mean), func(t *testing.T) {
			equal(t, "fused", written(fuse(t, test.f, test.legs...)), test.want)
			explained := clone(test.legs)
			for i := range explained {
				explained[i].Hits = withReasons(explained[i].Hits)
			}
			out := fuse(t, test.f, explained...)
			equal(t, "fused with reasons", written(out), test.want)
			checkReasons(t, "scores", out)
		})
	}
}

// TestWeightOfZeroBehindNegativeScores checks that hits of legs of weight 0 are last, even after negative scores, and
// change none.
func TestWeightOfZeroBehindNegativeScores(t *testing.T) {
	counts, other := leg("a", 2, hit("A", -1), hit("B", -7)), leg("b", 0, hit("C", 3), hit("B", 2))
	for norm := rank.NormNone; norm < rank.NormShare; norm++ {
		if norm == rank.NormLinear { // its scale covers all hits: see TestScores
			continue
		}
		for mean := rank.MeanSum; mean <= rank.MeanRSS; mean++ {
			f := rank.Scores{Norm: norm, Mean: mean}
			alone := fuse(t, f, counts)
			x, y := counts, other
			x.Hits, y.Hits = withReasons(x.Hits), withReasons(y.Hits)
			out := fuse(t, f, x, y)
			checkReasons(t, "weight 0", out)
			if len(out) != 3 || out[2].ID != "C" {
				t.Errorf("norm %d mean %d: %s", norm, mean, written(out))
				continue
			}
			for i := range alone {
				check.That(t, out[i].ID == alone[i].ID && out[i].Score == alone[i].Score,
					"norm %d mean %d: %s, alone %s", norm, mean, written(out), written(alone))
			}
		}
	}
}

func TestFuseRefuses(t *testing.T) {
	good := leg("text of memory", 1, hit("a", 1))
	fusions := []rank.Fusion{rank.RRF{K: 60}, rank.Scores{}}
	tests := []struct {
		name string
		legs []rank.Leg
		want string
	}{
		{"NaN", []rank.Leg{good, leg("vector of store x", 1, hit("b", math.NaN()))}, "vector of store x"},
		{"infinity", []rank.Leg{leg("text of memory", 1, hit("b", math.Inf(1)))}, "text of memory"},
		{"negative weight", []rank.Leg{leg("t", -1, hit("b", 1))}, "weight of t is -1"},
		{"weight NaN", []rank.Leg{leg("t", math.NaN(), hit("b", 1))}, "weight of t"},
		{"weights sum to 0", []rank.Leg{leg("t", 0, hit("b", 1)), leg("v", 0)}, "all legs are 0"},
	}
	for _, test := range tests {
		for _, f := range fusions {
			check.Fails(t, must.Err(f.Fuse(test.legs)), sheaf.ErrInvalid, test.want, "%s, %T", test.name, f)
		}
	}
	for _, k := range []int{-1, 0, 1001} {
		check.Is(t, must.Err((rank.RRF{K: k}).Fuse([]rank.Leg{good})), sheaf.ErrInvalid, "k %d", k)
	}
}

func TestFuseConstituents(t *testing.T) {
	a, b := hit("doc", 3), hit("doc", 9)
	a.Constituents = []sheaf.Hit{hit("doc#1", 3), hit("doc#2", 1)}
	b.Constituents = []sheaf.Hit{hit("doc#3", 9), hit("doc#1", 2), hit("doc", 1)}
	out := fuse(t, rank.RRF{K: 60}, leg("text", 1, hit("other", 4), a), leg("vector", 1, b))
	equal(t, "best", out[0].ID, sheaf.ID("doc"))
	equal(t, "constituents", ids(out[0].Constituents), []sheaf.ID{"doc#3", "doc#1", "doc#2"})
}

// randomLegs returns two to four legs over the same documents.
func randomLegs(rng *rand.Rand) []rank.Leg {
	names := make([]sheaf.ID, 30)
	for i := range names {
		names[i] = sheaf.ID(fmt.Sprintf("t:%02d", i))
	}
	legs := make([]rank.Leg, 2+rng.IntN(3))
	for i := range legs {
		legs[i] = rank.Leg{Name: fmt.Sprint("leg ", i), Weight: float64(1+rng.IntN(20)) / 10,
			Hits: randomRanking(rng, names, 1)}
	}
	return legs
}

var fusions = []rank.Fusion{
	rank.RRF{K: 60}, rank.RRF{K: 1, Unit: true}, rank.RRF{K: 20, Repeats: true},
	rank.Scores{Norm: rank.NormMinMax, Mean: rank.MeanArithmetic}, rank.Scores{Norm: rank.NormLinear, Mean: rank.MeanSum},
	rank.Scores{Norm: rank.NormZScore, Mean: rank.MeanSum}, rank.Scores{Norm: rank.NormMax, Mean: rank.MeanSum},
	rank.Scores{Norm: rank.NormL2, Mean: rank.MeanRSS},
	rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanGeometric},
	rank.Scores{Norm: rank.NormMinMaxOpenSearch, Mean: rank.MeanHarmonic},
	rank.Scores{Norm: rank.NormZScoreOpenSearch, Mean: rank.MeanArithmetic},
	rank.Scores{Norm: rank.NormNone, Mean: rank.MeanSum},
}

func TestFusionProperties(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		legs := randomLegs(rng)
		for _, f := range fusions {
			what := fmt.Sprintf("seed %d, %+v", seed, f)
			before := clone(legs)
			out := fuse(t, f, legs...)
			equal(t, what+": its input", legs, before)
			sorted := slices.Clone(out)
			sorted.Sort()
			equal(t, what+": the order", ids(out), ids(sorted))
			equal(t, what+": twice", fuse(t, f, legs...), out)

			explainedLegs := clone(legs)
			for i := range explainedLegs {
				explainedLegs[i].Hits = withReasons(legs[i].Hits)
			}
			reasoned := fuse(t, f, explainedLegs...)
			checkReasons(t, what, reasoned)
			equal(t, what+": with reasons", ids(reasoned), ids(out))

			// A leg of weight 0 does not change the scores and the order of hits of other legs.
			extra := append(clone(legs), rank.Leg{Name: "nothing", Hits: randomLegs(rng)[0].Hits})
			known := scoresOf(out)
			kept := slices.DeleteFunc(fuse(t, f, extra...), func(h sheaf.Hit) bool { _, ok := known[string(h.ID)]; return !ok })
			if scores, ok := f.(rank.Scores); !ok || scores.Norm != rank.NormLinear { // its range covers the hits of all legs
				equal(t, what+": with a leg of weight 0", ids(kept), ids(out))
				nearScores(t, scoresOf(kept), known)
			}
		}
	}
}

func clone(legs []rank.Leg) []rank.Leg {
	out := slices.Clone(legs)
	for i := range out {
		out[i].Hits = slices.Clone(out[i].Hits)
	}
	return out
}

func TestRRFProperties(t *testing.T) {
	f := rank.RRF{K: 60}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		legs := randomLegs(rng)
		out := fuse(t, f, legs...)

		scaled := clone(legs)
		for i := range scaled {
			for j := range scaled[i].Hits {
				scaled[i].Hits[j].Score = scaled[i].Hits[j].Score*7.5 + 3
			}
		}
		equal(t, fmt.Sprint("seed ", seed, ": scaling a leg"), ids(fuse(t, f, scaled...)), ids(out))

		// Raising a hit in one leg never lowers its rank.
		j := rng.IntN(len(legs))
		if n := len(legs[j].Hits); n > 1 {
			at := 1 + rng.IntN(n-1)
			raised := clone(legs)
			id := raised[j].Hits[at].ID
			raised[j].Hits[at], raised[j].Hits[at-1] = raised[j].Hits[at-1], raised[j].Hits[at]
			raised[j].Hits[at].Score, raised[j].Hits[at-1].Score = raised[j].Hits[at-1].Score, raised[j].Hits[at].Score
			was, is := slices.Index(ids(out), id), slices.Index(ids(fuse(t, f, raised...)), id)
			must.That(t, is <= was, "seed %d: %s rose in %s and fell from %d to %d", seed, id, legs[j].Name, was+1, is+1)
		}

		// A hit that is first in every leg stays first.
		winner := hit("t:winner", 1e6)
		for i := range legs {
			legs[i].Hits = append(sheaf.Ranking{winner}, legs[i].Hits...)
		}
		for _, f := range fusions {
			if scores, ok := f.(rank.Scores); ok && scores.Norm == rank.NormZScoreOpenSearch {
				continue // a known flaw: a leg of one hit gets its raw score
			}
			must.Equal(t, fuse(t, f, legs...)[0].ID, winner.ID, "seed %d, %+v: first result", seed, f)
		}
	}
}

// TestFuseMemory checks that fusing 1,000 results takes at most 1 MB.
func TestFuseMemory(t *testing.T) {
	legs := make([]rank.Leg, 2)
	for j := range legs {
		legs[j] = rank.Leg{Name: "leg", Weight: 1}
		for i := range 1000 {
			legs[j].Hits = append(legs[j].Hits, hit(sheaf.ID(fmt.Sprintf("notes:folder/document-%05d.md#a-section", i*7%1000)),
				float64(1000-i)))
		}
	}
	for _, f := range fusions {
		const runs = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			fuse(t, f, legs...)
		}
		runtime.ReadMemStats(&after)
		n := (after.TotalAlloc - before.TotalAlloc) / runs
		check.That(t, n != 0 && n <= 1<<20, "%+v takes %d bytes", f, n)
	}
}

func BenchmarkFuse(b *testing.B) {
	for _, n := range []int{200, 1000} {
		legs := make([]rank.Leg, 2)
		rng := rand.New(rand.NewPCG(1, 1))
		for j := range legs {
			legs[j] = rank.Leg{Name: "leg", Weight: 1}
			for _, i := range rng.Perm(n)[:n*3/4] {
				legs[j].Hits = append(legs[j].Hits,
					hit(sheaf.ID(fmt.Sprintf("notes:folder/of/some/length/document-%05d.md#a-section", i)), 0))
			}
			for i := range legs[j].Hits {
				legs[j].Hits[i].Score = float64(n - i)
			}
		}
		for _, f := range []rank.Fusion{rank.RRF{K: 60}, rank.Scores{Norm: rank.NormMax, Mean: rank.MeanSum}} {
			b.Run(fmt.Sprintf("%T/%d", f, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					fuse(b, f, legs...)
				}
			})
		}
	}
}
