package sheaf

import (
	"cmp"
	"math"
	"slices"
)

// Hit is one entry of a ranking.
type Hit struct {
	ID ID
	// Score orders the ranking, higher first. It says nothing about how
	// sure the answer is.
	Score float64
	// Passage is the index of the passage that matched best, for hits of a
	// vector branch; 0 otherwise.
	Passage int
	// Legs are the rank and the raw score that the hit had in every branch
	// before fusion, in the order of the branches; nil before fusion. A
	// branch that did not find it has Rank 0.
	Legs []Leg
	// Constituents are the candidates that this hit stands for after an
	// aggregation, best first, without the hit itself; nil otherwise.
	Constituents []Hit
	// Explanation says how Score came about; nil unless asked for.
	Explanation *Explanation
}

// Leg is where a hit stood in one branch.
type Leg struct {
	Rank  int // from 1; 0 when the branch did not find it
	Score float64
}

// Ranking is a list of hits, best first: by score, ties by the best single
// rank in any leg, then by the earlier leg (see [CompareLegs]), then by ID. The
// rank of a hit is its index plus one. Stages never change the ranking they are given.
type Ranking []Hit

// Compare orders hits as a [Ranking] wants them: negative when a comes first.
func Compare(a, b Hit) int { return compare(&a, &b) } // hits are large: here they are not copied on

func compare(a, b *Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return CompareTied(a, b)
}

// CompareTied orders hits of equal scores as a [Ranking] wants them: negative when a
// comes first.
func CompareTied(a, b *Hit) int {
	if len(a.Legs) > 0 || len(b.Legs) > 0 {
		if c := CompareLegs(a.Legs, b.Legs); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.ID, b.ID)
}

// CompareLegs orders hits of equal scores by where they stood in the legs: by the best single
// rank, then by the rank in the first leg, in the second and so on, in which those that it did
// not find are last. Negative when a comes first, 0 when they stood alike.
func CompareLegs(a, b []Leg) int {
	if c := cmp.Compare(bestRank(a), bestRank(b)); c != 0 {
		return c
	}
	// of 0 the largest number
	return slices.CompareFunc(a, b, func(a, b Leg) int { return cmp.Compare(uint(a.Rank)-1, uint(b.Rank)-1) })
}

func bestRank(legs []Leg) int {
	best := math.MaxInt
	for _, leg := range legs {
		if leg.Rank > 0 && leg.Rank < best {
			best = leg.Rank
		}
	}
	return best
}

// Sorted reports whether r is in the order of a ranking.
func (r Ranking) Sorted() bool {
	for i := 1; i < len(r); i++ {
		if r[i-1].Score > r[i].Score { // as a rule
			continue
		}
		if compare(&r[i-1], &r[i]) > 0 {
			return false
		}
	}
	return true
}

// Sort brings r into the order of a ranking, in place.
func (r Ranking) Sort() {
	if r.Sorted() {
		return
	}
	type key struct { // hits are large: scores and places are sorted in their stead
		score float64
		at    int
	}
	keys := make([]key, len(r))
	for i := range r {
		keys[i] = key{r[i].Score, i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Or(CompareTied(&r[a.at], &r[b.at]), cmp.Compare(a.at, b.at))
	})
	for i := range r { // move each cycle of places
		first, to := r[i], i
		for keys[to].at != i {
			from := keys[to].at
			r[to], keys[to].at = r[from], to
			to = from
		}
		r[to], keys[to].at = first, to
	}
}

// Valid returns an error that wraps [ErrInvalid] when a score of r is NaN or
// infinite; source names who made the ranking.
func (r Ranking) Valid(source string) error {
	for i := range r { // hits are large
		if h := &r[i]; math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
			return Invalidf("%s: score of %q at rank %d is %v: must be a finite number", source, h.ID, i+1, h.Score)
		}
	}
	return nil
}
