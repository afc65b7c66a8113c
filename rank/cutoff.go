package rank

import (
	"sheaf"
)

// Top keeps the first N hits.
type Top struct{ N int }

// Apply implements [Stage].
func (t Top) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) { return alone(t, in, env) }

func (t Top) work(r *Row, _ Env) error {
	if t.N < 0 {
		return sheaf.Invalidf("top: n is %d: must be 0 or more", t.N)
	}
	if err := r.valid("top"); err != nil {
		return err
	}
	r.cut(t.N)
	return nil
}

// Elbow cuts where scores fall off: before the first hit whose score is less
// than Ratio times that of the hit before it, and after Max hits at the
// latest. A score of 0 or less cuts before it. A lone hit stays, whatever its
// score (unless Max is 0).
//
// Example, Ratio 0.5: of 8, 7.5, 7, 3.2, 3 the first three stay, as 3.2/7 is
// 0.46; a ratio of exactly 0.5 does not cut.
//
// Source: the chunking specification's phase 2.
type Elbow struct {
	Ratio float64 // 0..1; 0 cuts only at scores of 0 and less
	Max   int
}

// Apply implements [Stage].
func (e Elbow) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) { return alone(e, in, env) }

func (e Elbow) work(r *Row, _ Env) error {
	if err := firstError(within("elbow", "ratio", e.Ratio, 0, 1), r.valid("elbow")); err != nil {
		return err
	}
	if e.Max < 0 {
		return sheaf.Invalidf("elbow: max is %d: must be 0 or more", e.Max)
	}
	keys := r.inOrder()
	r.cut(min(e.find(len(keys), func(i int) float64 { return keys[i].score }), e.Max))
	return nil
}

// Find is the number of hits before the elbow; all of them when there is none.
func (e Elbow) Find(in sheaf.Ranking) int {
	return e.find(len(in), func(i int) float64 { return in[i].Score })
}

func (e Elbow) find(n int, score func(i int) float64) int {
	if n < 2 {
		return n
	}
	for i := range n - 1 {
		current, next := score(i), score(i+1)
		switch {
		case current <= 0:
			return i
		case next <= 0, next/current < e.Ratio:
			return i + 1
		}
	}
	return n
}

// prefix is the ranking of the first n hits.
func prefix(in sheaf.Ranking, n int) sheaf.Ranking {
	n = min(n, len(in))
	return in[:n:n]
}
