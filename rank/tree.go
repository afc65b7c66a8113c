package rank

import (
	"math"
	"slices"
	"sync"

	"sheaf"
)

// Tree lifts hits up the heading tree: where enough children of a section
// match, the section stands for them. Afterwards no answer lies inside another,
// unless Nested allows it.
//
// Parents are visited deepest first. A child matches when it is a hit or when
// it was lifted to by its own children; when at least Threshold of the
// children of a parent match, and at least MinMatches of them, the parent
// takes their place. Children count whatever their level, so a skipped heading
// level changes nothing.
//
// An answer is scored over everything inside it: the candidates below it and
// its own match, if it had one.
//
// Example, Threshold 0.5, MaxP: a document with the sections A (children A1,
// A2, A3) and B. Hits A1 8, A3 5, B 2: two of three children of A match, so A
// takes their place with 8; A and B are both children of the document, so the
// document takes theirs, with 8 and the constituents A1, A3, B.
//
// Source: the chunking specification's phase 3, parent by parent instead of
// depth by depth, so that children at different depths are counted together.
type Tree struct {
	// Threshold is the least share, above 0 and at most 1, of a parent's
	// children that must match.
	Threshold float64
	// MinMatches is the least number of children that must match, at least
	// 1. With 1, the only hit under an only heading lifts to the document.
	MinMatches int
	// Nested says what happens to a hit inside another one.
	Nested Nested
	// Scoring scores an answer; the specification's is MaxP.
	Scoring Scoring
}

// Nested says what happens when a hit lies inside another hit.
type Nested uint8

// What can happen to nested hits.
const (
	// NestedOuter keeps the outer hit, which is scored over everything
	// inside it: a match on a document's title takes in all its sections.
	NestedOuter Nested = iota
	// NestedBoth keeps both, the outer one with its own score, unless the
	// inner one was lifted into it. A match on a document's title leaves its
	// sections as they are.
	NestedBoth
)

// Apply implements [Stage].
func (t Tree) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	return t.ApplyIn(nil, in, env)
}

// ApplyIn implements [Lifter].
func (t Tree) ApplyIn(memory *Memory, in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	switch {
	case !(t.Threshold > 0 && t.Threshold <= 1):
		return nil, sheaf.Invalidf("tree: threshold is %v: must be above 0 and at most 1", t.Threshold)
	case t.MinMatches < 1:
		return nil, sheaf.Invalidf("tree: min_matches is %d: must be at least 1", t.MinMatches)
	case t.Nested > NestedBoth:
		return nil, sheaf.Invalidf("tree: unknown rule %d for nested hits", t.Nested)
	}
	if err := t.Scoring.valid("tree"); err != nil {
		return nil, err
	}
	if err := env.needFacts("tree"); err != nil {
		return nil, err
	}
	if err := in.Valid("tree"); err != nil {
		return nil, err
	}
	// Most parents are shared; what is above them is little.
	l := lifts.Get().(*lift)
	defer l.release()
	l.facts, l.index = env.Facts, NewOrdinals(2*len(in))
	for i := range in {
		if n, ok := l.node(in[i].ID, nil, math.MaxInt); ok && l.nodes[n].own == 0 {
			l.held = append(l.held, heldHit{hit: &in[i]})
			l.nodes[n].own, l.nodes[n].first = len(l.held), i
			l.match(n)
		}
	}
	for depth := len(l.parents) - 1; depth >= 0; depth-- {
		for k := 0; k < len(l.parents[depth]); k++ { // lifting adds parents to shallower depths only
			l.lift(l.parents[depth][k], t.Threshold, t.MinMatches)
		}
	}
	if t.Nested == NestedOuter {
		l.swallow()
	}
	work := answerings.Get().(*answering)
	defer work.release()
	return work.answers(memory, l.groups(), t.Scoring, "section"), nil
}

// lift is the part of a heading tree above some hits.
type lift struct {
	facts Facts
	nodes []treeNode
	// index numbers IDs; by these, made are the nodes from 1, 0 for one that is not made.
	index *Ordinals
	made  []int32
	// parents are the nodes with matching children, by depth.
	parents [][]int
	// held are the hits, in lists: those inside a node one after another.
	held []heldHit
	// out and room are memory alone, of what groups gives.
	out   []group
	room  []*sheaf.Hit
	order []int
}

// heldHit is a hit in a list; next is the one after it, from 1, 0 for none.
type heldHit struct {
	hit  *sheaf.Hit
	next int
}

// lifts are those that are done with, whose memory serves again.
var lifts = sync.Pool{New: func() any { return new(lift) }}

func (l *lift) release() {
	l.index.Release()
	if cap(l.nodes) > maxKeptHits {
		return
	}
	clear(l.nodes) // so that no text is kept
	clear(l.held)
	clear(l.out)
	clear(l.room)
	for depth := range l.parents {
		l.parents[depth] = l.parents[depth][:0]
	}
	*l = lift{nodes: l.nodes[:0], made: l.made[:0], parents: l.parents[:0], held: l.held[:0], out: l.out[:0], room: l.room[:0], order: l.order[:0]}
	lifts.Put(l)
}

