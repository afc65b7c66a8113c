package rank_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sheaf"
	"sheaf/rank"
)

// What is lifted and fused in memory that serves again is what is made anew, and stays so
// while other memory is used.
func TestLiftedInMemory(t *testing.T) {
	lifters := []rank.Lifter{
		rank.Aggregate{Scoring: rank.Scoring{Method: rank.TopMSum, M: 3}}, rank.Aggregate{To: rank.ToParent},
		rank.Aggregate{Scoring: rank.Scoring{Method: rank.RRFPerDoc, K: 60}},
		rank.Tree{Threshold: 0.5, MinMatches: 1}, rank.Tree{Threshold: 0.3, MinMatches: 2, Nested: rank.NestedBoth},
	}
	memories := [4]rank.Memory{}
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		known, all := randomShelf(rng)
		env := rank.Env{Facts: known}
		var legs, anew []rank.Leg
		check := func(step string, got, want sheaf.Ranking, err error) {
			if err != nil || len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s: %s, want %s (%v)", seed, step, written(got), written(want), err)
			}
		}
		for i := range 2 {
			first, second := lifters[rng.IntN(len(lifters))], lifters[rng.IntN(len(lifters))]
			in := randomRanking(rng, all, 1)
			if seed%3 == 0 {
				in = withReasons(in)
			}
			want := apply(t, first, in, env)
			got, err := first.ApplyIn(&memories[i], in, env)
			check("lifted once", got, want, err)
			if seed%2 == 0 { // what is lifted again takes constituents of constituents
				once := want
				want = apply(t, second, once, env)
				again, err := second.ApplyIn(&memories[2], got, env)
				check("lifted twice", again, want, err)
				check("lifted once, later", got, once, nil)
				memories[2].Clear()
				want = once
			}
			legs, anew = append(legs, rank.Leg{Name: "leg", Hits: got, Weight: 1}), append(anew, rank.Leg{Name: "leg", Hits: want, Weight: 1})
		}
		want, err := rank.RRF{K: 60}.Fuse(anew)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rank.RRF{K: 60}.FuseIn(&memories[3], legs, 1_000)
		check("fused", got, want, err)
		for i := range legs {
			check("lifted, later", legs[i].Hits, anew[i].Hits, nil)
		}
		for i := range memories {
			memories[i].Clear()
		}
	}
}

// A sum of shares is, to the last bit, what the legs say one after another.
func TestSumOfShares(t *testing.T) {
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 12))
		_, all := randomShelf(rng)
		legs, ideals := make([]rank.Leg, 3), []float64{rng.Float64() * 9, 0, rng.Float64()}
		norm := [...]rank.Norm{rank.NormShare, rank.NormNone}[seed%2]
		want := map[sheaf.ID]float64{}
		for j := range legs {
			legs[j] = rank.Leg{Name: "leg", Hits: randomRanking(rng, all, rng.Float64()-0.3), Weight: rng.Float64()}
			if seed%5 == 0 && j == 1 {
				legs[j].Weight = 0
			}
			for _, h := range legs[j].Hits {
				x := h.Score
				if norm == rank.NormShare && ideals[j] > 0 {
					x /= ideals[j]
				}
				want[h.ID] += legs[j].Weight * x
			}
		}
		got, err := rank.Scores{Norm: norm, Ideals: ideals}.Fuse(legs)
		if err != nil || len(got) != len(want) || !got.Sorted() {
			t.Fatalf("seed %d: %s (%v)", seed, written(got), err)
		}
		least := 0.0 // of weight 0 alone: behind all others
		counts := func(h sheaf.Hit) bool {
			return slices.ContainsFunc(h.Legs, func(l sheaf.Leg) bool { return l.Rank > 0 })
		}
		for _, h := range got {
			if counts(h) {
				least = min(least, want[h.ID])
			}
		}
		for _, h := range got {
			if !counts(h) {
				want[h.ID] = least
			}
			if h.Score != want[h.ID] {
				t.Fatalf("seed %d: %s scores %v, want %v", seed, h.ID, h.Score, want[h.ID])
			}
		}
	}
}
