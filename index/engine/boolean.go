package engine

import (
	"errors"

	"sheaf"
	"sheaf/index/engine/postings"
)

// planBool is a Bool query. A chunk must match all parts in must and no part in not. Without parts in must, the chunk
// must match a part in should, if there is one.
type planBool struct{ must, should, not []part }

func (p *plan) resolveBool(q sheaf.Bool, factor float64) (part, error) {
	b := &planBool{}
	for _, list := range []struct {
		from []sheaf.TextQuery
		to   *[]part
	}{{q.Must, &b.must}, {q.Should, &b.should}, {q.MustNot, &b.not}} {
		for _, query := range list.from {
			part, err := p.resolve(query, factor)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, part)
		}
	}
	return b, nil
}

func (b *planBool) flat() ([]*planTerm, bool) {
	if len(b.must) > 0 || len(b.not) > 0 || len(b.should) == 0 {
		return nil, false
	}
	var all []*planTerm
	plain := false // if all parts are expansions, every chunk has its score already
	for _, part := range b.should {
		if e, ok := part.(*planExpand); ok && e.plan.words.Combine != CombineBM25F {
			all = append(all, &planTerm{expand: e})
			continue
		}
		terms, ok := part.flat()
		if !ok {
			return nil, false
		}
		all = append(all, terms...)
		plain = plain || len(terms) > 0
	}
	return all, plain || len(all) == 0
}

func (b *planBool) node(p *plan, view int) (node, error) {
	n := &boolNode{chunks: uint32(p.snapshot.views[view].reader.Chunks())}
	n.everything = len(b.must)+len(b.should) == 0
	n.sums.byField = make([]float64, len(p.fields))
	for _, list := range []struct {
		from []part
		to   *[]child
	}{{b.must, &n.must}, {b.should, &n.should}, {b.not, &n.not}} {
		for _, part := range list.from {
			one, err := part.node(p, view)
			if err != nil {
				n.close()
				return nil, err
			}
			*list.to = append(*list.to, child{node: one})
		}
	}
	return n, nil
}

// child is a part of a Bool and its current match.
type child struct {
	node
	at      uint32 // the match; not set before started is true
	started bool
}

func (c *child) to(target uint32) uint32 {
	if !c.started || c.at < target {
		c.at, c.started = c.seek(target), true
	}
	return c.at
}

type boolNode struct {
	must, should, not []child
	everything        bool // no Must and Should: finds all that no MustNot matches
	chunks            uint32
	at                uint32
	sums              scores // of one part
}

func (n *boolNode) seek(target uint32) uint32 {
	for {
		n.at = n.next(target)
		if n.at == postings.End || !n.excludes() {
			return n.at
		}
		target = n.at + 1
	}
}

// next returns the first match at or after target, or End. It does not look at MustNot. A match has all Must parts.
// Without Must parts, it has at least one Should part.
func (n *boolNode) next(target uint32) uint32 {
	switch {
	case n.everything:
		if target >= n.chunks {
			return postings.End
		}
		return target
	case len(n.must) == 0:
		at := uint32(postings.End)
		for i := range n.should {
			at = min(at, n.should[i].to(target))
		}
		return at
	}
	for i := 0; i < len(n.must); {
		at := n.must[i].to(target)
		if at == postings.End {
			return at
		}
		if at > target {
			target, i = at, 0
			if n.must[0].at == target {
				i = 1
			}
			continue
		}
		i++
	}
	return target
}

func (n *boolNode) excludes() bool {
	for i := range n.not {
		if n.not[i].to(n.at) == n.at {
			return true
		}
	}
	return false
}

func (n *boolNode) score(s *scores) {
	for i := range n.must {
		n.add(s, &n.must[i])
	}
	for i := range n.should {
		if n.should[i].to(n.at) == n.at {
			n.add(s, &n.should[i])
		}
	}
}

// add adds the score of the part c to s. It first computes this score in n.sums, because adding each term of c to s
// would round differently.
func (n *boolNode) add(s *scores, c *child) {
	c.score(&n.sums)
	for i, v := range n.sums.byField {
		s.byField[i] += v
		n.sums.byField[i] = 0
	}
}

func (n *boolNode) each(f func(*child)) {
	for _, list := range [][]child{n.must, n.should, n.not} {
		for i := range list {
			f(&list[i])
		}
	}
}

func (n *boolNode) rewind() {
	n.each(func(c *child) {
		c.started = false
		c.rewind()
	})
}

func (n *boolNode) err() error {
	var errs []error
	n.each(func(c *child) { errs = append(errs, c.err()) })
	return errors.Join(errs...)
}

func (n *boolNode) close() { n.each(func(c *child) { c.close() }) }

type planNothing struct{}

func (planNothing) flat() ([]*planTerm, bool)     { return nil, true }
func (planNothing) node(*plan, int) (node, error) { return &expandNode{expansion: &expansion{}}, nil }
