package rank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"sheaf"
)

// What is made of one leg alone is what any legs give, to the last bit, faults too.
func TestLoneLegIsFusedAsAny(t *testing.T) {
	for seed := range uint64(5_000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		leg := Leg{Name: "words", Weight: []float64{1, 0.3, 1e-300, 1e300}[rng.IntN(4)]}
		for i := range rng.IntN(30) {
			h := sheaf.Hit{ID: sheaf.ID(fmt.Sprint("t:", rng.IntN(25))), Score: float64(20-i) / 7, Passage: rng.IntN(3)}
			switch rng.IntN(60) {
			case 0:
				h.Score = math.NaN()
			case 1:
				h.Score = -math.MaxFloat64
			case 2:
				h.Score = math.Copysign(0, -1)
			case 3:
				h.Score *= 3 // out of order
			case 4:
				h.Explanation = &sheaf.Explanation{Label: "why", Value: h.Score}
			case 5:
				h.Constituents = []sheaf.Hit{{ID: "t:inside", Score: 1}}
			case 6, 7, 8, 9:
				h.Score = 2 // ties
			}
			leg.Hits = append(leg.Hits, h)
		}
		if seed%2 == 0 {
			leg.Hits.Sort()
		}
		if seed%3 == 0 {
			numbers := map[sheaf.ID]int32{}
			for _, h := range leg.Hits {
				if _, ok := numbers[h.ID]; !ok {
					numbers[h.ID] = int32(len(numbers))
				}
				leg.Numbers = append(leg.Numbers, numbers[h.ID])
			}
		}
		n, legs := rng.IntN(40), []Leg{leg}
		same := func(what string, got sheaf.Ranking, err error, want sheaf.Ranking, wanted error) {
			if fmt.Sprint(err) != fmt.Sprint(wanted) || !reflect.DeepEqual(exact(got), exact(want)) {
				t.Fatalf("seed %d, %s, first %d:\ngot  %+v (%v)\nwant %+v (%v)", seed, what, n, got, err, want, wanted)
			}
		}
		rrf := RRF{K: 60, Unit: rng.IntN(2) == 0, Repeats: rng.IntN(4) == 0}
		best := 1.0
		if rrf.Unit {
			best = leg.Weight / 61
		}
		got, err := rrf.FuseTop(legs, n)
		want, wanted := rrf.fuseTop(nil, legs, n, best)
		same("rrf", got, err, want, wanted)
		for mean := MeanSum; mean <= MeanRSS; mean++ {
			scores := Scores{Mean: mean}
			got, err := scores.FuseTop(legs, n)
			want, wanted := scores.fuseTop(nil, legs, n, leg.Weight)
			same(fmt.Sprint("mean ", mean), got, err, want, wanted)
		}
	}
}

// exact are hits with their scores as bits, so that numbers that are none are equal and
// zeros differ by sign.
func exact(hits sheaf.Ranking) (out []any) {
	for _, h := range hits {
		score := math.Float64bits(h.Score)
		h.Score = 0
		out = append(out, score, h)
	}
	return out
}
