package engine

import (
	"math/bits"

	"sheaf/engine/bm25"
	"sheaf/engine/postings"
	"sheaf/engine/segment"
)

// MaxScore finds the best chunks of a sum of clauses without scoring them all
// (Turtle and Flood, Query Evaluation: Strategies and Optimizations, 1995; with
// bounds by block after Ding and Suel, Faster Top-k Document Retrieval Using
// Block-Max Indexes, 2011). The clauses are ordered by the most that they can
// add. While the first few of them together cannot reach the score that is
// needed, no chunk that holds only those can be wanted: they are not essential,
// and only looked up for chunks that others bring up.
//
// What is computed here are upper bounds, in any order of summation. Chunks whose
// bound reaches the threshold are scored by the node of the whole query, so that
// scores, and ties, are those of exhaustive scoring to the last bit.

// slack is what rounding can make a bound too small by, and then some.
const slack = 1 + 1e-9

// windowLen is the number of ordinals whose bounds are summed up together.
const windowLen = 2048

// denseWindow is how many essential postings a window must hold on average for
// that to pay.
const denseWindow = 24

// bound is a clause with what it can add at most.
type bound struct {
	cursor  *postings.Cursor
	number  int // among the clauses
	ordinal uint32
	weight  float64 // of a saturated frequency
	scale   float64 // that frequencies are multiplied by: 1 but for BM25F
	lengths segment.Lengths
	norms   *norms
	norm    func(length uint32) float64

	most  float64 // of the whole list
	block int     // that blockMost belongs to, -1 for none
	bMost float64
	wMost float64 // of the window
}

func (b *bound) at(ordinal, frequency uint32) float64 {
	return b.weight * bm25.Saturation(b.scale*float64(frequency), b.normOf(b.lengths.Of(ordinal)))
}

func (b *bound) normOf(length uint32) float64 {
	if length < longField {
		return b.norms[length]
	}
	return b.norm(length)
}

// of is the most that postings with these impacts add.
func (b *bound) of(impacts []postings.Impact) float64 {
	most := 0.0
	for _, m := range impacts {
		most = max(most, b.weight*bm25.Saturation(b.scale*float64(m.Frequency), b.normOf(m.Length)))
	}
	return most
}

// atBlock is the most that the posting at target adds, if there is one.
func (b *bound) atBlock(target uint32) float64 {
	b.cursor.SkipTo(target)
	if n := b.cursor.CurrentBlock(); n != b.block {
		b.block, b.bMost = n, b.of(b.cursor.BlockImpacts())
	}
	return b.bMost
}

// maxScore is the evaluation of one segment.
type maxScore struct {
	bounds    []*bound
	rest      []float64 // rest[i]: the most that bounds[:i] add together
	essential int       // bounds[essential:] are
	allowed   segment.Bitset
	chunks    uint32
	top       *collector
	view      int
	exact     node
	scores    scores
	words     *Words
	touched   int // postings scored
	sums      *[windowLen]float64
	seen      [windowLen / 64]uint64
	peek      []postings.Impact
}

// bounds makes the bounds of terms in one view.
func (p *plan) bounds(terms []*planTerm, view int) ([]*bound, error) {
	clauses, err := p.clauses(terms, view, false)
	if err != nil {
		return nil, err
	}
	all := make([]bound, len(clauses))
	out := make([]*bound, len(clauses))
	for i, c := range clauses {
		b := &all[i]
		out[i] = b
		*b = bound{cursor: c.cursor, number: i, weight: c.weight * c.idf, scale: 1, lengths: c.lengths, norms: c.model.norms, block: -1}
		m := c.model
		b.norm = func(length uint32) float64 { return p.norm(m, length) }
		if p.words.Combine == CombineBM25F {
			if err := p.virtualBound(b, terms[c.term], c.model); err != nil {
				return nil, err
			}
		}
		b.most = b.of(c.cursor.Impacts())
	}
	return out, nil
}

// virtualBound bounds what one field adds to a BM25F score: the function of the
// frequency is concave, so that of a sum is at most the sum of those of its
// parts, and a longer virtual field only lowers it.
func (p *plan) virtualBound(b *bound, t *planTerm, m *model) error {
	tokens := 0.0
	for _, f := range t.fields {
		tokens += p.fields[f].weight * float64(p.fields[f].stats.Tokens)
	}
	average := 1.0
	if p.chunks > 0 && tokens > 0 {
		average = tokens / float64(p.chunks)
	}
	b.scale = m.weight
	b.norm = func(length uint32) float64 { return p.params.Norm(m.weight*float64(length), average) }
	b.norms = p.snapshot.norms.of(bm25.Parameters{K1: p.params.K1, B: p.params.B}, average/m.weight)
	return nil
}

