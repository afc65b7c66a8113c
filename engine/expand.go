package engine

import (
	"bytes"

	"sheaf/analysis"
	"sheaf/engine/postings"
	"sheaf/engine/segment"
)

// planExpand stands for every term of the dictionary that a prefix or a fuzzy
// query accepts. A chunk scores, in each field, as the best of them.
type planExpand struct {
	plan   *plan
	fields []int
	factor float64
	accept acceptor
	forms  bool // look at forms too
	terms  map[string]*expanded
}

// expanded is one term of an expansion.
type expanded struct {
	weight float64 // 1, or what an edit distance leaves
	df     []int   // by index in fields
	idf    []float64
}

// acceptor says which terms a query accepts.
type acceptor interface {
	// accept returns the weight of a term, 0 when it is not accepted, and
	// then, if it is longer than the term, a key before which no term is
	// accepted. done says that no later term is.
	accept(term []byte) (weight float64, skip []byte, done bool)
	// start is the first term that can be accepted.
	start() []byte
}

func (p *plan) resolvePrefix(q Prefix, factor float64) (part, error) {
	return p.resolvePieces(p.analyzer.PrefixPieces(q.Text), q.Field, factor, func(folded string) acceptor { return prefixAcceptor(folded) })
}

// resolvePieces stands for the parts of a prefix or fuzzy query, all of which must
// match.
func (p *plan) resolvePieces(pieces []analysis.Piece, field string, factor float64, accept func(folded string) acceptor) (part, error) {
	all := &planBool{}
	for _, piece := range pieces {
		var one part
		var err error
		if piece.Exact {
			one, err = p.resolvePhrase(Phrase{Text: piece.Text, Field: field}, factor)
		} else {
			one, err = p.expand(accept(piece.Text), p.inFields(field), factor, true)
		}
		if err != nil {
			return nil, err
		}
		all.must = append(all.must, one)
	}
	switch len(all.must) {
	case 0:
		return planNothing{}, nil
	case 1:
		return all.must[0], nil
	}
	return all, nil
}

func (p *plan) expandPrefix(prefix string, fields []int, factor float64, forms bool) (part, error) {
	if prefix == "" {
		return planNothing{}, nil
	}
	return p.expand(prefixAcceptor(prefix), fields, factor, forms)
}

