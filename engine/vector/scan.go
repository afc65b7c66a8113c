package vector

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// The first step: estimates of all rows, of which the best are compared. Which ones
// are does not depend on how the work is divided.

// survivor is a row that survives.
type survivor struct {
	row      uint32
	estimate int32
}

const (
	// splitRows is the least number of rows of a range: ranges may be scanned
	// by several cores, and this is worth the start of another one. How many
	// there are depends on the rows alone, so that the answer does.
	splitRows = 1 << 18
	// stretchRows is the most rows whose estimates are kept at once. With fewer more
	// rows are compared, before it is known what is near; more leave the cache.
	stretchRows = 1 << 18
	// cancelBlocks is the number of blocks after which a scan looks whether it
	// is still wanted: about 0.1 ms.
	cancelBlocks = 64
	// countedEvery: of so many estimates one is counted, to tell which are the best.
	countedEvery = 32
)

// scanJob is what a scan looks for.
type scanJob struct {
	allowed []uint64
	depth   int // so many survive at most
	k       int // of the chunks that are wanted
	// prune compares rows while others are still being looked at, and none that
	// cannot be among the nearest by what is known then. Otherwise exactly the
	// best depth survive, to be compared at the end.
	prune bool
}

// scanner is the memory of the scan of one range of rows.
type scanner struct {
	selection
	// Of each row of a stretch: its estimate, and whether it waits to be chosen,
	// and is chosen, a bit each.
	estimates       []int32
	waiting, chosen []byte
	err             error
}

// scan estimates all rows and leaves the best in w.list, in the order of rows, but
// for those that were compared meanwhile, which are in w.nearest.
func (s *Set) scan(ctx context.Context, w *worker, job *scanJob) error {
	parts := max(1, s.Count/splitRows)
	for len(w.scans) < parts {
		w.scans = append(w.scans, &scanner{})
	}
	share := (s.Count/parts + blockRows - 1) / blockRows * blockRows
	run := func(i int) {
		c := w.scans[i]
		c.nearest.floor, c.nearest.floored = w.nearest.floor, w.nearest.floored
		c.nearest.reset(s, c.nearest.list[:0], job.k)
		c.err = c.run(ctx, s, &w.query, job, min(i*share, s.Count), min((i+1)*share, s.Count))
	}
	cores := min(runtime.GOMAXPROCS(0), parts)
	var next atomic.Int32
	take := func() {
		for i := int(next.Add(1)) - 1; i < parts; i = int(next.Add(1)) - 1 {
			run(i)
		}
	}
	var others sync.WaitGroup
	for range cores - 1 {
		others.Go(take)
	}
	take()
	others.Wait()
	w.list, w.lost = w.list[:0], math.MinInt32
	for i, scan := range w.scans[:parts] {
		if scan.err != nil {
			return scan.err
		}
		if w.lost = max(w.lost, scan.lost); i == 0 {
			w.list, scan.list = scan.list, w.list
		} else {
			w.list = append(w.list, scan.list...)
		}
		w.nearest.list = append(w.nearest.list, scan.nearest.found()...)
		w.nearest.cut()
	}
	w.limit(job.depth, s.Encoder.padded)
	return ctx.Err()
}

// limit drops from the list what is not among the best n by their estimates, of equal
// ones the last.
func (c *selection) limit(n, padded int) {
	if len(c.list) <= n {
		return
	}
	c.reset(padded, 1)
	for _, row := range c.list {
		c.add(row.estimate)
	}
	last, left := c.edge(n)
	kept := c.list[:0]
	for _, row := range c.list {
		if row.estimate < last || row.estimate == last && left == 0 {
			continue
		}
		if row.estimate == last {
			left--
		}
		kept = append(kept, row)
	}
	c.list, c.lost = kept, max(c.lost, last)
}

