package vector

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"sync"
)

// The first step: estimates of all rows, of which the best survive. A survivor is
// a key: its estimate, so that larger keys are nearer, and its row, so that of
// equal estimates the first rows survive. Keys are all different, so which rows
// survive does not depend on how the work is divided.

func makeKey(estimate int32, row int) uint64 {
	return uint64(uint32(estimate)^1<<31)<<32 | uint64(^uint32(row))
}

func keyRow(key uint64) uint32 { return ^uint32(key) }

func keyEstimate(key uint64) int32 { return int32(uint32(key>>32) ^ 1<<31) }

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
	keys  []uint64
	out   [blockRows]int32
	mask  [blockRows / GroupRows]byte
	depth int
	least int32 // estimates must be above it
}

// scan estimates all rows and leaves the keys of the best depth in w.keys, of those
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
	w.keys = w.keys[:0]
	for _, scan := range w.scans[:parts] {
		w.keys = append(w.keys, scan.keys...)
	}
	w.keys = best(w.keys, depth)
	return ctx.Err()
}

// run keeps the keys of the best depth of the rows from start, a multiple of
// blockRows, up to end.
func (c *scanner) run(ctx context.Context, s *Set, planes []uint64, allowed []uint64, start, end, depth int, least int32) {
	c.keys, c.depth, c.least = resize(c.keys, 2*depth+blockRows)[:0], depth, least
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
				c.keys = append(c.keys, makeKey(c.out[i], at+i))
			}
		}
		if len(c.keys) >= 2*depth {
			c.cut()
		}
	}
	c.keys = best(c.keys, depth)
}

// cut drops all but the best, and asks more of those that come: rows that come
// later lose against equal estimates.
func (c *scanner) cut() {
	c.keys = best(c.keys, c.depth)
	c.least = math.MaxInt32
	for _, k := range c.keys {
		c.least = min(c.least, keyEstimate(k))
	}
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

// best moves the n largest of keys to its front, in any order, and returns them:
// Hoare's selection with the median of three as the pivot. Keys are all different.
func best(keys []uint64, n int) []uint64 {
	low, high := 0, len(keys)-1
	if n > high {
		return keys
	}
	for low < high {
		pivot := median(keys[low], keys[low+(high-low)/2], keys[high])
		i, j := low, high
		for i <= j {
			for keys[i] > pivot {
				i++
			}
			for keys[j] < pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch {
		case n <= j+1:
			high = j
		case n > i:
			low = i
		default:
			return keys[:n]
		}
	}
	return keys[:n]
}

func median(a, b, c uint64) uint64 {
	return max(min(a, b), min(max(a, b), c))
}
