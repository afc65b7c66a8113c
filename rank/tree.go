package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Tree moves hits up the heading tree. When enough children of a section match, the section
// replaces them. Afterwards no answer is inside another, unless Nested allows it.
//
// The deepest parents come first. A child matches when it is a hit or when it replaced its own
// children. When at least Threshold of the children of a parent match, and at least MinMatches of them,
// the parent replaces them. Children count at any level, so a skipped heading level changes nothing.
//
// The score of an answer covers the candidates below it, and its own match if it has one.
//
// Example, Threshold 0.5, MaxP: a document has the sections A (children A1, A2, A3) and B. Hits are A1
// 8, A3 5, B 2. Two of three children of A match, so A replaces them with score 8. A and B are both
// children of the document, so the document replaces them, with 8 and the constituents A1, A3, B.
//
// Source: the chunking specification's phase 3, parent by parent instead of depth by depth, so that children at
// different depths are counted together.
type Tree struct {
	// Threshold is the smallest share, above 0 and at most 1, of a parent's children that must match.
	Threshold float64
	// MinMatches is the smallest number of children that must match, at least 1. With 1, the document replaces
	// the only hit under its only heading.
	MinMatches int
	// Nested says what happens to a hit inside another hit.
	Nested Nested
	// Scoring scores an answer; the specification uses MaxP.
	Scoring Scoring
}

// Nested says what happens to a hit inside another hit.
type Nested uint8

// The rules for nested hits.
const (
	// NestedOuter keeps the outer hit and scores it over everything inside it: a match on a document's title
	// replaces all its sections.
	NestedOuter Nested = iota
	// NestedBoth keeps both, the outer hit with its own score, unless the outer hit replaced the inner one. A
	// match on a document's title does not change its sections.
	NestedBoth
)

// Apply implements [Stage].
func (t Tree) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("tree", in); err != nil {
		return nil, err
	}
	l := &lift{facts: env.Facts, in: in, byID: make(map[sheaf.ID]*treeNode, 2*len(in))}
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
	return answers(l.groups(), t.Scoring, "section"), nil
}

// lift is the part of a heading tree above some hits.
type lift struct {
	facts Facts
	in    sheaf.Ranking
	nodes []*treeNode // in order of first use
	byID  map[sheaf.ID]*treeNode
	// parents are the nodes with matching children, by depth.
	parents [][]*treeNode
}

// treeNode is a section or document.
type treeNode struct {
	id       sheaf.ID
	parent   *treeNode // nil for a root
	depth    int
	siblings int // children of the parent
	// inside are the indexes in the ranking of the hits in the node and of the node itself.
	inside []int
	// children are the matching children.
	children []*treeNode
	// hit: the node is a hit. matched: it is a hit or replaced its children. lifted: it replaced
	// other nodes. gone: another node replaced it.
	hit, matched, lifted, gone bool
}

// node returns the node called id. It creates this node and the nodes above it if needed. c is its
// position in its document; nil looks it up. node returns nil when the node is unknown or not above
// depth below. Depths fall on the way up, so the loop ends.
func (l *lift) node(id sheaf.ID, c *sheaf.Node, below int) *treeNode {
	n := l.byID[id]
	if n == nil {
		if c == nil {
			c = l.facts.Node(id)
		}
		if c == nil || c.Depth < 0 || c.Depth >= below {
			return nil
		}
		n = &treeNode{id: id, depth: c.Depth, siblings: max(c.SiblingCount, 1)}
		if c.Parent != "" {
			n.parent = l.node(c.Parent, c.Above, c.Depth)
		}
		l.byID[id], l.nodes = n, append(l.nodes, n)
	}
	if n.depth >= below {
		return nil
	}
	return n
}

// match marks a node as matching.
func (l *lift) match(n *treeNode) {
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

// lift lets a node replace its matching children if there are enough.
func (l *lift) lift(p *treeNode, t Tree) {
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

// absorb moves all hits in a node below to n.
func (n *treeNode) absorb(below *treeNode) {
	n.lifted, below.gone = true, true
	n.inside, below.inside = append(n.inside, below.inside...), nil
}

// swallow moves every answer that is inside another answer into the outermost answer.
func (l *lift) swallow() {
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

// groups returns the remaining answers.
func (l *lift) groups() []group {
	var out []group
	for _, n := range l.nodes {
		if !n.matched || n.gone {
			continue
		}
		slices.Sort(n.inside)
		g := group{id: n.id, first: n.inside[0], lifted: n.lifted}
		for _, at := range n.inside {
			if h := &l.in[at]; h.ID == n.id { // before other hits with its score
				g.hits = slices.Insert(g.hits, 0, h)
			} else {
				g.hits = append(g.hits, h)
			}
		}
		out = append(out, g)
	}
	return out
}
