package sheaf_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/must"
)

// TestSortEqualsCompare checks that Sort equals a stable sort by Compare, also with equal scores,
// ranks and IDs, and with NaN.
func TestSortEqualsCompare(t *testing.T) {
	scores := []float64{0, math.Copysign(0, -1), 1, 1.5, -2, math.Inf(1), math.NaN()}
	rapid.Check(t, func(t *rapid.T) {
		hit := rapid.Custom(func(t *rapid.T) sheaf.Hit {
			h := sheaf.Hit{ID: sheaf.ID(rapid.StringMatching("[ab]{1,2}").Draw(t, "id")),
				Score: rapid.SampledFrom(scores).Draw(t, "score"), Passage: rapid.IntRange(0, 1000).Draw(t, "passage")}
			for _, rank := range rapid.SliceOfN(rapid.IntRange(0, 3), 0, 2).Draw(t, "legs") {
				h.Legs = append(h.Legs, sheaf.Leg{Rank: rank})
			}
			return h
		})
		r := sheaf.Ranking(rapid.SliceOf(hit).Draw(t, "hits"))
		want := slices.Clone(r)
		slices.SortStableFunc(want, sheaf.Compare)
		r.Sort()
		for i := range r {
			must.Equal(t, math.Float64bits(r[i].Score), math.Float64bits(want[i].Score),
				"bits of score %d", i)
			r[i].Score, want[i].Score = 0, 0
			must.That(t, reflect.DeepEqual(r[i], want[i]), "hit %d is %+v, want %+v", i, r[i], want[i])
		}
	})
}