// run offers every chunk of the segment that can be among the best.
func (m *maxScore) run() {
	m.restore()
	m.rest = make([]float64, len(m.bounds)+1)
	for i := range m.bounds {
		m.rest[i+1] = m.rest[i] + m.bounds[i].most
		m.bounds[i].ordinal = m.bounds[i].cursor.Seek(0)
	}
	for at := uint32(0); at < m.chunks; {
		m.partition()
		if m.essential == len(m.bounds) {
			return
		}
		if m.dense() {
			at = m.window(at)
		} else {
			at = m.sparse(m.next(at))
		}
	}
}

// partition finds the essential clauses for the threshold of now.
func (m *maxScore) partition() {
	need := m.top.threshold()
	for m.essential < len(m.bounds) && m.rest[m.essential+1]*slack < need {
		m.essential++
	}
}

// next is the first chunk at or after target that an essential clause holds.
func (m *maxScore) next(target uint32) uint32 {
	at := uint32(postings.End)
	for i := m.essential; i < len(m.bounds); i++ {
		b := m.bounds[i]
		if b.ordinal < target {
			b.ordinal = b.cursor.Seek(target)
		}
		at = min(at, b.ordinal)
	}
	return at
}

func (m *maxScore) dense() bool {
	postings := 0
	for i := m.essential; i < len(m.bounds); i++ {
		postings += m.bounds[i].cursor.DF()
	}
	return postings/(int(m.chunks)/windowLen+1) >= denseWindow
}

// sparse evaluates chunk by chunk, from the one at which an essential clause
// stands, until the threshold has changed the partition.
func (m *maxScore) sparse(at uint32) uint32 {
	essential := m.essential
	for at != postings.End && m.essential == essential {
		sum := 0.0
		next := uint32(postings.End)
		take := m.allowed == nil || m.allowed.Has(at)
		for i := m.essential; i < len(m.bounds); i++ {
			b := m.bounds[i]
			if b.ordinal == at {
				if take {
					sum += b.at(at, b.cursor.Frequency())
					m.touched++
				}
				b.ordinal = b.cursor.Next()
			}
			next = min(next, b.ordinal)
		}
		if take && m.verify(at, sum, m.essential, m.rest) {
			m.partition()
		}
		at = next
	}
	return at
}

// verify scores a chunk exactly if sum, the bound of its clauses from first on,
// and what those before can add, reach the threshold. It reports whether the
// threshold may have changed.
func (m *maxScore) verify(ordinal uint32, sum float64, first int, rest []float64) bool {
	need := m.top.threshold()
	for i := first - 1; i >= 0; i-- {
		if (sum+rest[i+1])*slack < need {
			return false
		}
		b := m.bounds[i]
		if b.ordinal > ordinal {
			continue
		}
		if b.ordinal < ordinal {
			if (sum+b.atBlock(ordinal)+rest[i])*slack < need {
				return false
			}
			if b.ordinal = b.cursor.Seek(ordinal); b.ordinal > ordinal {
				continue
			}
		}
		sum += b.at(ordinal, b.cursor.Frequency())
		m.touched++
	}
	if sum*slack < need {
		return false
	}
	if m.exact.seek(ordinal) != ordinal {
		return false // a fault, which the node reports
	}
	m.exact.score(&m.scores)
	m.touched += len(m.bounds)
	m.top.offer(found{score: m.scores.total(m.words), view: m.view, ordinal: ordinal})
	return true
}

// window evaluates the ordinals from at to the end of its window, and returns
// that end.
func (m *maxScore) window(at uint32) uint32 {
	start := at &^ (windowLen - 1)
	end := min(start+windowLen, m.chunks)
	need := m.top.threshold()
	// Bounds of the window say more than those of whole lists.
	for i := range m.bounds {
		m.bounds[i].wMost = m.windowMost(m.bounds[i], at, end)
	}
	arrange(m.bounds, func(b *bound) float64 { return b.wMost })
	var buf [32]float64
	rest := append(buf[:0], 0)
	first := 0
	for i := range m.bounds {
		rest = append(rest, rest[i]+m.bounds[i].wMost)
		if rest[i+1]*slack < need {
			first = i + 1
		}
	}
	if first < len(m.bounds) {
		if first == len(m.bounds)-1 {
			m.scanOne(at, end, first, rest)
		} else {
			m.scanMany(start, at, end, first, rest)
		}
	}
	m.restore()
	return end
}

