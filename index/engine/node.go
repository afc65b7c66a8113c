package engine

import (
	"slices"
	"sync"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// node finds and scores the chunks of one segment that match a part of a query.
type node interface {
	// seek returns the first match at target or later, or postings.End. The caller must not pass a smaller target than in
	// the previous call.
	seek(target uint32) uint32
	// score adds to s the scores of the match that the last seek returned.
	score(s *scores)
	// explain adds to why the parts of the scores that the method score adds.
	explain(why *reasons)
	// rewind moves the node to the beginning, so that seek may get a smaller target.
	rewind()
	// err returns the fault that ended the matches early, or nil.
	err() error
	close()
}

// scores has the scores of one chunk, by field. With BM25F it has a single score.
type scores struct {
	byField []float64
}

// total combines the scores of the fields into one number, as w.Combine says, and sets these scores to 0.
func (s *scores) total(w *Words) float64 {
	sum, best := 0.0, 0.0
	for i, v := range s.byField {
		sum += v
		best = max(best, v)
		s.byField[i] = 0
	}
	if w.Combine == CombineBest {
		return best + w.TieBreaker*(sum-best)
	}
	return sum
}

var cursors = sync.Pool{New: func() any { return new(postings.Cursor) }}

func takeCursor() *postings.Cursor { return cursors.Get().(*postings.Cursor) }

func releaseCursor(c *postings.Cursor) {
	c.Reset(postings.List{}, 0) // keep no slice of a mapped file
	cursors.Put(c)
}

// clause is a term in one field of one segment.
type clause struct {
	cursor  *postings.Cursor
	ordinal uint32 // current ordinal of the cursor
	field   int    // index in the plan
	model   *model
	lengths segment.Lengths
	weight  float64       // factor of the term x weight of the field; for BM25F: factor of the term x idf
	idf     float64       // of the term in the field; 1 for BM25F
	term    int           // number of the term, for BM25F
	given   *expansion    // the expansion that replaces the term, if not nil
	list    postings.List // the list of the cursor
}

// appendClauses appends the clauses of terms in one view. Each clause has a cursor before the first posting.
func (p *plan) appendClauses(out []clause, terms []*planTerm, view int) ([]clause, error) {
	v := p.snapshot.views[view]
	first := len(out)
	out = slices.Grow(out, len(terms))
	for n, t := range terms {
		if t.expand != nil {
			x, err := t.expand.inView(view)
			if err != nil {
				return nil, err
			}
			if len(x.ordinals) == 0 {
				continue
			}
			c := clause{cursor: takeCursor(), term: n, given: x}
			c.cursor.ResetOver(x.ordinals)
			out = append(out, c)
			continue
		}
		if t.refs[view].None() {
			continue
		}
		for i, f := range t.fields {
			local := v.reader.Field(p.fields[f].name)
			if local < 0 || t.refs[view].DF(local) == 0 {
				continue
			}
			c, err := p.clause(t, n, i, view, false)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	openClauses(v, out[first:])
	return out, nil
}

// clause returns the clause of a term in one field and one view. number is the number of the term, and field is an
// index in t.fields. positions says whether the clause needs positions. The clause has no cursor yet.
func (p *plan) clause(t *planTerm, number, field, view int, positions bool) (c clause, err error) {
	v, m := p.snapshot.views[view], p.fields[t.fields[field]]
	local := v.reader.Field(m.name)
	list, err := v.reader.List(&t.refs[view], local, positions)
	if err != nil {
		return c, err
	}
	lengths, err := v.reader.Lengths(local)
	if err != nil {
		return c, err
	}
	c = clause{field: t.fields[field], model: m, lengths: lengths, term: number, list: list}
	if p.words.Combine == CombineBM25F {
		c.weight, c.idf = t.repeats()*t.factor*t.idf[0], 1
	} else {
		c.weight, c.idf = t.repeats()*t.factor*m.weight, t.idf[field]
	}
	return c, nil
}

func openClauses(v *view, list []clause) {
	for i := range list {
		if c := &list[i]; c.given == nil {
			c.cursor = takeCursor()
			c.cursor.Reset(c.list, uint32(v.reader.Chunks()))
		}
	}
}

// score returns the score of a posting of the clause. It cannot be used with BM25F.
func (p *plan) score(c *clause, ordinal, frequency uint32) float64 {
	return c.weight * (c.idf * bm25.Saturation(float64(frequency), p.norm(c.model, c.lengths.Of(ordinal))))
}

// addScores adds to s the scores of the clauses that have a posting at ordinal. With BM25F, u is the virtual field, and
// the caller must pass the clauses of a term side by side.
func (p *plan) addScores(s *scores, clauses []clause, ordinal uint32, u *virtual) {
	if p.words.Combine == CombineBM25F {
		for i := 0; i < len(clauses); {
			frequency, first := 0.0, i
			for ; i < len(clauses) && clauses[i].term == clauses[first].term; i++ {
				if c := &clauses[i]; c.ordinal == ordinal {
					frequency += c.model.weight * float64(c.cursor.Frequency())
				}
			}
			if frequency > 0 {
				s.byField[0] += clauses[first].weight * bm25.Saturation(frequency, u.norm(ordinal))
			}
		}
		return
	}
	for i := range clauses {
		if c := &clauses[i]; c.ordinal == ordinal {
			s.byField[c.field] += p.score(c, ordinal, c.cursor.Frequency())
		}
	}
}

// virtual is the virtual field of BM25F in one segment: the weighted sum of its fields.
type virtual struct {
	params  bm25.Parameters
	average float64
	lengths []float32 // by ordinal
}

// virtual returns the virtual field made of some fields of a view. It returns nil if the fields are scored separately.
func (p *plan) virtual(fields []int, view int) (*virtual, error) {
	if p.words.Combine != CombineBM25F {
		return nil, nil
	}
	v := p.snapshot.views[view]
	var locals [segment.MaxFields]int
	var weightsOf [segment.MaxFields]float64
	local, weights, tokens := locals[:0], weightsOf[:0], 0.0
	for _, f := range fields {
		m := p.fields[f]
		tokens += m.weight * float64(m.stats.Tokens)
		local, weights = append(local, v.reader.Field(m.name)), append(weights, m.weight)
	}
	lengths, err := v.virtualLengths(local, weights, p.params.Lengths)
	if err != nil {
		return nil, err
	}
	u := &virtual{params: p.params, average: 1, lengths: lengths.sums}
	if p.chunks > 0 && tokens > 0 {
		u.average = tokens / float64(p.chunks)
	}
	return u, nil
}

func (u *virtual) norm(ordinal uint32) float64 {
	return u.params.Norm(float64(u.lengths[ordinal]), u.average)
}

// planMatch finds chunks with at least one of its terms.
type planMatch struct{ terms []*planTerm }

func (m *planMatch) flat() ([]*planTerm, bool) { return m.terms, true }

func (m *planMatch) node(p *plan, view int) (node, error) {
	clauses, err := p.appendClauses(nil, m.terms, view)
	if err != nil {
		return nil, err
	}
	n := new(matchNode)
	if err := n.setUp(m, p, view, clauses); err != nil {
		closeClauses(clauses)
		return nil, err
	}
	return n, nil
}

// setUp prepares n to find the terms of m in a view, with these clauses.
func (n *matchNode) setUp(m *planMatch, p *plan, view int, clauses []clause) (err error) {
	*n = matchNode{plan: p, view: p.snapshot.views[view], list: clauses, terms: m.terms}
	if len(m.terms) > 0 {
		n.virtual, err = p.virtual(m.terms[0].fields, view)
	}
	return err
}

type matchNode struct {
	plan    *plan
	view    *view
	list    []clause
	terms   []*planTerm
	virtual *virtual
	at      uint32
	started bool
}

func (n *matchNode) seek(target uint32) uint32 {
	n.at = postings.End
	for i := range n.list {
		c := &n.list[i]
		if !n.started || c.ordinal < target {
			c.ordinal = c.cursor.Seek(target)
		}
		n.at = min(n.at, c.ordinal)
	}
	n.started = true
	return n.at
}

func (n *matchNode) score(s *scores) { n.plan.addScores(s, n.list, n.at, n.virtual) }

func (n *matchNode) rewind() {
	n.started = false
	for i := range n.list {
		n.list[i].cursor.Rewind()
	}
}

func (n *matchNode) err() error { return faultOf(n.view, n.list) }

func (n *matchNode) close() { closeClauses(n.list) }

func faultOf(v *view, list []clause) error {
	for i := range list {
		if err := list[i].cursor.Err(); err != nil {
			return v.reader.Corrupt(err)
		}
	}
	return nil
}

func closeClauses(list []clause) {
	for i := range list {
		releaseCursor(list[i].cursor)
	}
}
