package vector

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// The first step estimates all rows and compares the best. The choice of rows does not depend on
// how the work is divided.

// survivor is a row that survives the first step of a search, with its estimate.
type survivor struct {
	row      uint32
	estimate int32
}

const (
	// splitRows is the smallest number of rows in a range that makes another goroutine worthwhile. The number of ranges
	// depends only on the number of rows, so the result is the same on all processors.
	splitRows = 1 << 18
	// stretchRows is the largest number of rows whose estimates are in memory at once. With a smaller limit, a search
	// compares more rows before it knows near rows. With a larger limit, estimates would not stay in the cache.
	stretchRows = 1 << 18
	// cancelBlocks is the number of blocks after which a scan checks for cancellation. These blocks take about 0.1 ms.
	cancelBlocks = 64
	// Of each countedEvery neighboring estimates, a scan counts one. From these counts it predicts how many rows have
	// at least a certain estimate. countedEvery is a power of two, and countedShift is 32 minus its binary logarithm.
	countedEvery = 32
	countedShift = 27
)

// scanJob says which rows a scan selects.
type scanJob struct {
	allowed []uint64
	depth   int // the most survivors
	k       int // number of wanted chunks
	// prune makes the scan compare rows exactly while it still estimates others. It then skips rows that cannot be near
	// enough. Without prune, exactly the best depth rows survive, and the caller compares them at the end.
	prune bool
}

// scanner is the memory of a goroutine that selects and compares rows.
type scanner struct {
	counter            // used by limit
	sampled counter    // some estimates of the current range
	list    []survivor // survivors in their order, or compared rows
	lost    int32      // each row that limit dropped has this estimate or a lower one
	index   []uint32   // rows to compare
	out     [blockRows]int32
	scales  [blockRows]float32
	// estimates has the estimate of each row of a stretch. waiting marks rows to take; chosen is scratch of choose.
	estimates       []int32
	waiting, chosen []byte
}

// part is the result of a scan in one range of rows. It is small, because a search may have many parts; a scanner has
// the large memory.
type part struct {
	list    []survivor
	lost    int32
	nearest nearest
	err     error
}

// scan estimates all rows. If job.prune is true, it also compares rows, and leaves the results in w.nearest. Otherwise
// it leaves the best rows in w.list, in the order of rows.
func (s *Set) scan(ctx context.Context, w *worker, job scanJob) error {
	parts := max(1, s.Count/splitRows)
	for len(w.parts) < parts {
		w.parts = append(w.parts, part{})
	}
	share := (s.Count/parts + blockRows - 1) / blockRows * blockRows
	if parts == 1 {
		s.scanPart(ctx, w, &w.scanner, &job, 0, share)
	} else {
		s.scanParts(ctx, w, job, parts, share)
	}
	w.list, w.lost = w.list[:0], math.MinInt32
	for i := range parts {
		p := &w.parts[i]
		if p.err != nil {
			return p.err
		}
		w.list, w.lost = append(w.list, p.list...), max(w.lost, p.lost)
		w.nearest.list = append(w.nearest.list, p.nearest.neighbors()...)
		w.nearest.cut()
	}
	w.limit(job.depth, s.Encoder.padded, 0)
	return ctx.Err()
}

// scanPart scans range number i, with the memory of c. The range has the existing rows i*rows <= row < (i+1)*rows.
func (s *Set) scanPart(ctx context.Context, w *worker, c *scanner, job *scanJob, i, rows int) {
	p := &w.parts[i]
	p.nearest.floor, p.nearest.floored = w.nearest.floor, w.nearest.floored
	p.nearest.reset(s, p.nearest.list[:0], job.k)
	p.err = c.run(ctx, s, &w.query, job, &p.nearest, min(i*rows, s.Count), min((i+1)*rows, s.Count))
	p.list, p.lost = append(p.list[:0], c.list...), c.lost
}

// scanParts scans all ranges. It scans several at once if there are several processors. parts is the number of ranges,
// and rows is the number of rows in a range.
func (s *Set) scanParts(ctx context.Context, w *worker, job scanJob, parts, rows int) {
	var next atomic.Int32
	take := func(c *scanner) {
		for i := int(next.Add(1)) - 1; i < parts; i = int(next.Add(1)) - 1 {
			s.scanPart(ctx, w, c, &job, i, rows)
		}
	}
	var others sync.WaitGroup
	for i := range min(runtime.GOMAXPROCS(0), parts) - 1 {
		if i == len(w.others) {
			w.others = append(w.others, &scanner{})
		}
		c := w.others[i]
		others.Go(func() { take(c) })
	}
	take(&w.scanner)
	others.Wait()
}