func (p *plan) expand(a acceptor, fields []int, factor float64, forms bool) (part, error) {
	e := &planExpand{plan: p, fields: fields, factor: factor, accept: a, forms: forms, terms: map[string]*expanded{}}
	for i := range p.snapshot.views {
		err := e.walk(i, func(key []byte, weight float64, t *segment.Term) error {
			x := e.terms[string(key)]
			if x == nil {
				x = &expanded{weight: weight, df: make([]int, len(fields))}
				e.terms[string(key)] = x
			}
			return p.addDF(x.df, key, i, t, fields)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, x := range e.terms {
		x.idf = p.idfs(x.df, fields)
	}
	return e, nil
}

// walk calls f with every accepted term of a view.
func (e *planExpand) walk(view int, f func(key []byte, weight float64, t *segment.Term) error) error {
	reader := e.plan.snapshot.views[view].reader
	if err := e.walkPart(reader, nil, f); err != nil || !e.forms {
		return err
	}
	return e.walkPart(reader, []byte{segment.FormMark}, f)
}

// walkPart walks the keys that begin with mark; the terms are what follows it.
func (e *planExpand) walkPart(reader *segment.Reader, mark []byte, f func(key []byte, weight float64, t *segment.Term) error) error {
	walk := reader.Terms()
	key := append(bytes.Clone(mark), e.accept.start()...)
	if len(mark) == 0 && len(key) == 0 {
		key = []byte{segment.FormMark + 1}
	}
	for ok := walk.Seek(key); ok; {
		if !bytes.HasPrefix(walk.Key(), mark) {
			break
		}
		weight, skip, done := e.accept.accept(walk.Key()[len(mark):])
		if done {
			break
		}
		if weight > 0 {
			if err := f(walk.Key(), weight, walk.Term()); err != nil {
				return err
			}
		}
		if skip != nil {
			ok = walk.Seek(append(append(key[:0], mark...), skip...))
		} else {
			ok = walk.Next()
		}
	}
	return walk.Err()
}

func (e *planExpand) flat() ([]*planTerm, bool) { return nil, len(e.terms) == 0 }

// node scores every chunk with an accepted term at once.
func (e *planExpand) node(p *plan, view int) (node, error) {
	v := p.snapshot.views[view]
	n := &expandNode{found: segment.NewBitset(v.reader.Chunks()), best: make([][]float64, len(p.fields))}
	u, err := p.virtual(e.fields, view)
	if err != nil {
		return nil, err
	}
	c := takeCursor()
	defer releaseCursor(c)
	err = e.walk(view, func(key []byte, _ float64, t *segment.Term) error {
		x := e.terms[string(key)]
		if x == nil {
			return nil
		}
		if u != nil {
			return n.addVirtual(p, v, e, x, t, u)
		}
		for i, f := range e.fields {
			if err := n.addList(p, v, t, f, e.factor*x.weight*p.fields[f].weight, x.idf[i], c); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// expandNode holds the best score of every chunk by field.
type expandNode struct {
	found segment.Bitset
	best  [][]float64
	at    int
}

func (n *expandNode) addList(p *plan, v *view, t *segment.Term, f int, weight, idf float64, c *postings.Cursor) error {
	m := p.fields[f]
	local := v.reader.Field(m.name)
	if local < 0 || t.DF(local) == 0 {
		return nil
	}
	list, err := v.reader.List(t, local, false)
	if err != nil {
		return err
	}
	lengths, err := v.reader.Lengths(local)
	if err != nil {
		return err
	}
	if n.best[f] == nil {
		n.best[f] = make([]float64, v.reader.Chunks())
	}
	best := n.best[f]
	x := clause{cursor: c, model: m, lengths: lengths, weight: weight, idf: idf}
	c.Reset(list, uint32(v.reader.Chunks()))
	for docs := c.Block(); len(docs) > 0; docs = c.Block() {
		frequencies := c.Frequencies()
		for i, o := range docs {
			n.found.Set(o)
			best[o] = max(best[o], p.score(&x, o, frequencies[i]))
		}
		c.NextBlock()
	}
	if c.Err() != nil {
		return v.reader.Corrupt(c.Err())
	}
	return nil
}

func (n *expandNode) addVirtual(p *plan, v *view, e *planExpand, x *expanded, t *segment.Term, u *virtual) error {
	term := &planTerm{fields: e.fields, idf: x.idf, factor: e.factor * x.weight, refs: make([]*segment.Term, len(p.snapshot.views))}
	for i := range p.snapshot.views {
		if p.snapshot.views[i] == v {
			term.refs[i] = t
			clauses, err := p.clauses([]*planTerm{term}, i, false)
			if err != nil {
				return err
			}
			m := &matchNode{plan: p, view: v, list: clauses, virtual: u}
			defer m.close()
			if n.best[0] == nil {
				n.best[0] = make([]float64, v.reader.Chunks())
			}
			s := scores{byField: make([]float64, len(p.fields))}
			for o := m.seek(0); o != postings.End; o = m.seek(o + 1) {
				n.found.Set(o)
				m.score(&s)
				n.best[0][o] = max(n.best[0][o], s.byField[0])
				s.byField[0] = 0
			}
			return m.err()
		}
	}
	return nil
}

func (n *expandNode) seek(target uint32) uint32 {
	n.at = n.found.Next(int(target))
	if n.at < 0 {
		return postings.End
	}
	return uint32(n.at)
}

func (n *expandNode) score(s *scores) {
	for f, best := range n.best {
		if best != nil {
			s.byField[f] += best[n.at]
		}
	}
}

func (n *expandNode) rewind()    {}
func (n *expandNode) err() error { return nil }
func (n *expandNode) close()     {}

// prefixAcceptor accepts the terms that begin with it.
type prefixAcceptor string

func (a prefixAcceptor) start() []byte { return []byte(a) }

func (a prefixAcceptor) accept(term []byte) (weight float64, skip []byte, done bool) {
	if len(term) >= len(a) && string(term[:len(a)]) == string(a) {
		return 1, nil, false
	}
	return 0, nil, true
}
