package engine

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// A segment is cut into windows of ordinals. The block impacts of a window bound the scores of its chunks, without
// decoding any block. The few windows with the largest bounds are evaluated first, which raises the threshold nearly to
// its final value (Mallia, Suel and Tonellotto, Faster Learned Sparse Retrieval with Block-Max Pruning, 2024). Then the
// other windows follow in order, except those with a bound below the threshold.
// Inside a window MaxScore finds the essential clauses, with bounds by block (Ding and Suel, Faster Top-k Document
// Retrieval Using Block-Max Indexes, 2011). The other clauses filter the candidates, one clause after another.
//
// The order of windows does not change the answer: skipped windows are below the threshold, and
// identifiers decide ties.

const (
	// windowLen is the number of ordinals (numbers of chunks) in a window. All chunks of a window have the same upper
	// bound of the score.
	windowLen = 2048
	// With at most thinWindow postings in an average window, all postings of the clause are scored to bound the windows.
	// With more postings, the bounds of windows come from the bounds of blocks.
	thinWindow = 4
	// With more than thickWindow blocks of a clause in an average window, each window gets the bound of the list.
	thickWindow = 4
	// probe evaluates 1 + n/probeEvery of n windows in advance, but at most probes windows.
	probes     = 8
	probeEvery = 32
)

// mostClauses is the largest number of clauses for which a scratch is reused. A larger scratch is left to the garbage
// collector.
const mostClauses = 1 << 9

// scratch is the reusable memory of an evaluation.
type scratch struct {
	bounds  []float64                  // by window; 0 for evaluated windows
	most    []float64                  // bounds of windows, clause after clause
	blocks  []float64                  // bounds of blocks, clause after clause
	heap    []int32                    // windows, the one with the largest bound on top
	sums    [windowLen]float64         // of a window; index 0 is its first ordinal
	seen    [windowLen / 64]uint64     // marks in sums
	ordinal [windowLen]uint32          // of the candidates
	sum     [windowLen]float64         // of the candidates
	scored  [postings.BlockLen]float64 // scores of postings of one clause
	rest    []float64
	// frequency has the weighted frequency of a BM25F term in each chunk of a window; joined marks those above 0.
	frequency [windowLen]float64
	joined    [windowLen / 64]uint64

	clauses []clause
	all     []bound // of the clauses
	order   []*bound
	ordered []*bound
	pending []candidate
	brought []candidate
	placed  [][]float64 // parts of blocks, by clause
	byField []float64

	evaluation maxScore
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) prepare(windows int) {
	n := len(s.clauses) * windows
	s.bounds, s.most, s.heap = slices.Grow(s.bounds[:0], windows)[:windows], slices.Grow(s.most[:0], n)[:n],
		slices.Grow(s.heap[:0], windows)[:windows]
	clear(s.bounds)
	for i := range s.heap {
		s.heap[i] = int32(i)
	}
}

// boundWindows computes an upper bound of the scores in each window. It puts the windows into a heap, the largest bound
// on top.
func (m *maxScore) boundWindows() {
	s := m.scratch
	m.boundBlocks()
	for _, b := range m.bounds {
		b.windows = s.most[b.number*m.windows : (b.number+1)*m.windows]
		b.spread(&s.scored)
	}
	for _, b := range m.ordered {
		for w := range b.windows {
			b.windows[w] = b.joined(w)
			s.bounds[w] += b.windows[w]
		}
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sift(i)
	}
	m.rewind()
}

// probe evaluates a few windows in advance: those with the largest bounds of all segments. This raises the threshold
// early, so that other windows can be skipped.
func probe(ctx context.Context, segments []*maxScore) {
	windows := 0
	for _, m := range segments {
		windows += m.windows
	}
	for range min(probes, 1+windows/probeEvery) {
		var m *maxScore
		best := 0.0
		for _, other := range segments {
			if bound := other.unprobedBound(); bound > best {
				m, best = other, bound
			}
		}
		if m == nil || best*slack < m.top.threshold() || ctx.Err() != nil {
			break
		}
		s := m.scratch
		w := int(s.heap[0])
		s.heap[0] = s.heap[len(s.heap)-1]
		s.heap = s.heap[:len(s.heap)-1]
		m.rewind()
		m.window(uint32(w * windowLen))
		s.bounds[w] = 0
		s.sift(0)
		m.rewind()
	}
}

