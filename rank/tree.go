package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Tree moves hits up the heading tree. If enough children of a section match, the section replaces them. At the end no
// answer is inside another answer, unless Nested allows it.
//
// Tree looks at the deepest parents first:
//   - A child matches if it is a hit, or if it replaced its own children.
//   - A parent replaces its matching children if enough children match: at least MinMatches, and at least the share
//     Threshold of all children.
//   - A section is a child of the nearest higher heading, even if a level between them is missing.
//   - The score of an answer comes from the hits that it replaced, and from its own hit.
//
// Example, Threshold 0.5, MaxP: a document has the sections A (children A1, A2, A3) and B. The hits are A1 8, A3 5, B
// 2. Two of the three children of A match, so A replaces them with score 8. Now both children of the document match, A
// and B, so the document replaces them. It has score 8 and the constituents A1, A3, B.
//
// Source: the chunking specification's phase 3. The specification looks at all sections of one depth together. Tree
// looks at one parent after another, so that children at different depths are counted together.
type Tree struct {
	// Threshold is the smallest share of matching children among a parent's children. It is above 0 and at most 1.
	Threshold float64
	// MinMatches is the smallest number of matching children. It is 1 or more. With 1, a document with one heading
	// replaces a hit under this heading.
	MinMatches int
	// Nested says what happens to a hit inside another hit.
	Nested Nested
	// Scoring computes the score of an answer. The specification uses MaxP.
	Scoring Scoring
}

// Nested says what happens to a hit inside another hit.
type Nested uint8

// These are the rules for nested hits.
const (
	// NestedOuter keeps only the outermost hit. Its score is computed from its own score and the scores of all hits
	// inside. So a match on a document's title replaces hits in the document's sections.
	NestedOuter Nested = iota
	// NestedBoth keeps both hits with their own scores. If enough children of the outer hit match, the outer hit replaces
	// them. So a match on a document's title alone does not change the document's sections.
	NestedBoth
)

// Apply implements [Stage].
func (t Tree) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("tree", in); err != nil {
		return nil, err
	}
	l := &liftedPart{facts: env.Facts, hits: in, byID: make(map[sheaf.ID]*treeNode, 2*len(in))}
	for i := range in {
		if n := l.node(in[i].ID, nil, math.MaxInt); n != nil && !n.hit {
			n.hit, n.inside = true, []int{i}
			l.match(n)
		}
	}
	for depth := len(l.parents) - 1; depth >= 0; depth-- {
		for k := 0; k < len(l.parents[depth]); k++ { // lifting adds parents to shallower depths only
			l.lift(l.parents[depth][k], t)
		}
	}
	if t.Nested == NestedOuter {
		l.swallow()
	}
	return groupHits(l.groups(), t.Scoring, "section"), nil
}

// liftedPart has the nodes of the heading trees that are hits or above hits. Tree lifts hits within these nodes.
type liftedPart struct {
	facts Facts
	hits  sheaf.Ranking
	nodes []*treeNode // in order of first use
	byID  map[sheaf.ID]*treeNode
	// parents has, for each depth, the nodes with children that match.
	parents [][]*treeNode
}

type treeNode struct {
	id       sheaf.ID
	parent   *treeNode // nil for a root
	depth    int
	siblings int // children of the parent
	// inside has indexes of hits in the ranking: the node's own hit, and the hits that the node replaced.
	inside []int
	// children are the children that match.
	children []*treeNode
	// hit means that the node is a hit. matched means that the node is a hit or replaced its children. lifted means that
	// it replaced other nodes. gone means that another node replaced it.
	hit, matched, lifted, gone bool
}

// node returns the tree node of the chunk id. If needed, it makes this node and the nodes above. c is the position of
// the chunk in its document; if c is nil, node looks it up. node returns nil if the ID is unknown, or if the depth of
// the chunk is not less than limit. For the parent of a child, limit is the child's depth. So the depth falls with each
// recursive call, and the recursion ends.
func (l *liftedPart) node(id sheaf.ID, c *sheaf.Node, limit int) *treeNode {
	n := l.byID[id]
	if n == nil {
		if c == nil {
			c = l.facts.Node(id)
		}
		if c == nil || c.Depth < 0 || c.Depth >= limit {
			return nil
		}
		n = &treeNode{id: id, depth: c.Depth, siblings: max(c.SiblingCount, 1)}
		if c.Parent != "" {
			n.parent = l.node(c.Parent, c.Above, c.Depth)
		}
		l.byID[id], l.nodes = n, append(l.nodes, n)
	}
	if n.depth >= limit {
		return nil
	}
	return n
}

// match marks a node as matching, and adds it to the matching children of its parent.
func (l *liftedPart) match(n *treeNode) {
	n.matched = true
	p := n.parent
	if p == nil {
		return
	}
	for len(l.parents) <= p.depth {
		l.parents = append(l.parents, nil)
	}
	if p.children == nil {
		l.parents[p.depth] = append(l.parents[p.depth], p)
	}
	p.children = append(p.children, n)
}

// lift replaces the matching children of p by p if there are enough of them.
func (l *liftedPart) lift(p *treeNode, t Tree) {
	share := float64(len(p.children)) / float64(p.children[0].siblings)
	if share < t.Threshold || len(p.children) < t.MinMatches {
		return
	}
	for _, c := range p.children {
		p.absorb(c)
	}
	if !p.matched {
		l.match(p)
	}
}

// absorb moves all hits of inner, a node under n, to n. It marks inner as gone.
func (n *treeNode) absorb(inner *treeNode) {
	n.lifted, inner.gone = true, true
	n.inside, inner.inside = append(n.inside, inner.inside...), nil
}

// swallow moves the hits of each answer that is inside another answer to the outermost answer.
func (l *liftedPart) swallow() {
	for _, n := range l.nodes {
		if !n.matched || n.gone {
			continue
		}
		var outermost *treeNode
		for p := n.parent; p != nil; p = p.parent {
			if p.matched && !p.gone {
				outermost = p
			}
		}
		if outermost != nil {
			outermost.absorb(n)
		}
	}
}

// groups returns a group for each answer that remains.
func (l *liftedPart) groups() []group {
	var out []group
	for _, n := range l.nodes {
		if !n.matched || n.gone {
			continue
		}
		slices.Sort(n.inside)
		g := group{id: n.id, first: n.inside[0], lifted: n.lifted}
		for _, at := range n.inside {
			if h := &l.hits[at]; h.ID == n.id { // the answer's own hit comes before others with the same score
				g.hits = slices.Insert(g.hits, 0, h)
			} else {
				g.hits = append(g.hits, h)
			}
		}
		out = append(out, g)
	}
	return out
}
