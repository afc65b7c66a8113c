package rank_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sheaf"
	"sheaf/rank"
)

// What stages give together is what they give one after another, to the last bit,
// and stages that look at more than one hit are left alone.
func TestTogether(t *testing.T) {
	stages := slices.Concat(every, []rank.Stage{rank.Recency{Decay: 0.5, Floor: 0.75}, rank.PropertyBoost{Name: "boost"}, rank.HeadingBoost{Max: 1.3, Decay: 0.9, Blend: rank.Add},
		rank.TitleBoost{Title: 2, Alias: 1.5, Heading: 1.2}, rank.Top{N: 2}, rank.Top{N: 50}})
	applied := 0
	for seed := range uint64(3_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		l, all := randomShelf(rng)
		env := rank.Env{Facts: l, Now: now, Query: "A"}
		in := randomRanking(rng, all, []float64{1, 0.01, 1000}[seed%3])
		var row []rank.Stage
		for range 2 + rng.IntN(4) {
			row = append(row, stages[rng.IntN(len(stages))])
		}
		got, n := rank.Together(in, row, env)
		if n == 0 {
			continue
		}
		applied++
		want := in
		for _, s := range row[:n] {
			want = apply(t, s, want, env)
		}
		if !slices.EqualFunc(want, got, func(a, b sheaf.Hit) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("seed %d, %+v: %s, want %s", seed, row[:n], written(got), written(want))
		}
		if _, n := rank.Together(withReasons(in), row, env); n != 0 && len(in) > 0 {
			t.Fatalf("seed %d: hits with explanations lose those of some stages", seed)
		}
	}
	if applied < 50 {
		t.Errorf("%d times stages were applied together", applied)
	}
}

// The first hits of a fusion are those of the whole fusion.
func TestFuseTop(t *testing.T) {
	fusions := []rank.Fusion{rank.RRF{K: 60}, rank.RRF{K: 1, Unit: true, Repeats: true}}
	for norm := rank.NormNone; norm <= rank.NormShare; norm++ {
		for mean := rank.MeanSum; mean <= rank.MeanRSS; mean++ {
			fusions = append(fusions, rank.Scores{Norm: norm, Mean: mean})
		}
	}
	for seed := range uint64(1_000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		_, all := randomShelf(rng)
		var legs []rank.Leg
		for i := range 1 + rng.IntN(4) {
			legs = append(legs, rank.Leg{Name: fmt.Sprint("leg ", i), Hits: randomRanking(rng, all, 1), Weight: 1 + float64(rng.IntN(3))/7})
			if seed%2 == 0 {
				legs[i].Hits = withReasons(legs[i].Hits)
			}
		}
		f, n := fusions[rng.IntN(len(fusions))], rng.IntN(30)
		whole, err := f.Fuse(legs)
		if err != nil {
			t.Fatal(err)
		}
		first, err := f.FuseTop(legs, n)
		if err != nil {
			t.Fatal(err)
		}
		if whole = whole[:min(n, len(whole))]; len(first) != len(whole) || len(whole) > 0 && !reflect.DeepEqual(whole, first) {
			t.Fatalf("seed %d, %+v, first %d: %s, want %s", seed, f, n, written(first), written(whole))
		}
	}
}
