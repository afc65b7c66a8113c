package rank_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/rank"
)

// What stages give in a row is what they give one after another, to the last bit, with
// explanations and without, and no ranking is changed.
func TestRow(t *testing.T) {
	stages := slices.Concat(every, []rank.Stage{rank.Recency{Decay: 0.5, Floor: 0.75}, rank.PropertyBoost{Name: "boost"}, rank.HeadingBoost{Max: 1.3, Decay: 0.9, Blend: rank.Add},
		rank.Names{Document: 0.4, Heading: 0.2, Title: 2}, rank.Top{N: 2}, rank.Top{N: 50}, rank.PerDocument{Max: 1}, rank.Elbow{Ratio: 0.1, Max: 20},
		rank.WordPairs{Strength: 0.4, Hits: 3}})
	applied := 0
	var memory rank.Memory
	for seed := range uint64(3_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		l, all := randomShelf(rng)
		env := rank.Env{Facts: l, Now: now, Query: "A", Named: lettersOf("A"), Pairs: someHave}
		in := randomRanking(rng, all, []float64{1, 0.01, 1000}[seed%3])
		if seed%2 == 0 {
			in = withReasons(in)
		}
		before := slices.Clone(in)
		row, want := rank.NewRow(in), in
		var done []rank.Stage
		for range 2 + rng.IntN(5) {
			s := stages[rng.IntN(len(stages))]
			ok, err := row.Apply(s, env)
			if err != nil {
				t.Fatalf("seed %d: %T: %v", seed, s, err)
			}
			if !ok {
				break
			}
			done, want = append(done, s), apply(t, s, want, env)
		}
		if len(done) > 1 {
			applied++
		}
		var got sheaf.Ranking
		if seed%4 < 2 {
			got = row.Ranking()
		} else {
			memory.Clear()
			got = row.RankingIn(&memory)
		}
		if !slices.EqualFunc(want, got, func(a, b sheaf.Hit) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("seed %d, %+v: %s, want %s", seed, done, written(got), written(want))
		}
		if !reflect.DeepEqual(in, before) {
			t.Fatalf("seed %d, %+v: the ranking that came in has changed", seed, done)
		}
	}
	if applied < 500 {
		t.Errorf("%d times stages were applied in a row", applied)
	}
}

// A hit that a row has cut is in no document: where a document is unknown, the hits that
// are left tell its number.
func TestRowForgetsWhatItCut(t *testing.T) {
	l := newShelf()
	l.add("t:A", "1")
	l.add("t:B", "1", "2")
	delete(l.chunks, "t:B")
	env := rank.Env{Facts: l, Query: "nothing"}
	in := ranking(hit("t:A#1", 5), hit("t:B", 4), hit("t:B#1", 3), hit("t:B#2", 2))
	row, want := rank.NewRow(in), in
	for _, s := range []rank.Stage{rank.Names{Title: 2, Alias: 1.5, Equal: 1.2}, rank.Top{N: 3}, rank.PerDocument{Max: 1}} {
		if ok, err := row.Apply(s, env); !ok || err != nil {
			t.Fatal(ok, err)
		}
		want = apply(t, s, want, env)
	}
	equal(t, "in a row", ids(row.Ranking()), ids(want))
	equal(t, "one after another", ids(want), []sheaf.ID{"t:A#1", "t:B"})
}

// A score that a stage makes 0 of is that, also where it was -0 and compares as equal.
func TestRowKeepsTheSignOfZero(t *testing.T) {
	l := newShelf()
	id := l.add("t:a.md").ID
	out := apply(t, rank.HeadingBoost{Max: 1, Decay: 1, Blend: rank.Add}, sheaf.Ranking{hit(id, math.Copysign(0, -1))}, rank.Env{Facts: l})
	if got := out[0].Score; got != 0 || math.Signbit(got) {
		t.Errorf("-0 + (1 - 1) is %v, want 0", got)
	}
}

// Every stage that works on rows tells of a score that the row began with, also when it
// is not the first.
func TestRowTellsOfScores(t *testing.T) {
	l := newShelf()
	a, b := l.add("t:a.md").ID, l.add("t:b.md").ID
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		row := rank.NewRow(sheaf.Ranking{hit(a, 1), hit(b, bad)})
		for _, s := range []rank.Stage{rank.Top{N: 2}, rank.AsSimilarity{}, rank.HeadingBoost{Max: 1, Decay: 1}} {
			if _, err := row.Apply(s, rank.Env{Facts: l}); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), string(b)) {
				t.Errorf("%T, score %v: error %v, want one that names %s", s, bad, err, b)
			}
		}
		row.Release()
		row = rank.NewRow(sheaf.Ranking{hit(a, 1)}) // maybe in the same memory
		if _, err := row.Apply(rank.Top{N: 2}, rank.Env{}); err != nil {
			t.Errorf("after score %v: %v", bad, err)
		}
		row.Release()
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
	var memory [2]rank.Memory // which serve again
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
		if again, err := f.FuseIn(&memory[0], legs, n); err != nil || len(again) != len(first) || len(first) > 0 && !reflect.DeepEqual(again, first) {
			t.Fatalf("seed %d, %+v in memory: %s, want %s (%v)", seed, f, written(again), written(first), err)
		}
		if seed%3 == 0 {
			memory[0].Clear()
		}
		numbers := map[sheaf.ID]int32{}
		for i := range legs {
			legs[i].Numbers = []int32{}
			for _, h := range legs[i].Hits {
				if _, ok := numbers[h.ID]; !ok {
					numbers[h.ID] = int32(3 * len(numbers)) // with gaps
				}
				legs[i].Numbers = append(legs[i].Numbers, numbers[h.ID])
			}
		}
		if byNumber, err := f.Fuse(legs); err != nil || !reflect.DeepEqual(byNumber, whole) {
			t.Fatalf("seed %d, %+v by numbers: %s, want %s (%v)", seed, f, written(byNumber), written(whole), err)
		}
		if len(legs) > 1 {
			larger := rank.MaxLegs(&memory[1], legs[0], legs[1])
			a, b := legs[0], legs[1]
			a.Numbers, b.Numbers = nil, nil
			if want := rank.MaxLegs(nil, a, b); !reflect.DeepEqual(larger.Hits, want.Hits) || want.Numbers != nil {
				t.Fatalf("seed %d, larger by numbers: %s, want %s", seed, written(larger.Hits), written(want.Hits))
			}
			for i, h := range larger.Hits {
				if larger.Numbers[i] != numbers[h.ID] {
					t.Fatalf("seed %d: the larger of two legs has other numbers", seed)
				}
			}
		}
		if whole = whole[:min(n, len(whole))]; len(first) != len(whole) || len(whole) > 0 && !reflect.DeepEqual(whole, first) {
			t.Fatalf("seed %d, %+v, first %d: %s, want %s", seed, f, n, written(first), written(whole))
		}
	}
}