// run compares, or keeps, the best of the rows from start, a multiple of blockRows, up
// to end.
func (c *scanner) run(ctx context.Context, s *Set, q *query, job *scanJob, start, end int) error {
	c.list, c.lost = c.list[:0], math.MinInt32
	c.reset(s.Encoder.padded, countedEvery)
	stretches := max(1, (end-start+stretchRows-1)/stretchRows)
	share := ((end-start+stretches-1)/stretches + blockRows - 1) / blockRows * blockRows
	for at := start; at < end; at += share {
		rows := min(share, end-at)
		least := c.lost
		if job.prune {
			least = q.reach.least(c.nearest.need())
		} else if least > math.MinInt32 {
			least++ // rows that come later lose against equal estimates
		}
		if err := c.estimate(ctx, s, q, job.allowed, at, rows, least); err != nil {
			return err
		}
		if !job.prune {
			c.choose(s, job.allowed, at, rows, least)
			for _, row := range c.index {
				c.list = append(c.list, survivor{row, c.estimates[int(row)-at]})
			}
			c.limit(job.depth, s.Encoder.padded)
			continue
		}
		if err := c.compareStretch(s, q, job, at, rows, least); err != nil {
			return err
		}
	}
	return nil
}

// estimate estimates a stretch of rows from at on. Those wait of which the estimate is
// least or better.
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
		kernels[0].scan(c.estimates[from:], mask, s.Codes[(at+from)/GroupRows*size:], q.planes, before(least))
	}
	if rows%GroupRows != 0 { // the last group is filled up
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

// before is the estimate below one; no row has the lowest of all.
func before(estimate int32) int32 { return max(estimate, math.MinInt32+1) - 1 }

// compareStretch compares those of the rows of a stretch that may be among the nearest:
// the best estimates first, so that the others are compared with what is known by then.
func (c *scanner) compareStretch(s *Set, q *query, job *scanJob, at, rows int, least int32) error {
	c.sample(s, job.allowed, at, rows)
	if edge, _ := c.edge(job.depth); edge > least {
		least, c.lost = edge, max(c.lost, before(edge))
	}
	for n := max(seedRows*job.k, leastSeeds); ; n *= roundGrowth {
		low := least
		if far, _ := c.edge(2 * n); far > least {
			low, _ = c.edge(n)
		}
		c.choose(s, job.allowed, at, rows, low)
		if err := s.compare(q, &c.selection); err != nil {
			return err
		}
		c.nearest.cut()
		if least = max(least, q.reach.least(c.nearest.need())); low <= least {
			return nil
		}
	}
}

// sample counts some of the estimates of rows that wait.
func (c *scanner) sample(s *Set, allowed []uint64, at, rows int) {
	filter := allowed != nil && !s.single()
	for i := 0; i < rows; i += countedEvery {
		if c.waiting[i/GroupRows]>>(i%GroupRows)&1 != 0 && (!filter || has(allowed, s.Owner(at+i))) {
			c.add(c.estimates[i])
		}
	}
}

// choose writes the allowed rows of a stretch that wait and have an estimate of low or
// better to c.index. They wait no more.
func (c *scanner) choose(s *Set, allowed []uint64, at, rows int, low int32) {
	kernels[0].above(c.chosen, c.estimates, before(low))
	c.index = resize(c.index, len(c.estimates))
	index, n := c.index, 0
	waiting, chosen := c.waiting, c.chosen[:len(c.waiting)]
	for w := 0; w+8 <= len(waiting); w += 8 {
		word := binary.LittleEndian.Uint64(waiting[w:])
		bit := word & binary.LittleEndian.Uint64(chosen[w:])
		binary.LittleEndian.PutUint64(waiting[w:], word&^bit)
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

// anyAllowed reports whether a chunk that owns rows from..to, and perhaps one
// between them that owns none, is allowed.
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

// counter counts estimates, of which there are few: at most planeMost for each
// dimension, of either sign.
type counter struct {
	counts  []uint32 // the lowest possible one first
	highest int      // of those that were counted, as an index
	every   int      // one of so many is counted
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

// edge is the estimate of the n-th best, and how many with it are among them, or about
// that; the lowest number when there are fewer.
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