// restore brings the clauses back into the order of their bounds by list.
func (m *maxScore) restore() { arrange(m.bounds, func(b *bound) float64 { return b.most }) }

// arrange sorts clauses by what they add, those that add the same by their number.
// It is called for every window, on a handful of clauses that are nearly in order.
func arrange(bounds []*bound, by func(*bound) float64) {
	for i := 1; i < len(bounds); i++ {
		b := bounds[i]
		key := by(b)
		j := i
		for ; j > 0; j-- {
			other := by(bounds[j-1])
			if other < key || other == key && bounds[j-1].number < b.number {
				break
			}
			bounds[j] = bounds[j-1]
		}
		bounds[j] = b
	}
}

// windowMost is the most that a clause adds to a chunk from at up to end.
func (m *maxScore) windowMost(b *bound, at, end uint32) float64 {
	if b.ordinal >= end {
		return 0
	}
	most := b.atBlock(max(at, b.ordinal))
	blocks := b.cursor.Blocks()
	for n := b.cursor.CurrentBlock(); n < blocks-1 && b.cursor.LastOf(n) < end-1 && most < b.most; n++ {
		m.peek = b.cursor.PeekImpacts(m.peek[:0], n+1)
		most = max(most, b.of(m.peek))
	}
	return most
}

// scanOne evaluates a window with a single essential clause. Blocks that bring
// nothing up are not decoded.
func (m *maxScore) scanOne(at, end uint32, first int, rest []float64) {
	b := m.bounds[first]
	need := m.top.threshold()
	for target := max(at, b.ordinal); target < end; {
		if (b.atBlock(target)+rest[first])*slack < need {
			last := b.cursor.LastOf(b.block)
			if last >= end {
				return
			}
			target = last + 1
			continue
		}
		b.ordinal = b.cursor.Seek(target)
		block := b.cursor.CurrentBlock()
		target = max(b.ordinal, target)
		for b.ordinal < end && b.cursor.CurrentBlock() == block {
			o := b.ordinal
			if m.allowed == nil || m.allowed.Has(o) {
				sum := b.at(o, b.cursor.Frequency())
				m.touched++
				if (sum+rest[first])*slack >= need && m.verify(o, sum, first, rest) {
					need = m.top.threshold()
				}
			}
			b.ordinal = b.cursor.Next()
			target = b.ordinal
		}
	}
}

// scanMany sums the essential clauses up over a window.
func (m *maxScore) scanMany(start, at, end uint32, first int, rest []float64) {
	if m.sums == nil {
		m.sums = new([windowLen]float64)
	}
	for i := first; i < len(m.bounds); i++ {
		b := m.bounds[i]
		if b.ordinal < at {
			b.ordinal = b.cursor.Seek(at)
		}
		for b.ordinal < end {
			ordinals, frequencies := b.cursor.Run(end)
			m.touched += len(ordinals)
			weight, scale, norms := b.weight, b.scale, b.norms
			for j, o := range ordinals {
				var norm float64
				if n := b.lengths.Of(o); n < longField {
					norm = norms[n]
				} else {
					norm = b.norm(n)
				}
				slot := (o - start) & (windowLen - 1)
				m.sums[slot] += weight * bm25.Saturation(scale*float64(frequencies[j]), norm)
				m.seen[slot>>6] |= 1 << (slot & 63)
			}
			last := b.ordinal
			if n := len(ordinals); n > 0 {
				last = ordinals[n-1]
			}
			b.ordinal = b.cursor.Seek(last + 1)
		}
	}
	need := m.top.threshold()
	for w, word := range m.seen {
		for ; word != 0; word &= word - 1 {
			slot := w<<6 + bits.TrailingZeros64(word)
			sum := m.sums[slot]
			m.sums[slot] = 0
			if (sum+rest[first])*slack < need {
				continue
			}
			o := start + uint32(slot)
			if (m.allowed == nil || m.allowed.Has(o)) && m.verify(o, sum, first, rest) {
				need = m.top.threshold()
			}
		}
		m.seen[w] = 0
	}
}
