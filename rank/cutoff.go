package rank

import "sheaf"

// Top keeps the first N hits.
type Top struct{ N int } // 0 or more

// Apply implements [Stage].
func (t Top) Apply(in sheaf.Ranking, _ Env) (sheaf.Ranking, error) {
	if err := in.Valid("top"); err != nil {
		return nil, err
	}
	return prefix(in, t.N), nil
}

// Elbow cuts where scores drop. It cuts before a score that is 0 or less, or less than Ratio times the previous
// score. It keeps at most Max hits. A single hit stays, unless Max is 0.
//
// Example, Ratio 0.5: of the scores 8, 7.5, 7, 3.2, 3 it keeps three, because 3.2/7 is 0.46. After a score of 7, it
// would keep a score of 3.5.
//
// Source: the chunking specification's phase 2.
type Elbow struct {
	Ratio float64 // 0..1; 0 cuts only at scores of 0 and less
	Max   int     // 0 or more
}

// Apply implements [Stage].
func (e Elbow) Apply(in sheaf.Ranking, _ Env) (sheaf.Ranking, error) {
	if err := in.Valid("elbow"); err != nil {
		return nil, err
	}
	return prefix(in, min(e.Find(in), e.Max)), nil
}

// Find returns the number of hits before the elbow. Without an elbow, this is the number of all hits.
func (e Elbow) Find(in sheaf.Ranking) int {
	for i := 0; i < len(in)-1; i++ {
		switch {
		case in[i].Score <= 0:
			return i
		case in[i+1].Score <= 0, in[i+1].Score/in[i].Score < e.Ratio:
			return i + 1
		}
	}
	return len(in)
}

func prefix(in sheaf.Ranking, n int) sheaf.Ranking {
	n = min(n, len(in))
	return in[:n:n]
}
