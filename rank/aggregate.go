package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"sheaf"
)

// Method says how the scores of several hits become the score of the answer
// that stands for them. With s1 >= s2 >= ... the scores, n of them:
type Method uint8

// The methods of aggregation.
const (
	// MaxP is s1: one strong passage is enough. (Dai and Callan: Deeper Text
	// Understanding for IR with Contextual Neural Language Modeling, 2019.)
	MaxP Method = iota
	// TopMSum is s1 + ... + sM: strength and spread.
	TopMSum
	// TopMAvg is TopMSum divided by the number of scores in it.
	TopMAvg
	// RRFPerDoc is the sum of 1/(K + i) for i = 1..n. It depends on how many
	// hits there are and on nothing else.
	RRFPerDoc
	// DecayedSum is s1 + Decay s2 + Decay^2 s3 + ..., M terms at most.
	DecayedSum
	// RSS is the square root of the sum of the squares of all scores. Squares
	// and root keep the sign, so that a lower score never gives more.
	RSS
)

// Scoring is a [Method] with its parameters.
type Scoring struct {
	Method Method
	// M is the number of scores that count, for TopMSum, TopMAvg and
	// DecayedSum; 0 counts none.
	M int
	// Decay, 0..1, is for DecayedSum.
	Decay float64
	// K, 1..1000, is for RRFPerDoc.
	K int
}

// valid checks the parameters that the method uses.
func (s Scoring) valid(stage string) error {
	switch {
	case s.Method > RSS:
		return sheaf.Invalidf("%s: unknown method %d", stage, s.Method)
	case s.M < 0:
		return sheaf.Invalidf("%s: m is %d: must be 0 or more", stage, s.M)
	case s.Method == DecayedSum && !(s.Decay >= 0 && s.Decay <= 1):
		return sheaf.Invalidf("%s: decay is %v: must be within 0..1", stage, s.Decay)
	case s.Method == RRFPerDoc && (s.K < MinRRFK || s.K > MaxRRFK):
		return sheaf.Invalidf("%s: k is %d: must be within 1..1000", stage, s.K)
	}
	return nil
}

// Score is the score of scores, which must be in descending order; 0 when there
// are none.
//
// Example, scores 0.8, 0.6, 0.5, 0.4: MaxP 0.8; TopMSum with M 3 1.9;
// DecayedSum with M 3 and Decay 0.95 0.8 + 0.57 + 0.45125 = 1.82125.
func (s Scoring) Score(scores []float64) float64 {
	if len(scores) == 0 {
		return 0
	}
	top := scores[:min(max(s.M, 0), len(scores))]
	var sum float64
	switch s.Method {
	case TopMSum, TopMAvg:
		for _, x := range top {
			sum += x
		}
		if s.Method == TopMAvg && len(top) > 0 {
			sum /= float64(len(top))
		}
	case DecayedSum:
		w := 1.0
		for _, x := range top {
			sum += w * x
			w *= s.Decay
		}
	case RRFPerDoc:
		for i := range scores {
			sum += 1 / float64(s.K+i+1)
		}
	case RSS:
		for _, x := range scores {
			sum += sheaf.SignedSquare(x)
		}
		sum = sheaf.SignedRoot(sum)
	default:
		sum = scores[0]
	}
	return sum
}

// explain writes out Score for hits, best first, that scored score.
func (s Scoring) explain(what string, score float64, hits []*sheaf.Hit) *sheaf.Explanation {
	what = fmt.Sprintf("%s from %d matches", what, len(hits))
	if best := s.M; best < len(hits) && (s.Method == TopMSum || s.Method == TopMAvg || s.Method == DecayedSum) {
		what = fmt.Sprintf("%s, the best %d", what, best)
		hits = hits[:best]
	}
	parts := make([]sheaf.Explanation, 0, len(hits))
	w := 1.0
	for i, h := range hits {
		p := reason(h)
		p = sheaf.Explanation{Label: string(h.ID), Value: h.Score, Combine: sheaf.CombineSum, Parts: []sheaf.Explanation{p}}
		switch s.Method {
		case DecayedSum:
			p = combined("decayed", w*h.Score, sheaf.CombineProduct, part(fmt.Sprintf("decay for place %d", i+1), w), p)
			w *= s.Decay
		case RRFPerDoc:
			k := float64(s.K + i + 1)
			p = combined("reciprocal place", 1/k, sheaf.CombineQuotient, part("one", 1),
				sheaf.Explanation{Label: fmt.Sprintf("k + place %d", i+1), Value: k, Parts: []sheaf.Explanation{p}})
		}
		parts = append(parts, p)
	}
	e := combined(what, score, sheaf.CombineSum, parts...)
	switch {
	case len(parts) == 0:
		e.Combine = sheaf.CombineNone
	case s.Method == MaxP:
		e.Combine = sheaf.CombineMax
	case s.Method == RSS:
		e.Combine = sheaf.CombineRSS
	case s.Method == TopMAvg:
		n := float64(len(parts))
		e.Value = score * n
		e = combined("mean, "+what, score, sheaf.CombineQuotient, e, part("number of scores", n))
	}
	return &e
}

