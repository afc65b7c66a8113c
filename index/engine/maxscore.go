package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// MaxScore finds the best chunks of a sum of clauses without scoring all chunks (Turtle and Flood, Query Evaluation:
// Strategies and Optimizations, 1995). The clauses are ordered by the largest score that they can add. Chunks that
// have only the first few clauses cannot reach the threshold. These clauses are not essential: they are only looked
// up for candidates of the others. This happens window by window: see blockmax.go. There, clauses with many postings
// also come earlier, because scoring all their postings takes longest.
//
// The sums here are the scores up to rounding, or upper bounds for CombineBest. The node of the whole query then scores
// the chunks whose sum reaches the threshold. So scores and ties are as in exhaustive scoring. Sums that are scores up
// to rounding raise the threshold like scores. Then the node only scores the chunks that are left at the end.

// slack makes up for rounding: no score is larger than its bound times slack.
const slack = 1 + 1e-9

// roundedDown is a factor for the lengths in BM25F bounds. It makes up for rounding lengths of virtual fields to 32
// bits.
const roundedDown = 1 - 1e-6

// pendingMost is the largest number of chunks that wait for their exact score. When more wait, run computes these
// scores. Many chunks wait when their scores are nearly equal.
const pendingMost = 4096

// bound is a clause (a term in a field), with the largest score that the clause can add.
type bound struct {
	cursor      *postings.Cursor
	number      int       // among the clauses
	field       int       // index in the plan
	weight      float64   // weight of a saturated frequency
	scale       float64   // factor of frequencies: 1 except for BM25F
	knownScores []float64 // scores of postings, if known: frequency f has index f-1
	lengths     segment.Lengths
	short, wide []byte // the results of lengths.Plain
	norms       *norms
	virtual     *virtual // the virtual field of BM25F; nil if the field has a score of its own
	// Without BM25F, fields has only the clause itself. With BM25F, the first clause of a term has all clauses of the
	// term, and the others have none.
	fields []bound
	// params, average and factor give the norm of a long field: see normOf. factor multiplies the length.
	params          bm25.Parameters
	average, factor float64

	// If found is true, ordinal is the ordinal of the cursor's current posting. If found is false, the next posting is
	// at ordinal or later.
	ordinal uint32
	found   bool

	maximum float64 // the maximum in the whole list
	block   int     // the block whose maximum is bMost; -1 for none
	bMost   float64
	blocks  []float64 // the maximum of every block, if all were computed
	// windows has the largest score of the clause, or of all clauses in fields, in each window.
	windows []float64
	wMost   float64 // the maximum in the window
	df      int     // number of postings of all clauses in fields
	key     float64 // sort key of clauses in a window: wMost / df
}

// seek moves to the first posting at target or later, and returns its ordinal, or End.
func (b *bound) seek(target uint32) uint32 {
	b.ordinal, b.found = b.cursor.Seek(target), true
	return b.ordinal
}

func (b *bound) at(ordinal, frequency uint32) float64 {
	if b.knownScores != nil {
		return b.knownScores[frequency-1]
	}
	return b.weight * bm25.Saturation(b.scale*float64(frequency), b.normAt(ordinal))
}

// normAt returns the norm of a chunk's field. With BM25F, it returns the norm of the chunk's virtual field.
func (b *bound) normAt(ordinal uint32) float64 {
	if b.virtual != nil {
		return b.virtual.norm(ordinal)
	}
	if b.short != nil {
		if n := b.short[ordinal]; n < segment.LongByte {
			return b.norms[n]
		}
	} else if b.wide != nil {
		if n := binary.LittleEndian.Uint16(b.wide[2*ordinal:]); n < longField {
			return b.norms[n]
		}
	}
	return b.normOf(b.lengths.Of(ordinal))
}

func (b *bound) normOf(length uint32) float64 {
	if length < longField {
		return b.norms[length]
	}
	return b.params.Norm(b.factor*float64(b.params.Lengths.Of(length)), b.average)
}

// largestOf returns the largest score that a posting with these impacts can have.
func (b *bound) largestOf(impacts *postings.Impacts) float64 {
	// f/(f+n) grows with f/n, which can be compared without a division.
	frequency, norm := 0.0, 1.0
	for _, m := range impacts {
		if m.Frequency == 0 {
			break
		}
		if f, n := b.scale*float64(m.Frequency), b.normOf(m.Length); f*norm > frequency*n {
			frequency, norm = f, n
		}
	}
	return max(0, b.weight*bm25.Saturation(frequency, norm))
}

