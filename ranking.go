package sheaf

import (
	"cmp"
	"math"
	"slices"
)

// Hit is one entry of a ranking: a chunk or document with its score.
type Hit struct {
	ID ID
	// Score gives the order of hits: a higher score comes first. It is not a confidence.
	Score float64
	// Passage is the index, from 0, of the chunk's best passage if a vector branch found the hit. Otherwise it is 0.
	Passage int
	// Legs has the rank and the raw score of the hit in every branch, in branch order. Rank is 0 for a branch that did
	// not find the hit. Fusion sets Legs; before fusion it is nil.
	Legs []Leg
	// Constituents are the hits that an aggregation merged into this hit, best first. The hit itself is not among them.
	Constituents []Hit
	// Explanation says how Score was computed; nil unless requested.
	Explanation *Explanation
}

// Leg is the rank and the raw score of a hit in one branch.
type Leg struct {
	Rank  int // from 1; 0 when the branch did not find it
	Score float64
}

// Ranking is a list of hits, best first. The higher score comes first. [CompareLegs] orders hits with equal scores, and
// the ID orders hits with equal legs. A hit's rank is its index plus one. Stages never change their input.
type Ranking []Hit

// Compare compares hits in the order that [Ranking.Sort] makes. It returns a negative number if a comes first.
func Compare(a, b Hit) int { return compare(&a, &b) } // pointers, because hits are large

func compare(a, b *Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	if c := CompareLegs(a.Legs, b.Legs); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// CompareLegs compares hits with equal scores by their legs. It first compares the best rank in any leg, then the
// ranks in the first leg, and so on. A hit that a leg did not find is last in that leg. The result is negative if a
// comes first, and 0 if all ranks are equal.
func CompareLegs(a, b []Leg) int {
	if c := cmp.Compare(bestRank(a), bestRank(b)); c != 0 {
		return c
	}
	// uint(0)-1 is the largest number, so rank 0 comes last
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

// Sorted reports whether r is in the order that [Ranking.Sort] makes.
func (r Ranking) Sorted() bool {
	for i := 1; i < len(r); i++ {
		if compare(&r[i-1], &r[i]) > 0 {
			return false
		}
	}
	return true
}

// Sort sorts r in place: higher scores first, then by [CompareLegs], then by ID.
func (r Ranking) Sort() {
	if r.Sorted() {
		return
	}
	type key struct { // sort small keys, because hits are large
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
		return cmp.Or(compare(&r[a.at], &r[b.at]), cmp.Compare(a.at, b.at))
	})
	for start := range keys { // move the hits of one cycle of the permutation
		first, to := r[start], start
		for from := keys[to].at; from != start; to, from = from, keys[from].at {
			r[to], keys[to].at = r[from], to
		}
		r[to], keys[to].at = first, to
	}
}

// Valid returns an error that wraps [ErrInvalid] if a score in r is NaN or infinite. The error names source.
func (r Ranking) Valid(source string) error {
	for i := range r { // no copies, because hits are large
		if h := &r[i]; math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
			return Invalidf("%s: score of %q at rank %d is %v: must be a finite number", source, h.ID, i+1, h.Score)
		}
	}
	return nil
}
