package vector

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// The first step: estimates of all rows, of which the best survive, and of equal
// estimates the first rows, so that which ones survive does not depend on how the
// work is divided.

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
	// cancelBlocks is the number of blocks after which a scan looks whether it
	// is still wanted: about 0.1 ms.
	cancelBlocks = 64
	// pruneRows is by how much a list grows before it is pruned.
	pruneRows = 1 << 10
)

// scanJob is what a scan looks for.
type scanJob struct {
	allowed []uint64
	depth   int // so many survive at most
	k       int // of the chunks that are wanted
	// prune drops rows that cannot be among the nearest while others are still
	// being looked at.
	prune bool
}

// scanner is the memory of the scan of one range of rows.
type scanner struct {
	selection
	estimates [blockRows]int32
	mask      [blockRows / GroupRows]byte
	err       error
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
	var last int32
	c.list, last = c.best(c.list[:0], c.list, n, padded)
	c.lost = max(c.lost, last)
}

// run keeps the best of the rows from start, a multiple of blockRows, up to end.
func (c *scanner) run(ctx context.Context, s *Set, q *query, job *scanJob, start, end int) error {
	c.list, c.lost = c.list[:0], math.MinInt32
	least := int32(math.MinInt32)
	full := 2 * job.depth // the list is pruned when it is so long
	if job.prune {
		least = q.reach.least(c.nearest.need())
		full = max(pruneRows, 8*seedRows*job.k)
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
		if c.take(s, job.allowed, at, groups); len(c.list) < full {
			continue
		}
		if job.prune {
			low, err := s.compareBest(q, &c.selection, seedRows*job.k)
			if err != nil {
				return err
			}
			least = max(least, low)
		}
		if len(c.list) >= 2*job.depth {
			c.limit(job.depth, s.Encoder.padded)
			least = max(least, c.lost+1) // rows that come later lose against equal estimates
		}
		if job.prune {
			full = min(len(c.list)+max(pruneRows, len(c.list), 8*seedRows*job.k), max(2*job.depth, len(c.list)+1))
		}
	}
	c.limit(job.depth, s.Encoder.padded)
	return nil
}

// take adds the allowed rows of the mask to the list; the block begins at row at.
func (c *scanner) take(s *Set, allowed []uint64, at, groups int) {
	single := s.single()
	clear(c.mask[groups:min((groups+7)/8*8, len(c.mask))])
	list := slices.Grow(c.list, groups*GroupRows)
	for first := 0; first < groups; first += 8 {
		for bit := binary.LittleEndian.Uint64(c.mask[first:]); bit != 0; bit &= bit - 1 {
			i := first*GroupRows + bits.TrailingZeros64(bit)
			if allowed != nil {
				ordinal := uint32(at + i)
				if !single {
					ordinal = s.Owner(at + i)
				}
				if !has(allowed, ordinal) {
					continue
				}
			}
			list = append(list, survivor{uint32(at + i), c.estimates[i]})
		}
	}
	c.list = list
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

// counter selects survivors by counting their estimates, of which there are few: at
// most planeMost for each dimension, of either sign.
type counter struct{ counts []uint32 }

// best appends the best n of list to dst, both in the order of their rows, and
// returns the lowest estimate that list must have for that when it has more than n.
// dst may be the empty beginning of list.
func (c *counter) best(dst, list []survivor, n, padded int) ([]survivor, int32) {
	if len(list) <= n {
		return append(dst, list...), math.MinInt32
	}
	last, left := c.edge(list, n, 1, padded)
	for _, s := range list {
		if s.estimate < last || s.estimate == last && left == 0 {
			continue
		}
		if s.estimate == last {
			left--
		}
		dst = append(dst, s)
	}
	return dst, last
}

// edge is the estimate of the n-th best of list, which has as many, and how many with
// that are among them; when only one of every so many is counted, about that.
func (c *counter) edge(list []survivor, n, every, padded int) (edge int32, left int) {
	zero := planeMost * padded
	c.counts = resize(c.counts, 2*zero+1)
	clear(c.counts)
	for i := 0; i < len(list); i += every {
		c.counts[int(list[i].estimate)+zero]++
	}
	at := len(c.counts) - 1
	for left = n / every; left > int(c.counts[at]); at-- {
		left -= int(c.counts[at])
	}
	return int32(at - zero), left
}