type treeNode struct {
	id sheaf.ID
	// parent is an index into nodes, -1 for a root.
	parent, depth int
	// siblings is the number of children of the parent.
	siblings int
	// own is the node's own hit, from 1 in held, 0 for none; first the best rank inside it.
	own, first int
	// inside are the first and last of the hits that were moved to it, 0 for none.
	inside, insideTail int
	// children are how many match: the first and last of them, each with the one after it
	// in next, 0 for none and 1 for the first of nodes.
	children, head, tail, next int
	// matched: it is a hit or was lifted to. lifted: it took the place of
	// its children. gone: another took its place.
	matched, lifted, gone bool
}

// node finds or makes the node called id, which c is when it is not nil, and those
// above it. Its depth must be less than below: depths fall on the way up, so the way ends.
func (l *lift) node(id sheaf.ID, c *sheaf.Node, below int) (int, bool) {
	at, added := l.index.Add(id)
	if added {
		l.made = append(l.made, 0)
	} else if n := int(l.made[at]) - 1; n >= 0 {
		return n, l.nodes[n].depth < below
	}
	if c == nil {
		c = nodeOf(l.facts, id)
	}
	if c == nil || c.Depth < 0 || c.Depth >= below {
		return 0, false
	}
	parent := -1
	if c.Parent != "" {
		if p, ok := l.node(c.Parent, c.Above, c.Depth); ok {
			parent = p
		}
	}
	l.nodes = append(l.nodes, treeNode{id: id, parent: parent, depth: c.Depth, siblings: max(c.SiblingCount, 1), first: -1})
	l.made[at] = int32(len(l.nodes))
	return len(l.nodes) - 1, true
}

// match records that node n matches.
func (l *lift) match(n int) {
	l.nodes[n].matched = true
	p := l.nodes[n].parent
	if p < 0 {
		return
	}
	depth := l.nodes[p].depth
	for len(l.parents) <= depth {
		if len(l.parents) < cap(l.parents) { // with the memory of another time
			l.parents = l.parents[:len(l.parents)+1]
		} else {
			l.parents = append(l.parents, nil)
		}
	}
	above := &l.nodes[p]
	if above.children == 0 {
		l.parents[depth] = append(l.parents[depth], p)
		above.head = n + 1
	} else {
		l.nodes[above.tail-1].next = n + 1
	}
	above.tail = n + 1
	above.children++
}

// lift lets node p take the place of its matching children when they are
// enough.
func (l *lift) lift(p int, threshold float64, minMatches int) {
	above := &l.nodes[p]
	share := float64(above.children) / float64(l.nodes[above.head-1].siblings)
	if share < threshold || above.children < minMatches {
		return
	}
	for c := above.head; c > 0; c = l.nodes[c-1].next {
		l.absorb(p, c-1)
	}
	l.nodes[p].lifted = true
	if !l.nodes[p].matched {
		l.match(p)
	}
}

// absorb moves everything inside node c, and its own hit, to node p.
func (l *lift) absorb(p, c int) {
	child, outer := &l.nodes[c], &l.nodes[p]
	if child.own != 0 {
		l.append(outer, child.own, child.own)
	}
	if child.inside != 0 {
		l.append(outer, child.inside, child.insideTail)
	}
	if outer.first < 0 || child.first < outer.first {
		outer.first = child.first
	}
	child.gone, child.inside, child.insideTail = true, 0, 0
}

// append puts a list of hits behind those inside a node.
func (l *lift) append(outer *treeNode, head, tail int) {
	if outer.inside == 0 {
		outer.inside = head
	} else {
		l.held[outer.insideTail-1].next = head
	}
	outer.insideTail = tail
}

// swallow moves every answer that lies inside another into the outermost one.
func (l *lift) swallow() {
	for n := range l.nodes {
		if !l.nodes[n].matched || l.nodes[n].gone {
			continue
		}
		outermost := -1
		for p := l.nodes[n].parent; p >= 0; p = l.nodes[p].parent {
			if l.nodes[p].matched && !l.nodes[p].gone {
				outermost = p
			}
		}
		if outermost >= 0 {
			l.absorb(outermost, n)
			l.nodes[outermost].lifted = true
		}
	}
}

// groups are the answers that are left, in the memory of l.
func (l *lift) groups() []group {
	l.room = slices.Grow(l.room, len(l.held)) // each hit is in one of them
	for n := range l.nodes {
		node := &l.nodes[n]
		if !node.matched || node.gone {
			continue
		}
		from := len(l.room)
		var own *sheaf.Hit
		if node.own != 0 {
			own = l.held[node.own-1].hit
			l.room = append(l.room, own)
		}
		l.order = l.order[:0]
		for at := node.inside; at != 0; at = l.held[at-1].next {
			l.order = append(l.order, at)
		}
		slices.Sort(l.order) // as they were found, whatever was lifted first
		for _, at := range l.order {
			l.room = append(l.room, l.held[at-1].hit)
		}
		l.out = append(l.out, group{id: node.id, own: own, first: node.first, whole: !node.lifted, hits: l.room[from:len(l.room):len(l.room)]})
	}
	slices.SortStableFunc(l.out, func(a, b group) int { return a.first - b.first })
	return l.out
}