// unprobedBound returns the largest bound of the windows that probe did not evaluate. It is 0 without such windows.
func (m *maxScore) unprobedBound() float64 {
	if len(m.scratch.heap) == 0 {
		return 0
	}
	return m.scratch.bounds[m.scratch.heap[0]]
}

// boundBlocks computes the bounds of all blocks in advance, because several windows need the same bound.
func (m *maxScore) boundBlocks() {
	all := m.scratch.blocks[:0]
	for _, b := range m.bounds {
		if b.cursor.HasImpacts() && !b.thick(m.windows) {
			for block := range b.cursor.Blocks() {
				all = append(all, b.ofBlock(block))
			}
		}
	}
	m.scratch.blocks = all
	m.blocksOf = slices.Grow(m.scratch.placed[:0], len(m.bounds))[:len(m.bounds)]
	clear(m.blocksOf)
	m.scratch.placed = m.blocksOf
	for _, b := range m.bounds {
		if n := b.cursor.Blocks(); b.cursor.HasImpacts() && !b.thick(m.windows) {
			b.blocks, all = all[:n:n], all[n:]
			m.blocksOf[b.number] = b.blocks
		}
	}
}

// sift moves the window at index i down in the heap to its position. Of windows with equal bounds, the earlier one
// comes first.
func (s *scratch) sift(i int) {
	before := func(a, b int32) bool {
		return s.bounds[a] > s.bounds[b] || s.bounds[a] == s.bounds[b] && a < b
	}
	for {
		down := 2*i + 1
		if down >= len(s.heap) {
			return
		}
		if down+1 < len(s.heap) && before(s.heap[down+1], s.heap[down]) {
			down++
		}
		if !before(s.heap[down], s.heap[i]) {
			return
		}
		s.heap[i], s.heap[down] = s.heap[down], s.heap[i]
		i = down
	}
}

// thick reports whether the clause has very many blocks per window. Then the largest bound in a window hardly differs
// from the bound of the whole list.
func (b *bound) thick(windows int) bool { return b.cursor.Blocks() > thickWindow*windows }

// thin reports whether spread must score all postings of the clause. This is so if blocks have no bounds, or cover many
// windows each. The bound of such a block says little about one window.
func (b *bound) thin(windows int) bool {
	return !b.cursor.HasImpacts() || b.cursor.DF() <= thinWindow*windows
}

// spread sets each b.windows[w] to the largest score that the clause can give a chunk of window w. scored is scratch.
func (b *bound) spread(scored *[postings.BlockLen]float64) {
	most := b.windows
	switch {
	case b.thick(len(most)):
		for w := range most {
			most[w] = b.maximum
		}
		return
	case b.thin(len(most)):
		clear(most)
		for docs := b.cursor.Block(); len(docs) > 0; docs = b.cursor.Block() {
			for i, score := range b.scores(scored, docs, b.cursor.Frequencies()) {
				w := docs[i] / windowLen
				most[w] = max(most[w], score)
			}
			b.cursor.NextBlock()
		}
		return
	}
	clear(most)
	w := 0
	for block := range b.cursor.Blocks() {
		of := b.ofBlock(block)
		last := min(int(b.cursor.LastOf(block)/windowLen), len(most)-1)
		for ; w < last; w++ {
			most[w] = max(most[w], of)
		}
		// The next block may begin in this window.
		most[w] = max(most[w], of)
	}
}

// joined returns the largest score that all clauses in b.fields together can give a chunk of window w. With BM25F, a
// score is weight * x/(1 + x), where x is the frequency divided by the norm. joined adds the largest x of each field.
func (b *bound) joined(w int) float64 {
	if len(b.fields) == 1 {
		return b.windows[w]
	}
	x := 0.0
	for i := range b.fields {
		if most := b.fields[i].windows[w]; most > 0 {
			x += most / (b.weight - most)
		}
	}
	switch {
	case x == 0:
		return 0
	case math.IsNaN(x): // of an infinite weight
		return b.weight
	}
	return b.weight / (1 + 1/x)
}