// ofList returns the largest score of all postings in the list. A short list has no impacts; then ofList scores its
// postings.
func (b *bound) ofList() float64 {
	var impacts postings.Impacts
	if b.cursor.HasImpacts() {
		b.cursor.Impacts(&impacts)
		return b.largestOf(&impacts)
	}
	most := 0.0
	docs, frequencies := b.cursor.Block(), b.cursor.Frequencies()
	for i, f := range frequencies {
		most = max(most, b.at(docs[i], f))
	}
	return most
}

// ofBlock returns a bound of the scores of the postings in a block. Without impacts, it is the bound of the whole list.
func (b *bound) ofBlock(block int) float64 {
	if !b.cursor.HasImpacts() || block >= b.cursor.Blocks() {
		return b.maximum
	}
	if b.blocks != nil {
		return b.blocks[block]
	}
	if block != b.block {
		var impacts postings.Impacts
		b.cursor.BlockImpacts(&impacts, block)
		b.block, b.bMost = block, b.largestOf(&impacts)
	}
	return b.bMost
}

// atBlock returns the largest score that a posting at target can have. It moves the cursor to the block of target.
func (b *bound) atBlock(target uint32) float64 {
	b.cursor.SkipTo(target)
	return b.ofBlock(b.cursor.CurrentBlock())
}

// maxScore evaluates a word request in one segment. It skips chunks that cannot be among the best (algorithm MaxScore).
type maxScore struct {
	bounds   []*bound
	ordered  []*bound // the bounds with fields, sorted by their keys in the current window
	allowed  segment.Bitset
	chunks   uint32
	from, to uint32 // run offers the ordinals of this range
	windows  int
	most     []float64   // by window, the maximum of a chunk
	blocksOf [][]float64 // by number of the clause, the maximum of every block
	top      *collector
	view     int
	exact    node // the node of the whole query
	shares   bool // the field exact has the cursors of bounds
	sums     bool // sums of clauses are the scores, up to rounding
	scores   scores
	words    *Words
	pending  []candidate // while sums is set: chunks that wait for their exact score
	touched  int         // number of scored postings
	scratch  *scratch

	// Other evaluations can evaluate other ranges of the same segment; see bring. brought has the pending chunks of
	// these evaluations, and elsewhere is the number of postings that these evaluations scored.
	bringing  sync.Mutex // guards the fields below
	brought   []candidate
	elsewhere int
}

// candidate is a chunk with its sum of the scores of clauses; see maxScore.sums.
type candidate struct {
	ordinal uint32
	sum     float64
}

// maxScore returns the evaluation of the request in one view. The score of a chunk is the sum over terms. The
// evaluation offers hits to top.
func (p *plan) maxScore(terms []*planTerm, view int, top *collector) (*maxScore, error) {
	s := scratches.Get().(*scratch)
	clauses, err := p.appendClauses(s.clauses[:0], terms, view)
	if err != nil {
		return nil, err
	}
	s.clauses = clauses
	chunks := uint32(p.snapshot.views[view].reader.Chunks())
	s.byField = append(s.byField[:0], make([]float64, len(p.fields))...)
	m := &s.evaluation
	*m = maxScore{allowed: p.allowed[view], chunks: chunks, to: chunks, top: top, view: view, words: p.words, scratch: s,
		pending: s.pending[:0], brought: s.brought[:0],
		sums: p.words.Combine != CombineBest, scores: scores{byField: s.byField}}
	if m.bounds, err = p.bounds(s, terms, view); err == nil {
		m.ordered = s.ordered
		var match *planMatch
		if match, m.shares = p.root.(*planMatch); m.shares && m.sums {
			n := new(matchNode)
			err = n.setUp(match, p, view, clauses)
			m.exact = n
		} else {
			m.shares = false
			m.exact, err = p.root.node(p, view)
		}
	}
	if err != nil {
		closeClauses(clauses)
		return nil, err
	}
	return m, nil
}

