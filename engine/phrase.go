package engine

import (
	"sort"
	"sync"

	"sheaf/engine/postings"
	"sheaf/engine/segment"
)

// planPhrase finds chunks that hold its terms one after another in one field.
type planPhrase struct {
	terms  []*planTerm // without repetitions
	slots  []slot      // of the phrase
	tokens []*planTerm // with repetitions, which all score
	fields []int
	slop   int
}

// slot is a place of a phrase and the term that stands there.
type slot struct{ term, place int }

func (p *plan) resolvePhrase(q Phrase, factor float64) (part, error) {
	ph := &planPhrase{slop: q.Slop, fields: p.inFields(q.Field)}
	tokens := p.analyzer.QueryTokens(q.Text)
	if len(tokens) == 1 {
		return p.resolveMatch(Match{Text: q.Text, Field: q.Field}, factor)
	}
	known := map[string]int{} // index in ph.terms
	for _, t := range tokens {
		n, ok := known[t.Term]
		if !ok {
			term, err := p.term([]byte(t.Term), ph.fields, factor)
			if err != nil {
				return nil, err
			}
			n = len(ph.terms)
			known[t.Term] = n
			ph.terms = append(ph.terms, term)
		}
		ph.slots = append(ph.slots, slot{term: n, place: t.Position})
		ph.tokens = append(ph.tokens, ph.terms[n])
	}
	ph.tokens = once(ph.tokens)
	return ph, nil
}

func (ph *planPhrase) flat() ([]*planTerm, bool) { return nil, len(ph.terms) == 0 }

func (ph *planPhrase) node(p *plan, view int) (node, error) {
	n := &phraseNode{plan: p, phrase: ph, view: p.snapshot.views[view], allowed: p.allowed[view]}
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
			field.positions = make([]*postings.PositionReader, len(ph.terms))
			for i := range field.positions {
				field.positions[i] = positionReaders.Get().(*postings.PositionReader)
				field.positions[i].Reset(field.list[i].lengths.Of)
			}
			field.found = make([][]uint32, len(ph.terms))
			n.fields = append(n.fields, field)
		} else {
			closeClauses(field.list)
		}
	}
	if p.words.Combine == CombineBM25F {
		n.any, err = (&planMatch{terms: ph.tokens}).node(p, view)
	}
	return n, err
}

// positionReaders have memory that is used again.
var positionReaders = sync.Pool{New: func() any { return new(postings.PositionReader) }}

// phraseNode finds the chunks with a phrase, of those that are allowed: where the others
// have it is not looked at.
type phraseNode struct {
	plan    *plan
	phrase  *planPhrase
	view    *view
	allowed segment.Bitset // nil allows all
	fields  []phraseField
	any     node // for BM25F, which counts terms in every field, whichever holds the phrase
	at      uint32
}

// phraseField looks for the phrase in one field.
type phraseField struct {
	list      []clause
	positions []*postings.PositionReader
	found     [][]uint32
	at        uint32
	started   bool
}

func (n *phraseNode) seek(target uint32) uint32 {
	n.at = postings.End
	for i := range n.fields {
		f := &n.fields[i]
		if !f.started || f.at < target {
			f.at, f.started = f.seek(target, n.phrase, n.allowed), true
		}
		n.at = min(n.at, f.at)
	}
	return n.at
}

// seek finds the next chunk that is allowed and holds every term, and then looks at
// positions, which takes longest.
func (f *phraseField) seek(target uint32, ph *planPhrase, allowed segment.Bitset) uint32 {
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
		if i++; i < len(f.list) {
			continue
		}
		if next := nextAllowed(allowed, target); next != target {
			if next == postings.End {
				return next
			}
			target, i = next, 0
			continue
		}
		if f.holds(ph) {
			return target
		}
		target, i = target+1, 0
	}
}

// nextAllowed is the first chunk from target on that is allowed.
func nextAllowed(allowed segment.Bitset, target uint32) uint32 {
	if allowed == nil {
		return target
	}
	if next := allowed.Next(int(target)); next >= 0 {
		return uint32(next)
	}
	return postings.End
}

// holds reports whether the chunk at which all cursors stand has the phrase: a
// position for each term such that, less the terms' places in the phrase, they
// differ by at most the slop.
func (f *phraseField) holds(ph *planPhrase) bool {
	rarest := 0
	for i := range f.list {
		f.found[i] = f.positions[i].Append(f.found[i][:0], f.list[i].cursor)
		if len(f.found[i]) < len(f.found[rarest]) {
			rarest = i
		}
	}
	for _, slot := range ph.slots {
		if ph.slop == 0 && slot.term != rarest {
			continue // every alignment has the rarest term at each of its places
		}
		for _, position := range f.found[slot.term] {
			if f.within(ph, int64(position)-int64(slot.place)) {
				return true
			}
		}
		if ph.slop == 0 {
			break
		}
	}
	return false
}

// within reports whether every term stands at its place, counted from low, or at
// most the slop later.
func (f *phraseField) within(ph *planPhrase, low int64) bool {
	for _, slot := range ph.slots {
		want := low + int64(slot.place)
		found := f.found[slot.term]
		i := sort.Search(len(found), func(i int) bool { return int64(found[i]) >= want })
		if i == len(found) || int64(found[i]) > want+int64(ph.slop) {
			return false
		}
	}
	return true
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
			f.score(n.plan, s, n.phrase)
		}
	}
}

// score adds the scores of the phrase's terms in the field, in their order.
func (f *phraseField) score(p *plan, s *scores, ph *planPhrase) {
	for _, t := range ph.tokens {
		for i := range f.list {
			if c := &f.list[i]; string(ph.terms[c.term].key) == string(t.key) {
				s.byField[c.field] += t.repeats() * p.score(c, f.at, c.cursor.Frequency())
			}
		}
	}
}

func (n *phraseNode) rewind() {
	for i := range n.fields {
		n.fields[i].started = false
		for j := range n.fields[i].list {
			n.fields[i].list[j].cursor.Rewind()
		}
	}
	if n.any != nil {
		n.any.rewind()
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
		for _, r := range n.fields[i].positions {
			r.Reset(nil)
			positionReaders.Put(r)
		}
		n.fields[i].positions = nil
	}
	if n.any != nil {
		n.any.close()
	}
}