func (m *maxScore) rewind() {
	m.exact.rewind()
	for _, b := range m.bounds {
		b.cursor.Rewind()
		b.ordinal, b.found = 0, false
	}
}

// window evaluates the window that begins at ordinal start.
func (m *maxScore) window(start uint32) {
	end := min(start+windowLen, m.chunks)
	if m.allowed != nil {
		if next := m.allowed.Next(int(start)); next < 0 || next >= int(end) {
			return
		}
	}
	need := m.top.threshold()
	for _, b := range m.ordered {
		b.wMost = b.windows[start/windowLen]
		b.key = b.wMost / float64(b.df)
	}
	arrange(m.ordered)
	rest := append(m.scratch.rest[:0], 0)
	first := 0
	for i, b := range m.ordered {
		rest = append(rest, rest[i]+b.wMost)
		if rest[i+1]*slack < need {
			first = i + 1
		}
	}
	m.scratch.rest = rest
	if first == len(m.ordered) {
		return
	}
	n := 0
	if first == len(m.ordered)-1 && len(m.ordered[first].fields) == 1 {
		n = m.scanOne(start, end, rest[first])
	} else {
		n = m.scanMany(start, end, first, rest[first])
	}
	for i := first - 1; i >= 0 && n > 0 && m.ordered[i].wMost > 0; i-- {
		n = m.filter(m.ordered[i], n, rest[i])
	}
	m.offerAll(n)
}

func (m *maxScore) offerAll(n int) {
	s := m.scratch
	if m.sums {
		m.top.promise(s.sum[:n])
	}
	for i, o := range s.ordinal[:n] {
		switch {
		case s.sum[i]*slack < m.top.threshold():
		case m.sums:
			m.pending = append(m.pending, candidate{o, s.sum[i]})
		default:
			m.score(o)
		}
	}
}

// scanOne finds the candidates begin <= ordinal < end when only the last clause of m.ordered is essential. A candidate
// is an allowed chunk whose score plus rest reaches the threshold. rest is the most that the other clauses can add.
// scanOne writes the candidates to m.scratch and returns their number. It does not decode blocks without candidates.
func (m *maxScore) scanOne(begin, end uint32, rest float64) int {
	b, s := m.ordered[len(m.ordered)-1], m.scratch
	need := m.top.threshold()
	n := 0
	for begin < end {
		if (b.atBlock(begin)+rest)*slack < need {
			last := b.cursor.LastOf(b.cursor.CurrentBlock())
			if last >= end {
				break
			}
			begin = last + 1
			continue
		}
		block := b.cursor.CurrentBlock()
		if begin = b.seek(begin); begin >= end || b.cursor.CurrentBlock() != block {
			continue // the next block has its own bound
		}
		ordinals, frequencies := b.cursor.Run(end)
		if len(ordinals) == 0 {
			break // a fault, which the cursor keeps
		}
		m.touched += len(ordinals)
		for j, sum := range b.scores(&s.scored, ordinals, frequencies) {
			if o := ordinals[j]; (sum+rest)*slack >= need && (m.allowed == nil || m.allowed.Has(o)) {
				s.ordinal[n], s.sum[n] = o, sum
				n++
			}
		}
		begin = ordinals[len(ordinals)-1] + 1
		b.ordinal, b.found = begin, false
	}
	return n
}

// scanMany adds the scores of the clauses m.ordered[first:] for the ordinals start <= ordinal < end. The window begins
// at start. A candidate is an allowed chunk whose sum plus rest reaches the threshold. rest is the most that the other
// clauses can add. scanMany writes the candidates to m.scratch and returns their number.
func (m *maxScore) scanMany(start, end uint32, first int, rest float64) int {
	s := m.scratch
	for _, b := range m.ordered[first:] {
		m.scan(b, start, end)
		if len(b.fields) > 1 {
			s.addJoined(b, start)
		}
	}
	return m.keepAllowed(s.gather(start, m.top.threshold()/slack-rest))
}

