package rank

import (
	"fmt"

	"sheaf"
)

// Guard keeps what holds every rare word of the query in sight: who types a rare
// name, a number or an identifier wants what has it, whatever meaning says. When
// at most Rank documents among the hits hold all of the rare words, the best hit
// of each stands among the first Rank; those that stood below take the last of
// these places, in their order, with scores between their new neighbors. Nothing
// changes when the query has no rare words, or when more documents hold them.
//
// Example, Rank 2: of A .9, B .8, C .3, D .1, where D alone holds them, A, D, B,
// C: D scores .85.
type Guard struct{ Rank int }

// Apply implements [Stage]. Without [Env.Rare] the ranking stays as it is.
func (g Guard) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "guard"
	if g.Rank < 1 || g.Rank > 1000 {
		return nil, sheaf.Invalidf("%s: rank is %d: must be within 1..1000", stage, g.Rank)
	}
	if err := in.Valid(stage); err != nil {
		return nil, err
	}
	if env.Rare == nil || len(in) <= g.Rank {
		return in, nil
	}
	if err := env.needFacts(stage); err != nil {
		return nil, err
	}
	held := make([]bool, len(in)) // the best hit of a document that holds them
	seen := map[sheaf.ID]bool{}
	count, below := 0, 0
	for i := range in {
		if !env.Rare(in[i].ID) {
			continue
		}
		doc := documentOf(in[i].ID, env.Facts)
		if seen[doc] {
			continue
		}
		seen[doc], held[i] = true, true
		count++
		if i >= g.Rank {
			below++
		}
	}
	if below == 0 || count > g.Rank {
		return in, nil
	}
	return g.raise(in, held, below), nil
}

// raise gives the last of the first Rank places to the hits that are held: the
// lowest others make room, from the hit at first on.
func (g Guard) raise(in sheaf.Ranking, held []bool, below int) sheaf.Ranking {
	first := g.Rank
	for room := 0; room < below; {
		if first--; !held[first] {
			room++
		}
	}
	raised := 0
	for i := first; i < len(in); i++ {
		if held[i] {
			raised++
		}
	}
	floor := in[first].Score
	above := floor + 1
	if first > 0 {
		above = in[first-1].Score
	}
	out := append(make(sheaf.Ranking, 0, len(in)), in[:first]...)
	n := 0
	for i := first; i < len(in); i++ {
		if !held[i] {
			continue
		}
		n++
		h := in[i]
		// Evenly between the last that stays above and the first that makes room.
		score := above - (above-floor)*float64(n)/float64(raised+1)
		if h.Explanation != nil {
			e := combined(fmt.Sprintf("holds every rare word: not below rank %d", g.Rank), score, sheaf.CombineSum,
				*h.Explanation, part("raised by", score-h.Score))
			h.Explanation = &e
		}
		h.Score = score
		out = append(out, h)
	}
	for i := first; i < len(in); i++ {
		if !held[i] {
			out = append(out, in[i])
		}
	}
	return out
}
