package rank_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
)

// someHave reports that some chunks have the first of two pairs, and others the second.
func someHave(chunks []sheaf.ID) ([]rank.Pair, error) {
	pairs := []rank.Pair{{Text: "undo a", Worth: 2}, {Text: "a commit", Worth: 3}}
	for i := range pairs {
		for _, id := range chunks {
			pairs[i].In = append(pairs[i].In, len(id)%(i+2) == 0)
		}
	}
	return pairs, nil
}

// pairsIn gives each chunk its pairs.
func pairsIn(worth []float64, in map[sheaf.ID][]int) func([]sheaf.ID) ([]rank.Pair, error) {
	return func(chunks []sheaf.ID) ([]rank.Pair, error) {
		pairs := make([]rank.Pair, len(worth))
		for i := range pairs {
			pairs[i] = rank.Pair{Text: fmt.Sprint("pair ", i), Worth: worth[i], In: make([]bool, len(chunks))}
		}
		for k, id := range chunks {
			for _, i := range in[id] {
				pairs[i].In[k] = true
			}
		}
		return pairs, nil
	}
}

// TestWordPairsExample runs the example of the doc comment. The stage needs no documents.
func TestWordPairsExample(t *testing.T) {
	in := withReasons(ranking(hit("t:none.md", 1), hit("t:one.md", 1)))
	out := apply(t, rank.WordPairs{Strength: 0.3, Hits: 10}, in,
		rank.Env{Pairs: func(chunks []sheaf.ID) ([]rank.Pair, error) {
			equal(t, "asked for", chunks, []sheaf.ID{"t:none.md", "t:one.md"})
			return []rank.Pair{{Text: "undo a", Worth: 2, In: []bool{false, false}},
				{Text: "a commit", Worth: 3, In: []bool{false, true}}}, nil
		}})
	checkReasons(t, "example", out)
	equal(t, "example", lines(out), "t:one.md 1.18\nt:none.md 1")
	why := out[0].Explanation.Parts[1]
	equal(t, "labels", []string{out[0].Explanation.Label, why.Label, why.Parts[0].Label, why.Parts[1].Label,
		why.Parts[1].Parts[0].Parts[0].Label},
		[]string{"word pairs", "words side by side", "strength", "share of the query's pairs", `"a commit"`})
}

// TestWordPairsKeepsRanking checks that nothing changes without Env.Pairs or pairs, or at strength 0.
func TestWordPairsKeepsRanking(t *testing.T) {
	in := withReasons(ranking(hit("t:b.md", 2), hit("t:a.md", 1)))
	none := func([]sheaf.ID) ([]rank.Pair, error) { return nil, nil }
	for what, env := range map[string]rank.Env{"nil": {}, "none": {Pairs: none},
		"in no hit": {Pairs: pairsIn([]float64{1}, nil)}} {
		out := apply(t, rank.WordPairs{Strength: 1, Hits: 10}, in, env)
		check.That(t, reflect.DeepEqual(out, in), "%s: %s", what, written(out))
	}
	asked := rank.Env{Pairs: func([]sheaf.ID) ([]rank.Pair, error) { return nil, errors.New("was asked") }}
	out := apply(t, rank.WordPairs{Hits: 10}, in, asked)
	check.That(t, reflect.DeepEqual(out, in), "strength 0: %s", written(out))
	_, err := (rank.WordPairs{Strength: 1, Hits: 10}).Apply(in, asked)
	check.That(t, err != nil && err.Error() == "was asked", "an error of the store becomes %v", err)
}

// TestWordPairsAsksForNoPairsOfNothing checks that an empty ranking stays empty. Stores refuse to look at no chunks.
func TestWordPairsAsksForNoPairsOfNothing(t *testing.T) {
	refuse := func([]sheaf.ID) ([]rank.Pair, error) { return nil, errors.New("limit is 0") }
	out, err := rank.WordPairs{Strength: 1, Hits: 10}.Apply(nil, rank.Env{Pairs: refuse})
	check.That(t, len(out) == 0 && err == nil, "%v, %v", out, err)
}

// TestWordPairsOfFirstHits checks that the stage reads only the best Hits.
func TestWordPairsOfFirstHits(t *testing.T) {
	in := withReasons(ranking(hit("t:c.md", 3), hit("t:b.md", 2), hit("t:a.md", 1)))
	all := map[sheaf.ID][]int{"t:a.md": {0}, "t:b.md": {0}, "t:c.md": {0}}
	out := apply(t, rank.WordPairs{Strength: 5, Hits: 2}, in, rank.Env{Pairs: pairsIn([]float64{1}, all)})
	checkReasons(t, "the first", out)
	equal(t, "the first", lines(out), "t:c.md 8\nt:b.md 7\nt:a.md 1")
}

// TestWordPairsAreBounded checks that a hit gets from 0 to Strength, and Strength with all pairs.
// The explanation adds up to the score. A second run gives the same.
func TestWordPairsAreBounded(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 22))
		_, all := randomShelf(rng)
		all = append(all, "t:none", "t:none#1")
		worth := make([]float64, rng.IntN(70))
		for i := range worth {
			worth[i] = []float64{1e-300, rng.Float64(), 12, 1e300}[rng.IntN(4)]
		}
		has := map[sheaf.ID][]int{}
		for _, id := range all {
			share := rng.IntN(3) // none, half, all
			for i := range worth {
				if rng.IntN(2) < share {
					has[id] = append(has[id], i)
				}
			}
		}
		s := rank.WordPairs{Strength: rng.Float64(), Hits: 1 + rng.IntN(40)}
		in := withReasons(randomRanking(rng, all, 1))
		before := scoresOf(in)
		env := rank.Env{Pairs: pairsIn(worth, has)}
		out := apply(t, s, in, env)
		what := fmt.Sprintf("seed %d, %+v", seed, s)
		checkReasons(t, what, out)
		for i := range in {
			id := in[i].ID
			got := scoresOf(out)[string(id)] - before[string(id)]
			if !(got >= 0 && got <= s.Strength+1e-9) { // also for NaN
				t.Fatalf("%s: %s gets %v", what, id, got)
			}
			if n := len(worth); n > 0 && len(has[id]) == n && i < s.Hits && !near(got, s.Strength) {
				t.Fatalf("%s: %s has all pairs and gets %v", what, id, got)
			}
			must.That(t, i < s.Hits || got == 0, "%s: %s is not looked at and gets %v", what, id, got)
		}
		again := apply(t, s, in, env)
		must.That(t, reflect.DeepEqual(again, out), "%s: %s, and then %s", what, written(out), written(again))
	}
}
