package engine

import "sheaf/engine/postings"

// planPhrase finds chunks that hold its terms one after another in one field.
type planPhrase struct {
	terms  []*planTerm
	places []int // position of each term in the phrase
	fields []int
	slop   int
}

func (p *plan) resolvePhrase(q Phrase, factor float64) (part, error) {
	ph := &planPhrase{slop: q.Slop, fields: p.inFields(q.Field)}
	tokens := p.analyzer.QueryTokens(q.Text)
	if len(tokens) == 1 {
		return p.resolveMatch(Match{Text: q.Text, Field: q.Field}, factor)
	}
	for _, t := range tokens {
		term, err := p.term([]byte(t.Term), ph.fields, factor)
		if err != nil {
			return nil, err
		}
		ph.terms, ph.places = append(ph.terms, term), append(ph.places, t.Position)
	}
	return ph, nil
}

func (ph *planPhrase) flat() ([]*planTerm, bool) { return nil, len(ph.terms) == 0 }

func (ph *planPhrase) node(p *plan, view int) (node, error) {
	n := &phraseNode{plan: p, phrase: ph, view: p.snapshot.views[view]}
	if len(ph.terms) == 0 {
		return n, nil
	}
	clauses, err := p.clauses(ph.terms, view, true)
	if err != nil {
		return nil, err
	}
	// A field takes part when it holds every term.
	for _, f := range ph.fields {
		field := phraseField{}
		for _, c := range clauses {
			if c.field == f {
				field.list = append(field.list, c)
			}
		}
		if len(field.list) == len(ph.terms) {
			field.positions = make([]postings.PositionReader, len(ph.terms))
			field.found = make([][]uint32, len(ph.terms))
			n.fields = append(n.fields, field)
		} else {
			closeClauses(field.list)
		}
	}
	if p.words.Combine == CombineBM25F {
		n.any, err = (&planMatch{terms: ph.terms}).node(p, view)
	}
	return n, err
}

type phraseNode struct {
	plan   *plan
	phrase *planPhrase
	view   *view
	fields []phraseField
	any    node // for BM25F, which counts terms in every field, whichever holds the phrase
	at     uint32
}

// phraseField looks for the phrase in one field.
type phraseField struct {
	list      []clause
	positions []postings.PositionReader
	found     [][]uint32
	at        uint32
	started   bool
}

func (n *phraseNode) seek(target uint32) uint32 {
	n.at = postings.End
	for i := range n.fields {
		f := &n.fields[i]
		if !f.started || f.at < target {
			f.at, f.started = f.seek(target, n.phrase), true
		}
		n.at = min(n.at, f.at)
	}
	return n.at
}

// seek finds the next chunk that holds every term, and then looks at positions.
func (f *phraseField) seek(target uint32, ph *planPhrase) uint32 {
	for i := 0; ; {
		c := &f.list[i]
		c.ordinal = c.cursor.Seek(target)
		switch {
		case c.ordinal == postings.End:
			return postings.End
		case c.ordinal > target:
			target, i = c.ordinal, 0
			if len(f.list) == 1 || f.list[0].cursor.Ordinal() == target {
				f.list[0].ordinal = target
				i = min(1, len(f.list)-1)
			}
			continue
		}
		if i++; i == len(f.list) {
			if f.holds(ph) {
				return target
			}
			target, i = target+1, 0
		}
	}
}

// holds reports whether the chunk at which all cursors stand has the phrase: a
// position for each term such that, less the terms' places in the phrase, they
// differ by at most the slop.
func (f *phraseField) holds(ph *planPhrase) bool {
	for i := range f.list {
		f.found[i] = f.positions[i].Append(f.found[i][:0], f.list[i].cursor)
		if len(f.found[i]) == 0 {
			return false
		}
	}
	return alignable(f.found, ph.places, ph.slop)
}

// alignable walks all lists at once, always moving the one that is furthest
// behind: the smallest range that covers an element of every list.
func alignable(found [][]uint32, places []int, slop int) bool {
	var buf [16]int
	next := buf[:0]
	next = append(next, make([]int, len(found))...)
	for {
		low, high, lowest := int64(1<<62), int64(-1<<62), 0
		for i, list := range found {
			at := int64(list[next[i]]) - int64(places[i])
			if at < low {
				low, lowest = at, i
			}
			high = max(high, at)
		}
		if high-low <= int64(slop) {
			return true
		}
		if next[lowest]++; next[lowest] == len(found[lowest]) {
			return false
		}
	}
}

func (n *phraseNode) score(s *scores) {
	if n.plan.words.Combine == CombineBM25F {
		if n.any.seek(n.at) == n.at {
			n.any.score(s)
		}
		return
	}
	for i := range n.fields {
		if f := &n.fields[i]; f.at == n.at {
			n.plan.addScores(s, f.list, n.at, nil)
		}
	}
}

func (n *phraseNode) err() error {
	for i := range n.fields {
		if err := faultOf(n.view, n.fields[i].list); err != nil {
			return err
		}
	}
	if n.any != nil {
		return n.any.err()
	}
	return nil
}

func (n *phraseNode) close() {
	for i := range n.fields {
		closeClauses(n.fields[i].list)
	}
	if n.any != nil {
		n.any.close()
	}
}
