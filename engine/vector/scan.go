package vector

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// The first step: estimates of all rows, of which the best survive, and of equal
// estimates the first rows, so that which ones survive does not depend on how the
// work is divided.

// survivor is a row that survives: its similarity by its finer code, and the most
// that it may be.
type survivor struct {
	row            uint32
	estimate, most float32
}

const (
	// splitRows is the least number of rows of a range: ranges may be scanned
	// by several cores, and this is worth the start of another one. How many
	// there are depends on the rows alone, so that the answer does.
	splitRows = 1 << 18
	// cancelBlocks is the number of blocks after which a scan looks whether it
	// is still wanted: about 0.1 ms.
	cancelBlocks = 64
	// pruneRows is by how much a list grows at least before it is pruned.
	pruneRows = 32
)

// scanJob is what a scan looks for.
type scanJob struct {
	allowed   []uint64
	depth     int     // so many survive at most
	k         int     // of the chunks that are wanted
	threshold float64 // the similarity that they need, if prune is set
	// prune drops rows that cannot be among the nearest while others are still
	// being looked at.
	prune bool
}

// scanner is the memory of the scan of one range of rows.
type scanner struct {
	selection
	estimates [blockRows]int32
	mask      [blockRows / GroupRows]byte
	finer     [finerBits * blockRows]int32
	all       [finerBits * blockRows / GroupRows]byte
	threshold float64 // the similarity that a row needs
	lost      float32 // the estimate of which no further row survives, nor of a lower one
	err       error
}

// scan estimates all rows and leaves the best in w.list, in the order of rows.
func (s *Set) scan(ctx context.Context, w *worker, job *scanJob) error {
	parts := max(1, s.Count/splitRows)
	for len(w.scans) < parts {
		w.scans = append(w.scans, &scanner{})
	}
	share := (s.Count/parts + blockRows - 1) / blockRows * blockRows
	run := func(i int) {
		w.scans[i].err = w.scans[i].run(ctx, s, &w.query, job, min(i*share, s.Count), min((i+1)*share, s.Count))
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
	w.list = w.list[:0]
	for _, scan := range w.scans[:parts] {
		if scan.err != nil {
			return scan.err
		}
		w.list = append(w.list, scan.list...)
	}
	w.best(job.depth)
	return ctx.Err()
}

// run keeps the best of the rows from start, a multiple of blockRows, up to end.
func (c *scanner) run(ctx context.Context, s *Set, q *query, job *scanJob, start, end int) error {
	c.list, c.threshold, c.lost = c.list[:0], job.threshold, float32(math.Inf(-1))
	least := q.reach.least(c.threshold)
	full := job.k + pruneRows // the list is pruned when it is so long
	if !job.prune {
		full = 2 * job.depth
	}
	size := GroupRows * s.Encoder.Words() * 8
	for at, block := start, 0; at < end; at, block = at+blockRows, block+1 {
		if block%cancelBlocks == cancelBlocks-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		rows := min(blockRows, end-at)
		if job.allowed != nil && !s.anyAllowed(job.allowed, at, at+rows) {
			continue
		}
		groups := (rows + GroupRows - 1) / GroupRows
		kernels[0].scan(c.estimates[:], c.mask[:groups], s.Codes[at/GroupRows*size:], q.planes, max(least, math.MinInt32+1)-1)
		if rows%GroupRows != 0 { // the last group is filled up
			c.mask[groups-1] &= 1<<(rows%GroupRows) - 1
		}
		s.refine(c, q, at, groups)
		if c.take(s, q, job.allowed, at, groups); len(c.list) < full {
			continue
		}
		if job.prune {
			c.threshold = c.prune(s, job.k, c.threshold)
			least = q.reach.least(c.threshold)
		}
		if len(c.list) >= 2*job.depth {
			c.lost = max(c.lost, c.best(job.depth))
		}
		if job.prune {
			full = min(len(c.list)+max(pruneRows, len(c.list)/4), max(2*job.depth, len(c.list)+1))
		}
	}
	c.best(job.depth)
	return nil
}

// refine estimates by their finer codes the groups in which a row is promising; those
// that follow one another at once.
func (s *Set) refine(c *scanner, q *query, at, groups int) {
	size := finerBits * GroupRows * s.Encoder.Words() * 8
	for g := 0; g < groups; g++ {
		if c.mask[g] == 0 {
			continue
		}
		end := g + 1
		for end < groups && c.mask[end] != 0 {
			end++
		}
		kernels[0].scan(c.finer[finerBits*GroupRows*g:], c.all[:finerBits*(end-g)], s.Finer[(at/GroupRows+g)*size:], q.planes, 0)
		g = end
	}
}

// take adds to the list the rows of the mask that are allowed and wanted; the block
// begins at row at.
func (c *scanner) take(s *Set, q *query, allowed []uint64, at, groups int) {
	single, f := s.single(), &q.finer
	for g, bit := range c.mask[:groups] {
		for ; bit != 0; bit &= bit - 1 {
			j := bits.TrailingZeros8(bit)
			i := g*GroupRows + j
			scale := s.scale(at+i) * f.slope
			e := float64(combine(c.estimates[i], c.finer[finerBits*GroupRows*g:], j)) + f.offset
			row := survivor{uint32(at + i), float32(scale * e), float32(scale * (e + reachDeviations*f.deviation))}
			if float64(row.most) < c.threshold || row.estimate <= c.lost {
				continue
			}
			if allowed != nil {
				ordinal := row.row
				if !single {
					ordinal = s.Owner(at + i)
				}
				if !has(allowed, ordinal) {
					continue
				}
			}
			c.list = append(c.list, row)
		}
	}
}

// combine is the finer estimate of row i of a group: coarse is that by its signs, finer
// are those of the group by the first and the second bits.
func combine(coarse int32, finer []int32, i int) int32 {
	return 4*coarse + 2*finer[i] + finer[GroupRows+i]
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

// best leaves in the list the n best by their estimates, of equal ones the first
// rows, and returns the lowest of these estimates; minus infinity when there are no
// more than n.
func (c *selection) best(n int) float32 {
	if len(c.list) <= n {
		return float32(math.Inf(-1))
	}
	c.estimated = c.estimated[:0]
	for _, row := range c.list {
		c.estimated = append(c.estimated, row.estimate)
	}
	last, left := largest(c.estimated, n), n // of those with the estimate last, left are kept
	for _, row := range c.list {
		if row.estimate > last {
			left--
		}
	}
	kept := c.list[:0]
	for _, row := range c.list {
		if row.estimate < last || row.estimate == last && left <= 0 {
			continue
		}
		if row.estimate == last {
			left--
		}
		kept = append(kept, row)
	}
	c.list = kept
	return last
}
