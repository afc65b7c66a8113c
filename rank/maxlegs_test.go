package rank_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/rank"
)

// TestMaxLegs checks that the larger of two legs has each hit once, with its largest score, in ranking order.
func TestMaxLegs(t *testing.T) {
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		_, all := randomShelf(rng)
		a, b := randomRanking(rng, all, 1), randomRanking(rng, all, 1)
		if seed%3 == 0 {
			for _, leg := range []sheaf.Ranking{a, b} {
				rng.Shuffle(len(leg), func(i, j int) { leg[i], leg[j] = leg[j], leg[i] })
			}
		}
		if seed%4 == 0 && len(b) > 0 { // the same hit twice, perhaps with a larger score
			again := b[rng.IntN(len(b))]
			again.Score += float64(rng.IntN(3) - 1)
			b = append(b, again)
		}
		want := sheaf.Ranking{}
		for _, leg := range []sheaf.Ranking{a, b} {
		hits:
			for _, h := range leg {
				for i := range want {
					if want[i].ID == h.ID {
						if h.Score > want[i].Score {
							want[i] = h
						}
						continue hits
					}
				}
				want = append(want, h)
			}
		}
		want.Sort()
		got := rank.MaxLegs(rank.Leg{Hits: a}, rank.Leg{Hits: b}).Hits
		must.That(t, reflect.DeepEqual(got, want), "seed %d: %s, want %s", seed, written(got), written(want))
	}
}
