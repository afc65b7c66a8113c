package rank

import (
	"math"

	"sheaf"
)

// lone is what a fusion gives of a single leg when score keeps its order: its first n
// hits as they stand, without gathering and sorting all. False says that the order of
// the leg is not that of its scores, that a score is no finite number, or that hits have
// reasons or constituents to carry on; then nothing was done. byRank says that score
// looks at ranks alone, so that the leg may be in any order.
func lone(in *Memory, legs []Leg, n int, byRank bool, score func(leg sheaf.Leg) float64) (sheaf.Ranking, bool) {
	if len(legs) != 1 || legs[0].Weight == 0 || len(legs[0].Hits) == 0 {
		return nil, false
	}
	leg := &legs[0]
	before := math.Inf(1)
	for i := range leg.Hits {
		h := &leg.Hits[i]
		if !finite(h.Score) || !byRank && h.Score > before || h.Explanation != nil || h.Constituents != nil {
			return nil, false
		}
		before = h.Score
	}
	// The others lie between these two.
	if !finite(score(sheaf.Leg{Rank: 1, Score: leg.Hits[0].Score})) || !finite(score(sheaf.Leg{Rank: len(leg.Hits), Score: before})) {
		return nil, false
	}
	n = max(0, min(n, len(leg.Hits)))
	out, places := in.ranking(n, n)
	out = out[:0]
	var which identity
	which.identify(legs...)
	defer which.release()
	for i := 0; i < len(leg.Hits) && len(out) < n; i++ {
		if _, added := which.place(leg, i); !added {
			continue // an ID that occurs again has its best rank
		}
		from, place := &leg.Hits[i], places[len(out):len(out)+1:len(out)+1]
		place[0] = sheaf.Leg{Rank: len(out) + 1, Score: from.Score}
		out = append(out, sheaf.Hit{ID: from.ID, Score: score(place[0]), Passage: from.Passage, Legs: place})
	}
	return out, true
}