// scan adds the scores of a clause's postings, with begin <= ordinal < end, to the sums of the window. It marks the
// changed sums. For a BM25F term with several fields, scan only adds up the frequencies.
func (m *maxScore) scan(b *bound, begin, end uint32) {
	for i := range b.fields {
		f := &b.fields[i]
		for f.seek(max(begin, f.ordinal)); f.ordinal < end; f.seek(f.ordinal + 1) {
			ordinals, frequencies := f.cursor.Run(end)
			m.touched += len(ordinals)
			if len(b.fields) == 1 {
				m.scratch.add(f, ordinals, frequencies)
			} else {
				m.scratch.join(f, ordinals, frequencies)
			}
		}
	}
}

// gather makes a candidate of each marked sum that reaches need. It clears the marked sums and returns the number of
// candidates. start is the first ordinal of the window.
func (s *scratch) gather(start uint32, need float64) int {
	n := 0
	for w, word := range s.seen {
		for ; word != 0; word &= word - 1 {
			slot := w<<6 + bits.TrailingZeros64(word)
			sum := s.sums[slot]
			s.sums[slot] = 0
			s.ordinal[n], s.sum[n] = start+uint32(slot), sum
			if sum >= need { // no branch: it would be unpredictable
				n++
			}
		}
		s.seen[w] = 0
	}
	return n
}

// keepAllowed drops each of the first n candidates that the request does not allow. It returns how many are left.
func (m *maxScore) keepAllowed(n int) int {
	if m.allowed == nil {
		return n
	}
	s := m.scratch
	kept := 0
	for i, o := range s.ordinal[:n] {
		if m.allowed.Has(o) {
			s.ordinal[kept], s.sum[kept] = o, s.sum[i]
			kept++
		}
	}
	return kept
}

// add adds the scores of postings of one block to the sums of a window, and marks the changed sums. Posting i has
// ordinals[i] and frequencies[i].
func (s *scratch) add(b *bound, ordinals, frequencies []uint32) {
	scored := b.scores(&s.scored, ordinals, frequencies)
	ordinals = ordinals[:len(scored)]
	for j, score := range scored {
		slot := ordinals[j] & (windowLen - 1)
		s.sums[slot] += score
		s.seen[slot>>6] |= 1 << (slot & 63)
	}
}

// join adds the weighted frequencies of postings of one block to the frequencies of a window. It marks these chunks.
func (s *scratch) join(b *bound, ordinals, frequencies []uint32) {
	frequencies = frequencies[:len(ordinals)]
	for j, o := range ordinals {
		slot := o & (windowLen - 1)
		s.frequency[slot] += b.scale * float64(frequencies[j])
		s.joined[slot>>6] |= 1 << (slot & 63)
	}
}

// addJoined computes scores from the frequencies that join has added up. It adds these scores to the sums, and marks
// the changed sums. start is the first ordinal of the window.
func (s *scratch) addJoined(b *bound, start uint32) {
	for w, word := range s.joined {
		s.seen[w] |= word
		for ; word != 0; word &= word - 1 {
			slot := uint32(w<<6 + bits.TrailingZeros64(word))
			s.sums[slot] += b.weight * bm25.Saturation(s.frequency[slot], b.virtual.norm(start+slot))
			s.frequency[slot] = 0
		}
		s.joined[w] = 0
	}
}

// filterJoined is the variant of filter for a BM25F term with several fields.
func (m *maxScore) filterJoined(b *bound, n int, rest float64) int {
	s := m.scratch
	m.scan(b, s.ordinal[0], s.ordinal[n-1]+1)
	need := m.top.threshold()/slack - rest
	kept := 0
	for i, o := range s.ordinal[:n] {
		sum := s.sum[i]
		if f := s.frequency[o&(windowLen-1)]; f > 0 {
			sum += b.weight * bm25.Saturation(f, b.virtual.norm(o))
		}
		s.ordinal[kept], s.sum[kept] = o, sum
		if sum >= need {
			kept++
		}
	}
	clear(s.frequency[:])
	clear(s.joined[:])
	return kept
}

