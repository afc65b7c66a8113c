package engine

import (
	"maps"
	"math/bits"
	"slices"
	"sync"

	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// expansion has the matches and scores of a planExpand in one view.
type expansion struct {
	once     sync.Once // computes the fields below
	ordinals []uint32  // the matching chunks, rising
	// best[f][i] is the best score of the chunk ordinals[i] in field f of the plan. best[f] is nil for a field without
	// scores. sums has the scores of all fields together.
	best [][]float64
	sums []float64
	err  error
}

// inView returns the expansion in a view. The first call for a view computes it.
func (e *planExpand) inView(view int) (*expansion, error) {
	x := &e.views[view]
	x.once.Do(func() { x.err = e.fill(x, view) })
	return x, x.err
}

// fill scores every chunk of a view that has an accepted term.
func (e *planExpand) fill(x *expansion, view int) error {
	p := e.plan
	v := p.snapshot.views[view]
	u, err := p.virtual(e.fields, view)
	if err != nil {
		return err
	}
	n := takeTally(v.reader.Chunks(), len(p.fields))
	c := takeCursor()
	defer releaseCursor(c)
	walk := v.reader.Terms()
	ok := walk.Next()
	for _, key := range slices.Sorted(maps.Keys(e.terms)) {
		if ok && string(walk.Key()) < key { // equal beginnings are adjacent
			ok = walk.Next()
		}
		if ok && string(walk.Key()) < key {
			ok = walk.Seek([]byte(key))
		}
		if !ok {
			break
		}
		if string(walk.Key()) != key {
			continue
		}
		if err := n.add(p, v, e, e.terms[key], walk.Term(), u, c); err != nil {
			return err
		}
	}
	if err := walk.Err(); err != nil {
		return err
	}
	n.moveTo(x)
	return nil
}

// add scores the chunks of a view that contain the term t, one of the accepted terms. x has the weight and idf of the
// term over all views. u is the virtual field of BM25F, or nil. add uses the cursor c.
func (n *tally) add(p *plan, v *view, e *planExpand, x *expandedTerm, t *segment.Term, u *virtual,
	c *postings.Cursor) error {
	if u != nil {
		return n.addVirtual(p, v, e, x, t, u)
	}
	for i, f := range e.fields {
		if err := n.addList(p, v, t, f, e.factor*x.weight*p.fields[f].weight, x.idf[i], c); err != nil {
			return err
		}
	}
	return nil
}

// tally collects the best score of every chunk of a view, for each field.
type tally struct {
	found segment.Bitset
	best  [][]float64
	used  []bool // by field
}

// tallies holds unused tallies for reuse. They contain only zeros.
var tallies = sync.Pool{New: func() any { return new(tally) }}

func takeTally(chunks, fields int) *tally {
	n := tallies.Get().(*tally)
	if 64*len(n.found) < chunks {
		n.found = segment.NewBitset(chunks)
	}
	n.best = append(n.best, make([][]float64, max(fields-len(n.best), 0))...)
	n.used = make([]bool, fields)
	return n
}

func (n *tally) addList(p *plan, v *view, t *segment.Term, f int, weight, idf float64, c *postings.Cursor) error {
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
	best := n.scoresOf(f, v.reader.Chunks())
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

func (n *tally) addVirtual(p *plan, v *view, e *planExpand, x *expandedTerm, t *segment.Term, u *virtual) error {
	term := &planTerm{fields: e.fields, idf: x.idf, factor: e.factor * x.weight,
		refs: make([]segment.Term, len(p.snapshot.views))}
	for i := range p.snapshot.views {
		if p.snapshot.views[i] == v {
			term.refs[i] = *t
			clauses, err := p.appendClauses(nil, []*planTerm{term}, i)
			if err != nil {
				return err
			}
			m := &matchNode{plan: p, view: v, list: clauses, virtual: u}
			defer m.close()
			best := n.scoresOf(0, v.reader.Chunks())
			s := scores{byField: make([]float64, len(p.fields))}
			for o := m.seek(0); o != postings.End; o = m.seek(o + 1) {
				n.found.Set(o)
				m.score(&s)
				best[o] = max(best[o], s.byField[0])
				s.byField[0] = 0
			}
			return m.err()
		}
	}
	return nil
}

// scoresOf returns the best scores in one field, indexed by ordinal. The caller changes these scores. chunks is the
// number of chunks in the view.
func (n *tally) scoresOf(field, chunks int) []float64 {
	n.used[field] = true
	if len(n.best[field]) < chunks {
		n.best[field] = make([]float64, chunks)
	}
	return n.best[field]
}

// moveTo moves all matches and scores from n to x, and then returns n to the pool tallies.
func (n *tally) moveTo(x *expansion) {
	count := n.found.Count()
	x.ordinals, x.sums, x.best = make([]uint32, 0, count), make([]float64, count), make([][]float64, len(n.used))
	for w, word := range n.found {
		for ; word != 0; word &= word - 1 {
			x.ordinals = append(x.ordinals, uint32(w<<6+bits.TrailingZeros64(word)))
		}
		n.found[w] = 0
	}
	for f, used := range n.used {
		if !used {
			continue
		}
		x.best[f] = make([]float64, count)
		for i, o := range x.ordinals {
			x.best[f][i] = n.best[f][o]
			x.sums[i] += n.best[f][o]
			n.best[f][o] = 0
		}
	}
	tallies.Put(n)
}

// expandNode finds the chunks of an expansion in one view.
type expandNode struct {
	*expansion
	at int // in ordinals
}

func (n *expandNode) seek(target uint32) uint32 {
	step := 1
	for n.at+step < len(n.ordinals) && n.ordinals[n.at+step] < target {
		n.at += step
		step *= 2
	}
	i, _ := slices.BinarySearch(n.ordinals[n.at:min(n.at+step, len(n.ordinals))], target)
	if n.at += i; n.at == len(n.ordinals) {
		return postings.End
	}
	return n.ordinals[n.at]
}

func (n *expandNode) score(s *scores) {
	for f, best := range n.best {
		if best != nil {
			s.byField[f] += best[n.at]
		}
	}
}

func (n *expandNode) rewind()    { n.at = 0 }
func (n *expandNode) err() error { return nil }
func (n *expandNode) close()     {}