// Level is where an aggregation lifts hits to.
type Level uint8

// The levels of aggregation.
const (
	// ToDocument lifts every chunk to its document.
	ToDocument Level = iota
	// ToParent lifts every chunk to the chunk above it; documents stay.
	ToParent
)

// Aggregate lifts the hits to documents or parents: all hits with the same
// target become one hit with the target's ID, whose Constituents are those
// hits, best first, without the target itself. It takes, leg by leg, the best
// rank of any of them, and the passage of the best of them. Chunks that the
// facts do not know are left out.
//
// Ties are broken by the best rank in any leg, then by the best rank of a
// constituent in the ranking given, then by ID.
type Aggregate struct {
	To Level
	Scoring
}

// Apply implements [Stage].
func (a Aggregate) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	return a.ApplyIn(nil, in, env)
}

// ApplyIn implements [Lifter].
func (a Aggregate) ApplyIn(memory *Memory, in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := a.valid("aggregate"); err != nil {
		return nil, err
	}
	if err := env.needFacts("aggregate"); err != nil {
		return nil, err
	}
	if err := in.Valid("aggregate"); err != nil {
		return nil, err
	}
	work := answerings.Get().(*answering)
	defer work.release()
	groups := work.gather(in, a.To, env.Facts)
	what := "document"
	if a.To == ToParent {
		what = "section"
	}
	return work.answers(memory, groups, a.Scoring, what), nil
}

// gather makes the groups of hits that have the same target, in the order in which
// they are met. Documents are told apart by number where all have one.
func (w *answering) gather(in sheaf.Ranking, to Level, facts Facts) []group {
	w.nodes, w.of = sized(w.nodes, len(in)), sized(w.of, len(in))
	findNodes(w.nodes, in, facts)
	numbered := to == ToDocument
	for _, n := range w.nodes { // apart from finding them: the processor waits for several at once
		numbered = numbered && (n == nil || n.Number != 0)
	}
	var index *Ordinals
	if numbered {
		w.numbers.Reset(len(in))
	} else {
		index = NewOrdinals(len(in))
		defer index.Release()
	}
	groups := w.groups[:0]
	for i, n := range w.nodes {
		w.of[i] = -1
		if n == nil {
			continue
		}
		id, g, added := n.Doc, 0, false
		if numbered {
			g, added = w.numbers.Add(n.Number)
		} else {
			if to == ToParent {
				id = cmp.Or(n.Parent, n.ID)
			}
			g, added = index.Add(id)
		}
		if added {
			groups = append(groups, group{id: id, first: i})
			if numbered {
				groups[g].number = n.Number
			}
		}
		w.of[i] = int32(g)
		groups[g].size++
		if n.ID == id && groups[g].own == nil { // of one outline they are the same text
			groups[g].own = &in[i]
		}
	}
	w.groups, w.room = groups, sized(w.room, len(in))
	room := w.room
	for i, g := range w.of {
		if g < 0 {
			continue
		}
		at := &groups[g]
		if at.hits == nil {
			at.hits, room = room[:0:at.size], room[at.size:]
		}
		at.hits = append(at.hits, &in[i])
	}
	return groups
}

// group is the candidates behind one answer.
type group struct {
	id sheaf.ID
	// hits hold the original candidates, the one with id among them.
	hits []*sheaf.Hit
	size int // of hits, where it is known before them
	// own is the candidate that has id itself, where there is one.
	own *sheaf.Hit
	// number is that of the document with id, where it is one and all have numbers; else 0.
	number uint32
	// first is the best rank, from 0, of a candidate in the ranking given.
	first int
	// best is the best rank of a candidate in any leg.
	best int
	// whole says that the answer is the hit itself, as it came.
	whole bool
}