// limit keeps the n rows with the best estimates in the list. Of rows with equal estimates, it keeps the first. padded
// is the number of padded dimensions. known is a number of rows at the front of the list; limit returns how many of
// them it kept.
func (c *scanner) limit(n, padded, known int) int {
	if len(c.list) <= n {
		return known
	}
	c.reset(padded, 1)
	for _, row := range c.list {
		c.add(row.estimate)
	}
	last, left := c.edge(n)
	kept, first := c.list[:0], known
	for i, row := range c.list {
		if row.estimate < last || row.estimate == last && left == 0 {
			if i < first {
				known--
			}
			continue
		}
		if row.estimate == last {
			left--
		}
		kept = append(kept, row)
	}
	c.list, c.lost = kept, max(c.lost, last)
	return known
}

// run selects the best rows with start <= row < end; start is a multiple of blockRows. If job.prune is true, run
// compares these rows and adds the results to found. Otherwise it keeps the rows in c.list.
func (c *scanner) run(ctx context.Context, s *Set, q *query, job *scanJob, found *nearest, start, end int) error {
	c.list, c.lost = c.list[:0], math.MinInt32
	c.sampled.reset(s.Encoder.padded, countedEvery)
	stretches := max(1, (end-start+stretchRows-1)/stretchRows)
	share := ((end-start+stretches-1)/stretches + blockRows - 1) / blockRows * blockRows
	for at := start; at < end; at += share {
		rows := min(share, end-at)
		least := c.lowestKept()
		if job.prune {
			least = max(least, q.reach.lowestFor(found.lowestScore()))
		}
		if err := c.estimate(ctx, s, q, job.allowed, at, rows, least); err != nil {
			return err
		}
		if err := c.takeStretch(s, q, job, found, at, rows, least); err != nil {
			return err
		}
	}
	byRow := func(a, b survivor) int { return cmp.Compare(a.row, b.row) }
	if job.prune {
		c.list = c.list[:0]
	} else if !slices.IsSortedFunc(c.list, byRow) {
		slices.SortFunc(c.list, byRow)
	}
	return nil
}

// lowestKept returns the lowest estimate with which a later row is kept. If limit dropped a row, it also drops later
// rows with the same estimate.
func (c *scanner) lowestKept() int32 {
	if c.lost == math.MinInt32 {
		return c.lost
	}
	return c.lost + 1
}

// keepBest adds the rows in c.index to c.list, and keeps the best n rows of the list. From c.index it removes rows that
// are not in the list. The stretch begins at row at.
func (c *scanner) keepBest(n, padded, at int) {
	known := len(c.list)
	c.list = slices.Grow(c.list, len(c.index))
	for _, row := range c.index {
		c.list = append(c.list, survivor{row, c.estimates[int(row)-at]})
	}
	if len(c.list) <= n {
		return
	}
	known = c.limit(n, padded, known)
	c.index = c.index[:0]
	for _, row := range c.list[known:] {
		c.index = append(c.index, row.row)
	}
}

// estimate computes the estimates of the rows in a stretch. The stretch begins at row at; its length is rows. estimate
// marks in c.waiting the rows whose estimate is at least the number least: they wait for comparison.
func (c *scanner) estimate(ctx context.Context, s *Set, q *query, allowed []uint64, at, rows int, least int32) error {
	words := (rows + wordBits - 1) / wordBits
	c.estimates = resize(c.estimates, words*wordBits)
	c.waiting, c.chosen = resize(c.waiting, 8*words), resize(c.chosen, 8*words)
	clear(c.waiting)
	size := GroupRows * s.Encoder.Words() * 8
	for from, block := 0, 1; from < rows; from, block = from+blockRows, block+1 {
		if block%cancelBlocks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		some := min(blockRows, rows-from)
		if allowed != nil && !s.anyAllowed(allowed, at+from, at+from+some) {
			continue
		}
		mask := c.waiting[from/GroupRows:][:(some+GroupRows-1)/GroupRows]
		kernels[0].scan(c.estimates[from:], mask, s.Codes[(at+from)/GroupRows*size:], q, nextLower(least))
	}
	if rows%GroupRows != 0 { // the last group is padded
		c.waiting[rows/GroupRows] &= 1<<(rows%GroupRows) - 1
	}
	if allowed != nil && s.single() {
		for w := range words {
			var bits uint64
			if i := at/wordBits + w; i < len(allowed) {
				bits = allowed[i]
			}
			binary.LittleEndian.PutUint64(c.waiting[8*w:], bits&binary.LittleEndian.Uint64(c.waiting[8*w:]))
		}
	}
	return nil
}

// nextLower returns estimate - 1. If estimate is the lowest possible number, nextLower returns estimate itself.
func nextLower(estimate int32) int32 { return max(estimate, math.MinInt32+1) - 1 }

