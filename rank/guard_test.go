package rank_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/rank"
)

// alone has every chunk in a document of its own, or, of "doc#part", in doc.
type alone struct{ rank.Facts }

func (alone) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	doc, _, _ := strings.Cut(string(id), "#")
	return sheaf.Chunk{ID: id, Doc: sheaf.ID(doc)}, true
}

func guarded(t interface {
	Helper()
	Fatal(args ...any)
}, n int, in sheaf.Ranking, rare string) sheaf.Ranking {
	t.Helper()
	out, err := rank.Guard{Rank: n}.Apply(in, rank.Env{Facts: alone{}, Rare: func(id sheaf.ID) bool { return slices.Contains(strings.Fields(rare), string(id)) }})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func scored(text string, scores ...float64) sheaf.Ranking {
	var r sheaf.Ranking
	for i, id := range strings.Fields(text) {
		r = append(r, sheaf.Hit{ID: sheaf.ID(id), Score: scores[i], Explanation: &sheaf.Explanation{Label: "score", Value: scores[i]}})
	}
	return r
}

func TestGuard(t *testing.T) {
	in := scored("A B C D E", .9, .8, .3, .1, .05)
	for _, c := range []struct {
		rank       int
		rare, want string
	}{
		{2, "D", "A D B C E"},
		{2, "D E", "D E A B C"},
		{3, "C D", "A C D B E"},
		{3, "B E", "A B E C D"},
		{2, "C D E", "A B C D E"}, // too many to be rare
		{3, "A", "A B C D E"},
		{5, "E", "A B C D E"},
		{2, "", "A B C D E"},
	} {
		out := guarded(t, c.rank, in, c.rare)
		var got []string
		for _, h := range out {
			got = append(got, string(h.ID))
			if r := h.Explanation.Recombine(); math.Abs(r-h.Score) > 1e-9 {
				t.Errorf("rank %d, %s: %s scores %v and is explained by %v", c.rank, c.rare, h.ID, h.Score, r)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("rank %d, rare %q: %v, want %s", c.rank, c.rare, got, c.want)
		}
	}
	if out := guarded(t, 2, in, "D"); math.Abs(out[1].Score-.85) > 1e-12 {
		t.Errorf("D scores %v", out[1].Score)
	}
	// Of a document only the best hit is held.
	if out := guarded(t, 2, scored("A B D#1 D#2 C", .9, .8, .3, .1, .05), "D#1 D#2"); out[1].ID != "D#1" || out[2].ID != "B" || out[3].ID != "D#2" {
		t.Errorf("parts of a document: %v", out)
	}
	if _, err := (rank.Guard{}).Apply(in, rank.Env{}); err == nil {
		t.Error("rank 0 is no error")
	}
}

// TestGuardHolds: what holds the rare words stands where it is promised, scores
// fall, nothing is lost and the input stays as it was.
func TestGuardHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		var in sheaf.Ranking
		score := 10.0
		for i := range n {
			score -= rapid.Float64Range(0.001, 1).Draw(t, "gap")
			in = append(in, sheaf.Hit{ID: sheaf.ID(rune('a' + i)), Score: score})
		}
		g := rapid.IntRange(1, 12).Draw(t, "rank")
		var rare []string
		for _, h := range in {
			if rapid.IntRange(0, 5).Draw(t, "rare") == 0 {
				rare = append(rare, string(h.ID))
			}
		}
		before := slices.Clone(in)
		out := guarded(t, g, in, strings.Join(rare, " "))
		if len(out) != n || !slices.EqualFunc(in, before, func(a, b sheaf.Hit) bool { return a.ID == b.ID && a.Score == b.Score }) {
			t.Fatalf("%d hits of %d, or the input changed", len(out), n)
		}
		for i := range out {
			if i > 0 && out[i].Score > out[i-1].Score {
				t.Fatalf("scores rise at %d: %v", i, out)
			}
			if i >= g && len(rare) <= g && slices.Contains(rare, string(out[i].ID)) {
				t.Fatalf("%s stands at %d, below %d", out[i].ID, i+1, g)
			}
		}
	})
}

// A stage that makes a score infinite is an error, not the next one's.
func TestGuardOverflow(t *testing.T) {
	in := scored("A B C", math.MaxFloat64, -math.MaxFloat64, -math.MaxFloat64)
	env := rank.Env{Facts: alone{}, Rare: func(id sheaf.ID) bool { return id == "C" }}
	if out, err := (rank.Guard{Rank: 2}).Apply(in, env); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), `"C"`) {
		t.Errorf("%v, error %v: want one that names C", out, err)
	}
}
