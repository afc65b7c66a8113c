package rank

import (
	"math"
	"slices"

	"sheaf"
)

// pointwise is a stage that looks at each hit by itself, and not at where it stands:
// of several in a row, hits have to be put in order once.
type pointwise interface {
	Stage
	each(env Env) (boosting, error)
}

// applyEach is Apply of a pointwise stage.
func applyEach(s pointwise, in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	b, err := s.each(env)
	if err != nil {
		return nil, err
	}
	return b.apply(in)
}

// Together applies several stages at once where that gives what they give one after
// another, to the last bit, and takes less: boosts that look at each hit by itself,
// and a [Top] after them, whose hits alone are made. It returns how many of stages, from
// the first on, it applied; 0 says that the first is to be applied by itself. Hits with
// explanations are, since these tell of every stage.
func Together(in sheaf.Ranking, stages []Stage, env Env) (out sheaf.Ranking, applied int) {
	var row []boosting
	for _, s := range stages {
		p, ok := s.(pointwise)
		if !ok {
			break
		}
		b, err := p.each(env)
		if err != nil || b.valid() != nil {
			return nil, 0 // Apply says what is wrong
		}
		row = append(row, b)
	}
	applied, n := len(row), len(in)
	if applied > 0 && applied < len(stages) {
		if top, ok := stages[applied].(Top); ok && top.N >= 0 {
			n = min(n, top.N)
			applied++
		}
	}
	if applied < 2 || explained(in) {
		return nil, 0
	}
	// Chunks first, then what is told of them: it lies far apart in memory, and a short
	// loop waits for several at a time.
	scores, chunks := make([]float64, len(in)), make([]*sheaf.Node, len(in))
	for i := range in {
		chunks[i] = nodeOf(env.Facts, in[i].ID)
	}
	for i := range in {
		h := &in[i]
		score := h.Score
		for k := range row {
			if f, ok := row[k].factor(h, chunks[i]); ok {
				score = row[k].blend.apply(score, f.value)
			}
			if math.IsNaN(score) || math.IsInf(score, 0) {
				return nil, 0
			}
		}
		scores[i] = score
	}
	return rescored(in, scores, nil, n), applied
}

// rescoredKey is what is moved while hits, which are large, are put in order: a score
// and a place.
type rescoredKey struct {
	score float64
	at    int32
}

// merged is two lists in order as one, behind the first in its memory where that is
// enough.
func merged(a, b []rescoredKey, compare func(a, b rescoredKey) int) []rescoredKey {
	out := a[len(a):]
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// rescored is the first n hits of in, in order with these scores and, unless nil,
// these explanations.
func rescored(in sheaf.Ranking, scores []float64, why []*sheaf.Explanation, n int) sheaf.Ranking {
	compare := func(a, b rescoredKey) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		if c := sheaf.CompareTied(&in[a.at], &in[b.at]); c != 0 {
			return c
		}
		return int(a.at) - int(b.at)
	}
	// Hits that keep their scores are in order among themselves, as a rule.
	keys := make([]rescoredKey, 0, 2*len(in))
	var moved []rescoredKey
	sorted := true
	for i := range in {
		k := rescoredKey{scores[i], int32(i)}
		if scores[i] != in[i].Score {
			moved = append(moved, k)
			continue
		}
		sorted = sorted && (len(keys) == 0 || compare(keys[len(keys)-1], k) < 0)
		keys = append(keys, k)
	}
	if sorted && len(moved) < len(in)/2 {
		slices.SortFunc(moved, compare)
		keys = merged(keys, moved, compare)
	} else {
		keys = append(keys, moved...)
		sortFirst(keys, n, compare)
	}
	out := make(sheaf.Ranking, n)
	for i, k := range keys[:n] {
		out[i] = in[k.at]
		out[i].Score = k.score
		if why != nil {
			out[i].Explanation = why[k.at]
		}
	}
	return out
}