// takeStretch takes the waiting rows of a stretch, the best estimates first. If job.prune is true, takeStretch compares
// these rows; their scores let it skip more of the other rows. Otherwise it keeps the best rows in c.list. A sample
// predicts how many rows to take at once; the sample does not affect the result. keepBest applies the limit job.depth
// exactly.
func (c *scanner) takeStretch(s *Set, q *query, job *scanJob, found *nearest, at, rows int, least int32) error {
	c.sample(s, job.allowed, at, rows)
	enough := job.depth + job.depth/4
	n := enough
	if job.prune {
		n = seedRows * job.k
	}
	for n = max(n, leastSeeds); ; {
		low := least
		if far, _ := c.sampled.edge(2 * n); far > least {
			low, _ = c.sampled.edge(n)
		}
		c.choose(s, job.allowed, at, low)
		c.keepBest(job.depth, s.Encoder.padded, at)
		least = max(least, c.lowestKept())
		if job.prune {
			if err := s.compare(q, c, found); err != nil {
				return err
			}
			found.cut()
			least = max(least, q.reach.lowestFor(found.lowestScore()))
		}
		if low <= least {
			return nil
		}
		if more := n * roundGrowth; n < enough {
			n = min(more, enough)
		} else {
			n = more
		}
	}
}

// sample adds the estimates of about one row in countedEvery to c.sampled. It skips rows that c.waiting or the filter
// excludes. at is the first row of the stretch, and rows is the number of its rows. The distances between sampled rows
// are irregular (golden ratio). At equal distances, sample could pick only similar rows, or only rows that pass the
// filter.
func (c *scanner) sample(s *Set, allowed []uint64, at, rows int) {
	filter := allowed != nil && !s.single()
	for from := 0; from < rows; from += countedEvery {
		i := from + int(uint32(from/countedEvery)*0x9e3779b1>>countedShift) // i may be after the last row, where no row waits
		if c.waiting[i/GroupRows]>>(i%GroupRows)&1 != 0 && (!filter || has(allowed, s.Owner(at+i))) {
			c.sampled.add(c.estimates[i])
		}
	}
}

// choose moves rows of a stretch to c.index, if they wait and are allowed, with estimates of at least low.
func (c *scanner) choose(s *Set, allowed []uint64, at int, low int32) {
	kernels[0].above(c.chosen, c.estimates, nextLower(low))
	index, n := c.index[:cap(c.index)], 0
	waiting, chosen := c.waiting, c.chosen[:len(c.waiting)]
	for w := 0; w+8 <= len(waiting); w += 8 {
		word := binary.LittleEndian.Uint64(waiting[w:])
		bit := word & binary.LittleEndian.Uint64(chosen[w:])
		if bit == 0 {
			continue
		}
		binary.LittleEndian.PutUint64(waiting[w:], word&^bit)
		if n+wordBits > len(index) {
			index = slices.Grow(index[:n], len(index)+wordBits)
			index = index[:cap(index)]
		}
		for base := uint32(at + 8*w); bit != 0; bit &= bit - 1 {
			index[n] = base + uint32(bits.TrailingZeros64(bit))
			n++
		}
	}
	index = index[:n]
	if allowed != nil && !s.single() {
		n = 0
		for _, row := range index {
			index[n] = row
			if has(allowed, s.Owner(int(row))) {
				n++
			}
		}
	}
	c.index = index[:n]
}

func has(set []uint64, i uint32) bool {
	return int(i>>6) < len(set) && set[i>>6]>>(i&63)&1 != 0
}

// anyAllowed returns false only if no row with from <= row < to belongs to an allowed chunk. True can be wrong: an
// allowed chunk in this range may have no rows.
func (s *Set) anyAllowed(allowed []uint64, from, to int) bool {
	low, high := uint32(from), uint32(to-1)
	if !s.single() {
		low, high = s.Owner(from), s.Owner(to-1)
	}
	for w := int(low >> 6); w <= int(high>>6) && w < len(allowed); w++ {
		word := allowed[w]
		if w == int(low>>6) {
			word &= ^uint64(0) << (low & 63)
		}
		if w == int(high>>6) {
			word &= ^uint64(0) >> (63 - high&63)
		}
		if word != 0 {
			return true
		}
	}
	return false
}

// counter counts how often each estimate occurs. There are few different estimates: each dimension adds at most
// planeMost to an estimate, or subtracts at most planeMost.
type counter struct {
	counts  []uint32 // lowest possible estimate first
	highest int      // the highest counted estimate, as an index
	every   int      // each added estimate stands for this many estimates
}

func (c *counter) reset(padded, every int) {
	c.counts = resize(c.counts, 2*planeMost*padded+1)
	clear(c.counts)
	c.highest, c.every = 0, every
}

func (c *counter) add(estimate int32) {
	i := int(estimate) + len(c.counts)/2
	c.counts[i]++
	c.highest = max(c.highest, i)
}

// edge returns the n-th best estimate, or the lowest int32 if there are fewer than n rows. left is roughly how many
// rows with exactly this estimate are among the best n.
func (c *counter) edge(n int) (edge int32, left int) {
	left = n / c.every
	for i := c.highest; i >= 0; i-- {
		here := int(c.counts[i])
		if left <= here {
			return int32(i - len(c.counts)/2), left
		}
		left -= here
	}
	return math.MinInt32, 0
}