// answers makes the hits of groups, in order.
func (w *answering) answers(in *Memory, groups []group, s Scoring, what string) sheaf.Ranking {
	keys, scores := sized(w.keys, len(groups)), w.scores
	w.keys = keys
	for i := range groups {
		g := &groups[i]
		if g.whole {
			g.hits = g.hits[:1]
		}
		score := g.hits[0].Score
		if !g.whole {
			slices.SortStableFunc(g.hits, func(a, b *sheaf.Hit) int { return cmp.Compare(b.Score, a.Score) })
			scores = scores[:0]
			for _, h := range g.hits {
				scores = append(scores, h.Score)
			}
			score = s.Score(scores)
		}
		keys[i] = rowKey{score: score, at: int32(i)}
		g.best = bestRank(g.hits)
	}
	w.scores = scores
	sortKeys(keys, func(a, b rowKey) int {
		x, y := &groups[a.at], &groups[b.at]
		return cmp.Or(cmp.Compare(x.best, y.best), cmp.Compare(x.first, y.first), cmp.Compare(x.id, y.id))
	})
	candidates, places := 0, 0
	for i := range groups {
		if !groups[i].whole {
			candidates += count(groups[i].hits)
			places += width(groups[i].hits)
		}
	}
	out, legs := in.ranking(len(keys), places)
	room, numbers := in.constituents(candidates), in.documentsOf(groups)
	for i, k := range keys {
		g, h := &groups[k.at], &out[i]
		if numbers != nil {
			numbers[i] = int32(g.number)
		}
		if g.whole {
			*h = *g.hits[0]
			continue
		}
		h.ID, h.Score, h.Passage, h.Legs, h.Constituents = g.id, k.score, g.hits[0].Passage, bestLegs(g.hits, &legs), inside(g, &room)
		if slices.ContainsFunc(g.hits, func(h *sheaf.Hit) bool { return h.Explanation != nil }) {
			h.Explanation = s.explain(what, h.Score, g.hits)
		}
	}
	return out
}

// bestRank is the best rank of any of hits in any leg; the largest number for none.
func bestRank(hits []*sheaf.Hit) int {
	best := math.MaxInt
	for _, h := range hits {
		for _, leg := range h.Legs {
			if leg.Rank > 0 {
				best = min(best, leg.Rank)
			}
		}
	}
	return best
}

// fewConstituents is up to how many are compared with each other; more are looked up.
const fewConstituents = 32

// inside is the constituents of a group's answer: its candidates and theirs, flat,
// without repeats and without the answer itself. They lie in room, which has enough.
func inside(g *group, room *[]sheaf.Hit) []sheaf.Hit {
	n := count(g.hits)
	if n == 1 && g.hits[0] == g.own {
		return nil
	}
	out := (*room)[len(*room):]
	var table *Ordinals
	if n > fewConstituents {
		table = NewOrdinals(n)
		defer table.Release()
	}
	isNew := func(h *sheaf.Hit) bool {
		switch {
		case h == g.own || h.ID == g.id: // most are told without their text
			return false
		case table != nil:
			_, added := table.Add(h.ID)
			return added
		}
		for i := range out { // hits are large
			if out[i].ID == h.ID {
				return false
			}
		}
		return true
	}
	add := func(h *sheaf.Hit) {
		if !isNew(h) {
			return
		}
		out = append(out, *h)
		out[len(out)-1].Constituents = nil
	}
	for _, h := range g.hits {
		add(h)
	}
	for _, h := range g.hits {
		for i := range h.Constituents {
			add(&h.Constituents[i])
		}
	}
	if len(out) == 0 {
		return nil
	}
	*room = (*room)[:len(*room)+len(out)]
	return out[:len(out):len(out)]
}

// count is how many candidates hits are and have.
func count(hits []*sheaf.Hit) int {
	n := len(hits)
	for _, h := range hits {
		n += len(h.Constituents)
	}
	return n
}

// bestLegs is, leg by leg, where the best-ranked of hits stands; nil when they
// have no legs. It lies in room, which has enough.
func bestLegs(hits []*sheaf.Hit, room *[]sheaf.Leg) []sheaf.Leg {
	n := width(hits)
	if n == 0 {
		return nil
	}
	legs := (*room)[:n:n]
	*room = (*room)[n:]
	for _, h := range hits {
		for j, leg := range h.Legs {
			if leg.Rank > 0 && (legs[j].Rank == 0 || leg.Rank < legs[j].Rank) {
				legs[j] = leg
			}
		}
	}
	return legs
}

// width is the most legs that one of hits has.
func width(hits []*sheaf.Hit) int {
	n := 0
	for _, h := range hits {
		n = max(n, len(h.Legs))
	}
	return n
}

// answering is memory for gathering groups and putting answers in order; it serves
// again.
type answering struct {
	nodes   []*sheaf.Node // of the hits
	of      []int32       // the group of each hit, -1 for none
	numbers Numbering
	groups  []group
	room    []*sheaf.Hit // of the groups' hits
	keys    []rowKey
	scores  []float64
}

var answerings = sync.Pool{New: func() any { return new(answering) }}

func (w *answering) release() {
	if max(cap(w.of), cap(w.keys)) > maxKeptHits {
		return
	}
	clear(w.nodes) // so that no hit is kept
	clear(w.groups)
	clear(w.room)
	w.nodes, w.groups, w.room = w.nodes[:0], w.groups[:0], w.room[:0]
	answerings.Put(w)
}
