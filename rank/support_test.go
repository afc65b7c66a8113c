package rank_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
	"sheaf/rank"
)

func supported(t *testing.T, s rank.Support, in sheaf.Ranking) sheaf.Ranking {
	t.Helper()
	out, err := s.Apply(in, rank.Env{Facts: alone{}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSupport(t *testing.T) {
	in := scored("a#1 b#1 b#2 b#3 c#1", .82, .8, .6, .4, .1)
	out := supported(t, rank.Support{Strength: 0.2, Each: 0.5, Among: 10}, in)
	// b has .6 and .4 beside its best: 0.2 x (1 - 0.7 x 0.8) = 0.088.
	want := map[sheaf.ID]float64{"a#1": .82, "b#1": .888, "b#2": .688, "b#3": .488, "c#1": .1}
	var order []sheaf.ID
	for i := range out {
		h := &out[i]
		order = append(order, h.ID)
		if math.Abs(h.Score-want[h.ID]) > 1e-12 {
			t.Errorf("%s scores %v, want %v", h.ID, h.Score, want[h.ID])
		}
		if got := h.Explanation.Recombine(); math.Abs(got-h.Score) > 1e-12 {
			t.Errorf("the explanation of %s gives %v, its score is %v", h.ID, got, h.Score)
		}
	}
	if !slices.Equal(order, []sheaf.ID{"b#1", "a#1", "b#2", "b#3", "c#1"}) {
		t.Errorf("order %v", order)
	}
	if in[0].ID != "a#1" || in[1].Score != .8 {
		t.Error("the ranking that was given changed")
	}
	// Only b#1 is among the first two: nothing supports it.
	for i, h := range supported(t, rank.Support{Strength: 0.2, Each: 0.5, Among: 2}, in) {
		if h.ID != in[i].ID || h.Score != in[i].Score {
			t.Errorf("among 2: %s scores %v, want %s %v", h.ID, h.Score, in[i].ID, in[i].Score)
		}
	}
}

// TestSupportKeepsOrderWithinDocuments holds it to what it promises: hits of one
// document move by the same amount, never down and never by more than Strength.
func TestSupportKeepsOrderWithinDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		var in sheaf.Ranking
		for i := range 1 + r.IntN(40) {
			id := sheaf.ID(string(rune('a'+r.IntN(6))) + "#" + string(rune('A'+i)))
			in = append(in, sheaf.Hit{ID: id, Score: r.Float64()*3 - 1})
		}
		in.Sort()
		before := map[sheaf.ID]float64{}
		for _, h := range in {
			before[h.ID] = h.Score
		}
		s := rank.Support{Strength: r.Float64(), Each: r.Float64(), Among: 1 + r.IntN(50)}
		moved := map[byte]float64{}
		for _, h := range supported(t, s, in) {
			by := h.Score - before[h.ID]
			if by < -1e-12 || by > s.Strength+1e-12 {
				t.Fatalf("%+v: %s moved by %v", s, h.ID, by)
			}
			if other, seen := moved[h.ID[0]]; seen && math.Abs(other-by) > 1e-12 {
				t.Fatalf("%+v: %s moved by %v, another of its document by %v", s, h.ID, by, other)
			}
			moved[h.ID[0]] = by
		}
	}
}

func TestSupportRefuses(t *testing.T) {
	for _, s := range []rank.Support{{Strength: -1, Each: .5, Among: 1}, {Strength: 1, Each: 1.5, Among: 1}, {Strength: 1, Each: .5}, {Strength: math.NaN(), Each: .5, Among: 1}} {
		if _, err := s.Apply(scored("a", 1), rank.Env{Facts: alone{}}); !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", s, err)
		}
	}
	if _, err := (rank.Support{Strength: 1, Each: .5, Among: 1}).Apply(scored("a", 1), rank.Env{}); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("without facts: %v, want ErrInvalid", err)
	}
}
