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
func (g Guard) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) { return alone(g, in, env) }

func (g Guard) work(r *Row, env Env) error {
	const stage = "guard"
	if g.Rank < 1 || g.Rank > 1000 {
		return sheaf.Invalidf("%s: rank is %d: must be within 1..1000", stage, g.Rank)
	}
	if err := r.valid(stage); err != nil {
		return err
	}
	if env.Rare == nil || len(r.keys) <= g.Rank {
		return nil
	}
	if err := env.needFacts(stage); err != nil {
		return err
	}
	keys := r.inOrder()
	held := make([]bool, len(keys)) // the best hit of a document that holds them
	seen := map[sheaf.ID]bool{}
	count, below := 0, 0
	for i, k := range keys {
		id := r.hits[k.at].ID
		if !env.Rare(id) {
			continue
		}
		doc := documentOf(id, env.Facts)
		if seen[doc] {
			continue
		}
		seen[doc], held[i] = true, true
		count++
		if i >= g.Rank {
			below++
		}
	}
	if below > 0 && count <= g.Rank {
		return g.raise(stage, r, held, below)
	}
	return nil
}

// raise gives the last of the first Rank places to the hits that are held: the
// lowest others make room, from the hit at first on.
func (g Guard) raise(stage string, r *Row, held []bool, below int) error {
	first := g.Rank
	for room := 0; room < below; {
		if first--; !held[first] {
			room++
		}
	}
	raised := 0
	for i := first; i < len(held); i++ {
		if held[i] {
			raised++
		}
	}
	floor := r.keys[first].score
	above := floor + 1
	if first > 0 {
		above = r.keys[first-1].score
	}
	out := append(make([]rowKey, 0, len(r.keys)), r.keys[:first]...)
	n := 0
	for i, k := range r.keys[first:] {
		if !held[first+i] {
			continue
		}
		n++
		// Evenly between the last that stays above and the first that makes room.
		score := above - (above-floor)*float64(n)/float64(raised+1)
		if r.why != nil && r.why[k.at] != nil {
			e := combined(fmt.Sprintf("holds every rare word: not below rank %d", g.Rank), score, sheaf.CombineSum,
				*r.why[k.at], part("raised by", score-k.score))
			r.why[k.at] = &e
		}
		k.score = score
		if err := r.gives(stage, &k); err != nil {
			return err
		}
		out = append(out, k)
	}
	for i, k := range r.keys[first:] {
		if !held[first+i] {
			out = append(out, k)
		}
	}
	r.keys = out
	return nil
}
