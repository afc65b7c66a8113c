package engine

import (
	"sort"
	"sync"

	"sheaf"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// planPhrase finds chunks in which its terms follow one another in one field.
type planPhrase struct {
	terms  []*planTerm // without repetitions
	slots  []slot      // of the phrase
	tokens []*planTerm // with repetitions; each repetition adds to the score
	fields []int
	slop   int
}

// slot is one word of a phrase. term is an index in planPhrase.terms. place is the position of the word in the phrase.
type slot struct{ term, place int }

func (p *plan) resolvePhrase(q sheaf.Phrase, factor float64) (part, error) {
	tokens := p.analyzer.PhraseTokens(q.Text)
	if len(tokens) == 1 {
		return p.resolveTokens(tokens, q.Field, factor)
	}
	ph := &planPhrase{slop: q.Slop, fields: p.inFields(q.Field), slots: make([]slot, len(tokens)),
		tokens: make([]*planTerm, len(tokens))}
	known := knownTerms{list: make([]*planTerm, 0, len(tokens))}
	for i, t := range tokens {
		n, _, err := known.term(p, t.Term, ph.fields, factor)
		if err != nil {
			return nil, err
		}
		ph.slots[i], ph.tokens[i] = slot{term: n, place: t.Position}, known.list[n]
	}
	ph.terms, ph.tokens = known.list, mergeRepeats(ph.tokens)
	return ph, nil
}

func (ph *planPhrase) flat() ([]*planTerm, bool) { return nil, len(ph.terms) == 0 }

func (ph *planPhrase) node(p *plan, view int) (node, error) {
	n := &phraseNode{plan: p, phrase: ph, view: p.snapshot.views[view], allowed: p.allowed[view]}
	if len(ph.terms) == 0 {
		return n, nil
	}
	for i, f := range ph.fields {
		if !ph.takesPart(p, view, f) {
			continue
		}
		var field phraseField
		for number := range ph.terms {
			c, err := p.clause(ph.terms[number], number, i, view, true)
			if err != nil {
				return nil, err
			}
			field.list = append(field.list, c)
		}
		n.fields = append(n.fields, field)
	}
	for i := range n.fields {
		n.fields[i].open(n.view)
	}
	var err error
	if p.words.Combine == CombineBM25F {
		if n.any, err = (&planMatch{terms: ph.tokens}).node(p, view); err != nil {
			n.close()
			return nil, err
		}
	}
	return n, nil
}

// takesPart reports whether a field of a view contains every term of the phrase.
func (ph *planPhrase) takesPart(p *plan, view, field int) bool {
	local := p.snapshot.views[view].reader.Field(p.fields[field].name)
	if local < 0 {
		return false
	}
	for _, t := range ph.terms {
		if t.refs[view].DF(local) == 0 {
			return false
		}
	}
	return true
}

// mostPositions is the largest number of positions for which a reused termPositions keeps its memory.
const mostPositions = 1 << 12

// phraseNode finds the allowed chunks of a segment that contain a phrase. It reads no positions of other chunks.
type phraseNode struct {
	plan    *plan
	phrase  *planPhrase
	view    *view
	allowed segment.Bitset // nil allows all
	fields  []phraseField
	any     node // for BM25F, which counts terms in every field, not only in those with the phrase
	at      uint32
}

// phraseField finds a phrase in one field of a segment.
type phraseField struct {
	list    []clause
	terms   []*termPositions // of each clause
	at      uint32           // the match; not set before started is true
	started bool
}

// open gives each list of a field a cursor and a reader of positions.
func (f *phraseField) open(v *view) {
	openClauses(v, f.list)
	for i := range f.list {
		f.terms = append(f.terms, takePositions(f.list[i].lengths))
	}
}

// termPositions reads the positions of one term in one field.
type termPositions struct {
	postings.PositionReader
	lengths   segment.Lengths
	lengthOf  func(ordinal uint32) uint32 // lengths.Of
	positions []uint32                    // the positions in the current chunk
}

var positionReaders = sync.Pool{New: func() any {
	r := new(termPositions)
	r.lengthOf = r.lengths.Of
	return r
}}

func takePositions(lengths segment.Lengths) *termPositions {
	r := positionReaders.Get().(*termPositions)
	r.lengths = lengths
	r.Reset(r.lengthOf)
	return r
}

func (r *termPositions) release() {
	r.lengths = segment.Lengths{} // keep no slice of a mapped file
	r.Reset(nil)
	if cap(r.positions) > mostPositions {
		r.positions = nil
	}
	positionReaders.Put(r)
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

// seek returns the first allowed chunk at target or later that has the phrase, or End. It reads positions only of
// chunks that contain every term, because reading positions takes longest.
func (f *phraseField) seek(target uint32, ph *planPhrase, allowed segment.Bitset) uint32 {
	for i := 0; ; {
		c := &f.list[i]
		c.ordinal = c.cursor.Seek(target)
		switch {
		case c.ordinal == postings.End:
			return postings.End
		case c.ordinal > target:
			if target = nextAllowed(allowed, c.ordinal); target == postings.End {
				return target
			}
			i = 0
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
		if f.matches(ph) {
			return target
		}
		target, i = target+1, 0
	}
}

func nextAllowed(allowed segment.Bitset, target uint32) uint32 {
	if allowed == nil {
		return target
	}
	if next := allowed.Next(int(target)); next >= 0 {
		return uint32(next)
	}
	return postings.End
}

// matches reports whether the current chunk of the cursors has the phrase. The offset of an occurrence is its position
// in the chunk minus the term's place in the phrase. The chunk has the phrase if all terms have occurrences whose
// offsets differ by at most the slop.
func (f *phraseField) matches(ph *planPhrase) bool {
	rarest := 0
	for i := range f.list {
		t := f.terms[i]
		t.positions = t.Append(t.positions[:0], f.list[i].cursor)
		if len(t.positions) < len(f.terms[rarest].positions) {
			rarest = i
		}
	}
	for _, slot := range ph.slots {
		if ph.slop == 0 && slot.term != rarest {
			continue // every alignment has the rarest term at each of its places
		}
		for _, position := range f.terms[slot.term].positions {
			if f.positionsWithin(ph, int64(position)-int64(slot.place)) {
				return true
			}
		}
		if ph.slop == 0 {
			break
		}
	}
	return false
}

// positionsWithin reports whether every term has a position with low + place <= position <= low + place + slop. place
// is the term's place in the phrase.
func (f *phraseField) positionsWithin(ph *planPhrase, low int64) bool {
	for _, slot := range ph.slots {
		want := low + int64(slot.place)
		found := f.terms[slot.term].positions
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

// score adds the scores of the phrase's terms in the field, in the order of the terms.
func (f *phraseField) score(p *plan, s *scores, ph *planPhrase) {
	for _, t := range ph.tokens {
		for i := range f.list {
			if c := &f.list[i]; ph.terms[c.term].key == t.key {
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
		for _, t := range n.fields[i].terms {
			t.release()
		}
	}
	if n.any != nil {
		n.any.close()
	}
}
