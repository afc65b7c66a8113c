package parity_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/eval/parity"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func ranking(pairs ...any) sheaf.Ranking {
	var r sheaf.Ranking
	for i := 0; i < len(pairs); i += 2 {
		r = append(r, sheaf.Hit{ID: sheaf.ID(pairs[i].(string)), Score: pairs[i+1].(float64)})
	}
	return r
}

// TestRBO checks values computed by hand from equation 32.
func TestRBO(t *testing.T) {
	for _, c := range []struct {
		a, b string
		p    float64
		want float64
	}{
		{"abc", "abc", 0.9, 1},
		{"abc", "xyz", 0.9, 0},
		{"", "", 0.9, 1},
		{"", "a", 0.9, 0},
		// Overlaps 0, 2: (0.5/0.5)(0/1 x 0.5 + 2/2 x 0.25) + 1 x 0.25.
		{"ab", "ba", 0.5, 0.5},
		// Overlaps 1, 1, and 1 at the short one's end: 0.5 + 0.125 + 0.125 + 0.25.
		{"a", "ab", 0.5, 1},
		// Overlaps 1, 1, 2: 0.5 + 0.125 + 2/3 x 0.125 + 2/3 x 0.125.
		{"abc", "axb", 0.5, 0.5 + 0.125 + 2.0/3*0.25},
	} {
		got := parity.RBO([]byte(c.a), []byte(c.b), c.p)
		check.That(t, near(got, c.want), "RBO(%s, %s, %v) = %v, want %v", c.a, c.b, c.p, got, c.want)
	}
}

func TestTau(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{nil, nil, 1},
		{[]float64{1}, []float64{2}, 1},
		{[]float64{3, 2, 1}, []float64{30, 20, 10}, 1},
		{[]float64{3, 2, 1}, []float64{1, 2, 3}, -1},
		{[]float64{3, 2, 1}, []float64{2, 3, 1}, 1.0 / 3},
		{[]float64{1, 1}, []float64{2, 2}, 1},
		{[]float64{1, 1}, []float64{1, 2}, 0},
		{[]float64{2, 1, 1}, []float64{3, 2, 1}, 2 / math.Sqrt(6)},
	} {
		got := parity.Tau(c.a, c.b)
		check.That(t, near(got, c.want), "Tau(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
	}
}

// TestProperties checks that measures are symmetric, in range, and 1 for a ranking and itself.
func TestProperties(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		make := func() sheaf.Ranking {
			var out sheaf.Ranking
			for _, i := range r.Perm(30)[:r.IntN(20)] {
				out = append(out, sheaf.Hit{ID: sheaf.ID(rune('a' + i)), Score: float64(r.IntN(10))})
			}
			out.Sort()
			return out
		}
		a, b := make(), make()
		x, y := parity.Compare(a, b), parity.Compare(b, a)
		must.That(t, near(x.RBO, y.RBO) && near(x.Tau, y.Tau) && x.RBO >= -1e-9 && x.RBO <= 1+1e-9 && x.Tau >= -1-1e-9 &&
			x.Tau <= 1+1e-9 && x.Shared == y.Shared, "seed %d: %+v and %+v", seed, x, y)
		if same := parity.Compare(a, slices.Clone(a)); !same.SameOrder || !near(same.RBO, 1) || same.ScoreDifference != 0 {
			t.Fatalf("seed %d: a ranking and itself: %+v", seed, same)
		}
	}
}