// bounds makes a bound for each clause of s, in the memory of s. s has the clauses of terms in one view.
//
// With BM25F, the bound of a clause is the largest score that its field alone can give; see bound.joined. An impact has
// no virtual length, but only the length of the field. This length times the field's weight is at most the virtual
// length, except for rounding; see roundedDown. So the bound uses this product as the length.
func (p *plan) bounds(s *scratch, terms []*planTerm, view int) (_ []*bound, err error) {
	n, joins := len(s.clauses), p.words.Combine == CombineBM25F
	s.all, s.order, s.ordered = slices.Grow(s.all[:0], n)[:n], slices.Grow(s.order[:0], n)[:n],
		slices.Grow(s.ordered[:0], n)
	for i := range s.clauses {
		b, c := &s.all[i], &s.clauses[i]
		s.order[i] = b
		*b = bound{cursor: c.cursor, number: i, field: c.field, weight: c.weight * c.idf, scale: 1, lengths: c.lengths,
			params: p.params, factor: 1, block: -1}
		first := b // of the clauses of the term
		if joins && i > 0 && s.clauses[i-1].term == c.term {
			first = s.ordered[len(s.ordered)-1]
			b.virtual = first.virtual
		} else if s.ordered = append(s.ordered, b); joins {
			if b.virtual, err = p.virtual(terms[c.term].fields, view); err != nil {
				return nil, err
			}
		}
		switch {
		case c.given != nil:
			b.knownScores = c.given.sums
			b.maximum = max(0, slices.Max(b.knownScores))
		case joins:
			b.scale, b.factor, b.average = c.model.weight, c.model.weight*roundedDown, b.virtual.average
			b.norms = p.snapshot.normsFor(p.params, b.average/b.factor)
			b.maximum = b.ofList()
		default:
			b.average, b.norms = c.model.average, c.model.norms
			b.short, b.wide = b.lengths.Plain()
			b.maximum = b.ofList()
		}
		first.df += c.cursor.DF()
		first.fields = s.all[first.number : i+1]
	}
	return s.order, nil
}

// begin computes the number of windows, and the bounds of windows and blocks.
func (m *maxScore) begin() {
	m.windows = int(m.chunks)/windowLen + 1
	m.scratch.prepare(m.windows)
	m.most = m.scratch.bounds
	m.boundWindows()
}

// run evaluates the ordinals m.from <= ordinal < m.to, and offers every chunk that can be among the best. It skips the
// windows that probe evaluated, and those with a bound below the threshold. If ctx ends, run returns early.
func (m *maxScore) run(ctx context.Context) {
	for start := m.from; start < m.to && ctx.Err() == nil; start += windowLen {
		if bound := m.most[start/windowLen]; bound > 0 && bound*slack >= m.top.threshold() {
			m.window(start)
		}
		if len(m.pending) > pendingMost {
			m.confirm()
		}
	}
}

func (m *maxScore) close() {
	for _, b := range m.bounds {
		releaseCursor(b.cursor)
	}
	if !m.shares {
		m.exact.close()
	}
	s := m.scratch
	clear(s.clauses) // keep no slice of a mapped file
	clear(s.all)
	s.pending, s.brought = m.pending, m.brought
	*m = maxScore{}
	if cap(s.clauses) <= mostClauses {
		scratches.Put(s)
	}
}

// score computes the exact score of a chunk, and offers the chunk with this score to m.top.
func (m *maxScore) score(ordinal uint32) {
	if m.exact.seek(ordinal) != ordinal {
		return // a fault, which the cursor keeps
	}
	m.exact.score(&m.scores)
	m.touched += len(m.bounds)
	m.top.offer(unreadHit{score: m.scores.total(m.words), view: m.view, ordinal: ordinal})
}

// confirm offers to m.top the pending chunks that can still be among the best, with their exact scores. While chunks
// wait for confirm, the threshold rises. So fewer chunks need an exact score. confirm rewinds all cursors.
func (m *maxScore) confirm() {
	need := m.top.threshold()
	kept := m.pending[:0]
	for _, c := range m.pending {
		if c.sum*slack >= need {
			kept = append(kept, c)
		}
	}
	m.pending = kept
	slices.SortFunc(kept, func(a, b candidate) int { return cmp.Compare(a.ordinal, b.ordinal) })
	m.rewind()
	for _, c := range kept {
		if c.sum*slack >= m.top.threshold() {
			m.score(c.ordinal)
		}
	}
	m.pending = kept[:0]
	m.rewind()
}

// manyClauses is the number of clauses from which the general sort is faster than inserting one clause after another.
const manyClauses = 256

// arrange sorts clauses by their keys, the smallest first. Clauses with equal keys are in the order of their numbers.
func arrange(bounds []*bound) {
	if len(bounds) >= manyClauses {
		slices.SortFunc(bounds, compareKeys)
		return
	}
	for i := 1; i < len(bounds); i++ {
		b := bounds[i]
		j := i
		for ; j > 0 && compareKeys(bounds[j-1], b) > 0; j-- {
			bounds[j] = bounds[j-1]
		}
		bounds[j] = b
	}
}

func compareKeys(a, b *bound) int {
	if a.key < b.key || a.key == b.key && a.number < b.number {
		return -1
	}
	return 1
}
