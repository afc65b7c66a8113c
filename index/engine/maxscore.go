package engine

import (
	"cmp"
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
// up for candidates of the others. Queries with many postings are evaluated window by window: see blockmax.go. There,
// clauses with many postings also come earlier, because scoring all their postings takes longest.
//
// The sums here are upper bounds, in any order of summation. The node of the whole query then scores the chunks whose
// bound reaches the threshold. So scores and ties are as in exhaustive scoring. Bounds that are sums of
// the same numbers raise the threshold like scores. Then the node only scores the chunks that are left at the end.

// slack is a factor for upper bounds. A bound times slack exceeds every score that it covers, despite rounding.
const slack = 1 + 1e-9

// pendingMost is how many chunks may wait for their exact score before run computes these scores. Many chunks wait when
// their scores are nearly equal.
const pendingMost = 4096

// bound is a clause (a term in a field), with the largest score that it can add.
type bound struct {
	cursor      *postings.Cursor
	number      int       // among the clauses
	field       int       // index in the plan
	weight      float64   // weight of a saturated frequency
	scale       float64   // factor of frequencies: 1 except for BM25F
	knownScores []float64 // what postings add, if known: frequency f is at f-1
	lengths     segment.Lengths
	short       []byte // lengths.Plain()
	wide        []byte
	norms       *norms
	virtual     *virtual // the virtual field of BM25F; nil if the field has a score of its own
	// params, average and factor give the norm of a long field: the norm of its length times factor.
	params          bm25.Parameters
	average, factor float64

	// If found is true, the cursor is at ordinal, and that is the current posting. If found is false, the next posting
	// is at ordinal or later.
	ordinal        uint32
	found          bool
	requestedBlock int // the block whose lengths were requested last, -1 for none

	maximum float64 // the maximum in the whole list
	block   int     // the block of bMost, -1 for none
	bMost   float64
	blocks  []float64 // the maximum of every block, if all were computed
	// windows has the largest score of the clause in each window. It is nil unless boundWindows computed it.
	windows []float64
	wMost   float64 // the maximum in the window
	rare    float64 // one divided by the number of postings
	key     float64 // sort key of clauses: maximum, or in a window wMost x rare
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

// prefetch requests the lengths of these chunks from memory early, without waiting.
func (b *bound) prefetch(ordinals []uint32) {
	switch {
	case prefetchEach == nil:
	case b.short != nil:
		prefetchEach(b.short, 1, ordinals)
	case b.wide != nil:
		prefetchEach(b.wide, 2, ordinals)
	}
}

// prefetchBlock requests from memory the lengths of the chunks in the cursor's block. It does so once per block.
func (b *bound) prefetchBlock() {
	if block := b.cursor.CurrentBlock(); block != b.requestedBlock {
		b.requestedBlock = block
		b.prefetch(b.cursor.Block())
	}
}

// atBlock returns the largest score that a posting at target can have. It moves the cursor to the block of target.
func (b *bound) atBlock(target uint32) float64 {
	b.cursor.SkipTo(target)
	return b.ofBlock(b.cursor.CurrentBlock())
}

// maxScore evaluates a word request in one segment. It skips chunks that cannot be among the best (algorithm MaxScore).
// A chunk without a posting of an essential clause cannot be among the best; see partition.
type maxScore struct {
	bounds    []*bound
	ordered   []*bound  // the same clauses, ordered by their bounds in the current window
	rest      []float64 // rest[i] is the most that bounds[:i] add together
	essential int       // bounds[essential:] are essential
	allowed   segment.Bitset
	chunks    uint32
	from, to  uint32 // run offers the ordinals of this range
	windows   int
	most      []float64   // by window, the maximum of a chunk; nil if windows do not pay off
	blocksOf  [][]float64 // by number of the clause, the maximum of every block; nil if windows do not pay off
	top       *collector
	view      int
	exact     node // the node of the whole query
	shares    bool // the field exact has the cursors of bounds
	sums      bool // sums of clauses are the scores, up to rounding
	scores    scores
	words     *Words
	pending   []candidate // while sums is set: chunks that wait for their exact score
	touched   int         // number of scored postings
	scratch   *scratch

	// Other evaluations of the same segment can evaluate other ranges of ordinals. brought has their pending chunks,
	// and elsewhere the number of postings that they scored.
	bringing  sync.Mutex // guards the fields below
	brought   []candidate
	elsewhere int
}

// candidate is a chunk with its approximate score.
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
		sums: p.words.Combine == CombineSum, scores: scores{byField: s.byField}}
	if m.bounds, err = p.bounds(s, terms, view); err == nil {
		m.ordered = s.ordered
		copy(m.ordered, m.bounds)
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
func (p *plan) bounds(s *scratch, terms []*planTerm, view int) (_ []*bound, err error) {
	n := len(s.clauses)
	s.all, s.order, s.ordered = slices.Grow(s.all[:0], n)[:n], slices.Grow(s.order[:0], n)[:n],
		slices.Grow(s.ordered[:0], n)[:n]
	s.rests = slices.Grow(s.rests[:0], n+1)[:n+1]
	for i := range s.clauses {
		b, c := &s.all[i], &s.clauses[i]
		s.order[i] = b
		if c.given != nil {
			*b = bound{cursor: c.cursor, number: i, knownScores: c.given.sums, requestedBlock: -1, block: -1}
			for _, sum := range b.knownScores {
				b.maximum = max(b.maximum, sum)
			}
			continue
		}
		*b = bound{cursor: c.cursor, number: i, field: c.field, weight: c.weight * c.idf, scale: 1, lengths: c.lengths,
			norms: c.model.norms, requestedBlock: -1, block: -1}
		b.params, b.average, b.factor = p.params, c.model.average, 1
		if p.words.Combine != CombineBM25F {
			b.short, b.wide = b.lengths.Plain()
		} else if err = p.virtualBound(b, terms[c.term], c.model, view); err != nil {
			return nil, err
		}
		b.maximum = b.ofList()
	}
	for _, b := range s.order {
		b.rare = 1 / float64(b.cursor.DF())
	}
	return s.order, nil
}

// virtualBound prepares b to bound what one field adds to a BM25F score. The bound is safe for two reasons:
//   - The score is concave in the frequency. So the score of a sum of frequencies is at most the sum of the scores.
//   - An impact has the length of its own field. The virtual field of a posting is never shorter.
func (p *plan) virtualBound(b *bound, t *planTerm, m *model, view int) (err error) {
	if b.virtual, err = p.virtual(t.fields, view); err != nil {
		return err
	}
	b.scale = m.weight
	b.average, b.factor = b.virtual.average, m.weight
	b.norms = p.snapshot.normsFor(p.params, b.average/m.weight)
	return nil
}

// begin computes the number of windows. If windows save time, it also computes their bounds and the bounds of blocks.
func (m *maxScore) begin() {
	m.windows = int(m.chunks)/windowLen + 1
	if m.dense() {
		m.scratch.prepare(m.windows)
		m.most = m.scratch.bounds
		m.boundWindows()
	}
}

// run evaluates the ordinals m.from <= ordinal < m.to, and offers every chunk that can be among the best. It skips the
// windows that probe evaluated.
func (m *maxScore) run() {
	for _, b := range m.bounds {
		b.key = b.maximum
	}
	arrange(m.bounds)
	m.rest = m.scratch.rests
	m.rest[0] = 0
	for i := range m.bounds {
		m.rest[i+1] = m.rest[i] + m.bounds[i].maximum
	}
	for at := m.from; at < m.to; {
		if len(m.pending) > pendingMost {
			m.confirm()
		}
		m.partition()
		switch {
		case m.essential == len(m.bounds):
			return
		case !m.dense():
			at = m.sparse(m.next(at))
		case m.mayHaveBest(at):
			at = m.window(at&^(windowLen-1), at)
		default:
			at = at&^(windowLen-1) + windowLen
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

// partition finds the essential clauses for the current threshold. A chunk without a posting of an essential clause
// cannot reach the threshold.
func (m *maxScore) partition() {
	need := m.top.threshold()
	for m.essential < len(m.bounds) && m.rest[m.essential+1]*slack < need {
		m.essential++
	}
}

// dense reports whether the essential clauses have so many postings that windows save time.
func (m *maxScore) dense() bool {
	postings := 0
	for _, b := range m.bounds[m.essential:] {
		postings += b.cursor.DF()
	}
	return postings/m.windows >= denseWindow
}

// next returns the first chunk at or after target that has a posting of an essential clause.
func (m *maxScore) next(target uint32) uint32 {
	at := uint32(postings.End)
	for i := m.essential; i < len(m.bounds); i++ {
		b := m.bounds[i]
		if b.ordinal < target || !b.found {
			b.seek(max(target, b.ordinal))
		}
		b.prefetchBlock()
		at = min(at, b.ordinal)
	}
	return at
}

// sparse evaluates chunks one by one, beginning at the ordinal at. It stops at m.to, or when a new threshold changes
// which clauses are essential. It returns the next ordinal to evaluate.
func (m *maxScore) sparse(at uint32) uint32 {
	essential := m.essential
	for at < m.to && m.essential == essential {
		sum := 0.0
		next := uint32(postings.End)
		take := (m.allowed == nil || m.allowed.Has(at)) && m.mayHaveBest(at)
		for i := m.essential; i < len(m.bounds); i++ {
			b := m.bounds[i]
			if b.ordinal == at {
				if take {
					sum += b.at(at, b.cursor.Frequency())
					m.touched++
				}
				b.ordinal = b.cursor.Next()
				b.prefetchBlock()
			}
			next = min(next, b.ordinal)
		}
		if take && m.verify(at, sum) {
			m.partition()
		}
		at = next
	}
	return at
}

// verify offers a chunk if its score can reach the threshold. sum is the score of the essential clauses; verify adds
// what the other clauses give. It reports whether the threshold may have changed.
func (m *maxScore) verify(ordinal uint32, sum float64) bool {
	need := m.top.threshold()
	for i := m.essential - 1; i >= 0; i-- {
		if (sum+m.rest[i+1])*slack < need {
			return false
		}
		b := m.bounds[i]
		if b.ordinal < ordinal || !b.found {
			if (sum+b.atBlock(ordinal)+m.rest[i])*slack < need {
				return false
			}
			b.seek(ordinal)
		}
		if b.ordinal == ordinal {
			sum += b.at(ordinal, b.cursor.Frequency())
			m.touched++
		}
	}
	return m.offer(ordinal, sum)
}

// offer handles a chunk whose approximate score, sum, reaches the threshold. If m.sums is true, the chunk becomes
// pending; otherwise the collector gets its exact score at once. offer reports whether the threshold may have changed.
func (m *maxScore) offer(ordinal uint32, sum float64) bool {
	if sum*slack < m.top.threshold() {
		return false
	}
	if m.sums {
		m.top.promise([]float64{sum})
		m.pending = append(m.pending, candidate{ordinal, sum})
		return true
	}
	return m.score(ordinal)
}

// score computes the exact score of a chunk, and offers the chunk to the collector. It returns false if the node
// m.exact does not find the chunk, for example because reading failed.
func (m *maxScore) score(ordinal uint32) bool {
	if m.exact.seek(ordinal) != ordinal {
		return false
	}
	m.exact.score(&m.scores)
	m.touched += len(m.bounds)
	m.top.offer(unreadHit{score: m.scores.total(m.words), view: m.view, ordinal: ordinal})
	return true
}

// confirm offers the pending chunks that can still be among the best, with their exact scores. While chunks wait, the
// threshold rises, so that fewer chunks need an exact score. confirm moves the clauses back to the beginning.
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

// arrange sorts clauses by their keys, the smallest first. Clauses with equal keys are in the order of their numbers.
func arrange(bounds []*bound) {
	for i := 1; i < len(bounds); i++ {
		b := bounds[i]
		j := i
		for ; j > 0; j-- {
			other := bounds[j-1]
			if other.key < b.key || other.key == b.key && other.number < b.number {
				break
			}
			bounds[j] = other
		}
		bounds[j] = b
	}
}