// scores returns the scores of postings of one block, in the memory of dst. Posting i has ordinals[i] and
// frequencies[i].
func (b *bound) scores(dst *[postings.BlockLen]float64, ordinals, frequencies []uint32) []float64 {
	weight, scale, norms, short, wide := b.weight, b.scale, b.norms, b.short, b.wide
	ordinals = ordinals[:min(len(ordinals), len(dst))]
	frequencies = frequencies[:len(ordinals)]
	out := dst[:len(ordinals)]
	switch {
	case b.knownScores != nil:
		for j, f := range frequencies {
			out[j] = b.knownScores[f-1]
		}
	case b.virtual != nil:
		for j, o := range ordinals {
			out[j] = weight * bm25.Saturation(scale*float64(frequencies[j]), b.virtual.norm(o))
		}
	case short != nil:
		for j, o := range ordinals {
			n := short[o]
			norm := norms[n]
			if n == segment.LongByte {
				norm = b.normOf(b.lengths.Of(o))
			}
			out[j] = weight * bm25.Saturation(scale*float64(frequencies[j]), norm)
		}
	case wide != nil:
		for j, o := range ordinals {
			n := uint32(binary.LittleEndian.Uint16(wide[2*o:]))
			norm := norms[n%longField]
			if n >= longField {
				norm = b.normOf(b.lengths.Of(o))
			}
			out[j] = weight * bm25.Saturation(scale*float64(frequencies[j]), norm)
		}
	default:
		for j, o := range ordinals {
			out[j] = weight * bm25.Saturation(scale*float64(frequencies[j]), b.normOf(b.lengths.Of(o)))
		}
	}
	return out
}

// filter adds the scores of a clause to the sums of the first n candidates. rest is the most that the clauses before it
// in m.ordered can add. filter keeps the candidates whose sum plus rest reaches the threshold, and returns their
// number. Candidates and postings are in order and close together, so filter reads blocks in order without searching.
func (m *maxScore) filter(b *bound, n int, rest float64) int {
	if len(b.fields) > 1 {
		return m.filterJoined(b, n, rest)
	}
	s := m.scratch
	need := m.top.threshold()/slack - rest
	b.found = false
	var docs, frequencies []uint32 // of the block, decoded when needed
	at, last, most := 0, uint32(0), 0.0
	fresh := true
	kept := 0
	for i, o := range s.ordinal[:n] {
		sum := s.sum[i]
		if fresh || last < o {
			last, fresh = b.cursor.SkipTo(o), false
			most = b.ofBlock(b.cursor.CurrentBlock())
			docs, frequencies = nil, nil
		}
		if docs == nil {
			if sum+most < need {
				continue
			}
			docs, at = b.cursor.Block(), 0
		}
		for at+8 <= len(docs) && docs[at+7] < o {
			at += 8
		}
		if at+8 <= len(docs) { // no branches: they would be unpredictable
			at += countBelow((*[8]uint32)(docs[at:]), o)
		} else {
			for at < len(docs) && docs[at] < o {
				at++
			}
		}
		if at < len(docs) && docs[at] == o {
			if frequencies == nil {
				frequencies = b.cursor.Frequencies()
			}
			if at < len(frequencies) { // otherwise there is a fault, which the cursor keeps
				sum += b.at(o, frequencies[at])
			}
			m.touched++
		}
		s.ordinal[kept], s.sum[kept] = o, sum
		if sum >= need { // no branch: it would be unpredictable
			kept++
		}
	}
	return kept
}

// countBelow returns how many elements of docs are less than o. The caller must pass only numbers below 1<<31.
func countBelow(docs *[8]uint32, o uint32) int {
	n := (docs[0]-o)>>31 + (docs[1]-o)>>31 + (docs[2]-o)>>31 + (docs[3]-o)>>31
	n += (docs[4]-o)>>31 + (docs[5]-o)>>31 + (docs[6]-o)>>31 + (docs[7]-o)>>31
	return int(n)
}
