package vector

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"sync"
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
	// splitRows is the least number of rows for which a second core is worth
	// its start.
	splitRows = 1 << 18
	// cancelBlocks is the number of blocks after which a scan looks whether it
	// is still wanted: about 0.1 ms.
	cancelBlocks = 64
)

// scanner is the memory of the scan of one range of rows.
type scanner struct {
	counter
	list  []survivor // in the order of rows
	out   [blockRows]int32
	mask  [blockRows / GroupRows]byte
	least int32 // estimates must be above it
}

// scan estimates all rows and leaves the best depth in w.list, of those
// whose estimate is above least.
func (s *Set) scan(ctx context.Context, w *worker, allowed []uint64, depth int, least int32) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), s.Count/splitRows))
	for len(w.scans) < parts {
		w.scans = append(w.scans, &scanner{})
	}
	share := (s.Count/parts + blockRows - 1) / blockRows * blockRows
	var others sync.WaitGroup
	for i := 1; i < parts; i++ {
		others.Go(func() {
			w.scans[i].run(ctx, s, w.query.planes, allowed, i*share, min((i+1)*share, s.Count), depth, least)
		})
	}
	w.scans[0].run(ctx, s, w.query.planes, allowed, 0, min(share, s.Count), depth, least)
	others.Wait()
	w.list = w.list[:0]
	for _, scan := range w.scans[:parts] {
		w.list = append(w.list, scan.list...)
	}
	if parts > 1 {
		w.list, _ = w.best(w.list[:0], w.list, depth, s.Encoder.padded)
	}
	return ctx.Err()
}

// run keeps the best depth of the rows from start, a multiple of
// blockRows, up to end.
func (c *scanner) run(ctx context.Context, s *Set, planes []uint64, allowed []uint64, start, end, depth int, least int32) {
	c.list, c.least = resize(c.list, 2*depth+blockRows)[:0], least
	size := GroupRows * s.Encoder.Words() * 8
	single := s.single()
	for at, block := start, 0; at < end; at, block = at+blockRows, block+1 {
		if block%cancelBlocks == cancelBlocks-1 && ctx.Err() != nil {
			return
		}
		rows := min(blockRows, end-at)
		if allowed != nil && !s.anyAllowed(allowed, at, at+rows) {
			continue
		}
		groups := (rows + GroupRows - 1) / GroupRows
		kernels[0].scan(c.out[:], c.mask[:groups], s.Codes[at/GroupRows*size:], planes, c.least)
		if rows%GroupRows != 0 { // the last group is filled up
			c.mask[groups-1] &= 1<<(rows%GroupRows) - 1
		}
		for g, bit := range c.mask[:groups] {
			for ; bit != 0; bit &= bit - 1 {
				i := g*GroupRows + bits.TrailingZeros8(bit)
				if allowed != nil {
					ordinal := uint32(at + i)
					if !single {
						ordinal = s.Owner(at + i)
					}
					if !has(allowed, ordinal) {
						continue
					}
				}
				c.list = append(c.list, survivor{uint32(at + i), c.out[i]})
			}
		}
		if len(c.list) >= 2*depth {
			// Rows that come later lose against equal estimates.
			c.list, c.least = c.best(c.list[:0], c.list, depth, s.Encoder.padded)
		}
	}
	c.list, _ = c.best(c.list[:0], c.list, depth, s.Encoder.padded)
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
	zero := planeMost * padded
	c.counts = resize(c.counts, 2*zero+1)
	clear(c.counts)
	for _, s := range list {
		c.counts[int(s.estimate)+zero]++
	}
	at, left := len(c.counts)-1, n // of those with the estimate at, left are kept
	for ; left > int(c.counts[at]); at-- {
		left -= int(c.counts[at])
	}
	last := int32(at - zero)
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