// TestReasons checks the reasons for differences of two rankings.
func TestReasons(t *testing.T) {
	a := ranking("a", 3.0, "b", 2.0, "c", 1.0)
	for _, c := range []struct {
		what string
		b    sheaf.Ranking
		step parity.Step
		want int
		says string
	}{
		{"the same", a, parity.Step{Words: true}, 0, ""},
		{"the last bit", ranking("a", 3.0000001, "b", 2.0, "c", 1.0), parity.Step{Words: true}, 0, ""},
		{"a later step", ranking("b", 3.0, "a", 2.0, "c", 1.0), parity.Step{}, 1, "follows from the steps before"},
		{"a later step that said why", ranking("b", 3.0, "a", 2.0, "c", 1.0),
			parity.Step{Noted: []string{"it looks for no pairs"}}, 1, "it looks for no pairs"},
		{"a window", ranking("a", 3.0, "b", 2.0, "d", 1.0000001), parity.Step{Words: true}, 1, "window"},
		{"other documents", ranking("x", 3.0, "b", 2.0, "c", 1.0), parity.Step{Words: true}, 1, "the store finds others"},
		{"other documents of another branch", ranking("a", 3.0, "b", 2.0), parity.Step{Words: true, Chosen: true}, 1,
			"others are scored"},
		{"other documents and counts", ranking("x", 3.0, "b", 2.1, "c", 1.0), parity.Step{Words: true, Chosen: true}, 2,
			"the store finds others"},
		{"a graph", ranking("b", 2.0, "c", 1.0), parity.Step{Meaning: true, Approximate: true}, 1, "ANN recall"},
		{"lengths", ranking("a", 3.1, "b", 2.0, "c", 1.0), parity.Step{Words: true, Store: "opensearch"}, 1, "length norm"},
		{"lengths alike", ranking("a", 3.1, "b", 2.0, "c", 1.0), parity.Step{Words: true, Store: "opensearch", Alike: true},
			1, "do not tell why"},
		{"idf", ranking("a", 3.1, "b", 2.0, "c", 1.0), parity.Step{Words: true, Store: "weaviate"}, 1,
			"idf counts all chunks"},
		{"idf alike", ranking("a", 3.1, "b", 2.0, "c", 1.0), parity.Step{Words: true, Store: "weaviate", Alike: true}, 1,
			"do not tell why"},
		{"shards", ranking("a", 3.1, "b", 2.0, "c", 1.0), parity.Step{Words: true, Store: "weaviate", Alike: true, Shards: 3},
			1, "3 shards: each counts by itself"},
		{"shards whose counts are added up", ranking("a", 3.1, "b", 2.0, "c", 1.0),
			parity.Step{Words: true, Store: "opensearch", Shards: 3}, 2, "3 shards: their counts of words are added up"},
		{"shards of vectors", ranking("a", 3.1, "b", 2.0, "c", 1.0), parity.Step{Meaning: true, Store: "weaviate", Shards: 3},
			1, "precision of vectors"},
		{"shards and the same order", ranking("a", 3.0000001, "b", 2.0, "c", 1.0),
			parity.Step{Words: true, Store: "weaviate", Shards: 3}, 0, ""},
		{"a failure", nil, parity.Step{Words: true, Failed: "unsupported"}, 1, "did not answer"},
	} {
		got := parity.Reasons(a, c.b, parity.Compare(a, c.b), c.step)
		if len(got) != c.want || c.want > 0 &&
			!slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.says) }) {
			t.Errorf("%s: %q, want %q", c.what, got, c.says)
		}
	}
}

// TestExactCounting checks a stage that only one way of counting runs: later stages keep their numbers.
func TestExactCounting(t *testing.T) {
	r := sheaf.Ranking{{ID: "t:a", Score: 2}, {ID: "t:b", Score: 1}}
	fuse, relax, answer := search.Snapshot{Step: "fuse", Ranking: r}, search.Snapshot{Step: "relax", Ranking: r},
		search.Snapshot{Step: parity.FinalStep, Ranking: r}
	engine := &parity.Store{Kind: parity.Engine, Answers: map[string][]parity.Answer{
		parity.Exact: {{Trace: []search.Snapshot{fuse, answer}}},
		"lucene":     {{Trace: []search.Snapshot{fuse, relax, answer}}}}}
	server := &parity.Store{Kind: "opensearch", Answers: map[string][]parity.Answer{
		parity.Exact: {{Trace: []search.Snapshot{fuse, relax, answer}}}}}
	compared := parity.CompareStores([]string{"tea"}, engine, server, "lucene")
	var exact []string
	for _, s := range compared.Stages {
		exact = append(exact, s.Stage+" "+s.ExactText())
	}
	if got, want := strings.Join(exact, ", "), "fuse 1.0000, relax -, answer 1.0000"; got != want {
		t.Errorf("exact: %s, want %s", got, want)
	}
}
