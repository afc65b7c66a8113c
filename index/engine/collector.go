package engine

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"sheaf"
)

// collector keeps the best hits of a request over all segments. Hits are ordered by score, and with equal scores by
// identifier. The collector is a heap with the worst hit on top.
type collector struct {
	views  []*view
	places *places // caches identifiers of hits
	limit  int
	least  atomic.Uint64 // the score, by its bits, that the worst hit has at least

	mu       sync.Mutex // guards the fields below
	heap     []unreadHit
	promised []float64 // the limit best lower bounds of scores, a heap with the least on top
	buffer   []byte    // memory for an identifier
	fault    error
}

func newCollector(s *Snapshot, limit int) *collector {
	const usual = 64 // hits
	n := max(0, min(limit, usual))
	c := &collector{views: s.views, places: s.places, limit: limit, heap: make([]unreadHit, 0, n),
		promised: make([]float64, 0, n)}
	c.least.Store(math.Float64bits(math.Inf(-1)))
	return c
}

// unreadHit is a hit whose identifier has not been read yet.
type unreadHit struct {
	score   float64
	view    int
	ordinal uint32
	passage int
}

// threshold returns the lowest score with which a hit can enter the collector. A hit with exactly this score enters
// only if its identifier sorts before the worst hit's identifier.
func (c *collector) threshold() float64 { return math.Float64frombits(c.least.Load()) }

func (c *collector) worse(x, y *unreadHit) bool {
	if x.score != y.score {
		return x.score < y.score
	}
	if x.view == y.view {
		r := c.views[x.view].reader
		rx, err := r.Rank(x.ordinal)
		ry, err2 := r.Rank(y.ordinal)
		c.fail(err)
		c.fail(err2)
		return rx > ry
	}
	return c.id(x.view, x.ordinal) > c.id(y.view, y.ordinal)
}

func (c *collector) fail(err error) {
	if c.fault == nil {
		c.fault = err
	}
}

func (c *collector) offer(f unreadHit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(f)
	if len(c.heap) == c.limit {
		c.raise(c.heap[0].score)
	}
}

// promise raises the threshold early. sums are lower bounds of the scores of chunks that offer gets later. Callers pass
// each chunk only once.
func (c *collector) promise(sums []float64) {
	if len(sums) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	heap := c.promised
	for _, sum := range sums {
		sum /= slack
		i := len(heap)
		switch {
		case i < c.limit:
			heap = append(heap, sum)
			for ; i > 0 && heap[(i-1)/2] > sum; i = (i - 1) / 2 {
				heap[i] = heap[(i-1)/2]
			}
			heap[i] = sum
		case sum > heap[0]:
			i = 0
			for {
				down := 2*i + 1
				if down+1 < len(heap) && heap[down+1] < heap[down] {
					down++
				}
				if down >= len(heap) || heap[down] >= sum {
					break
				}
				heap[i], i = heap[down], down
			}
			heap[i] = sum
		}
	}
	c.promised = heap
	if len(heap) == c.limit {
		c.raise(heap[0])
	}
}

// raise raises the threshold to score. The caller must know that at least limit chunks have this score or a higher one.
func (c *collector) raise(score float64) {
	if score > c.threshold() {
		c.least.Store(math.Float64bits(score))
	}
}

func (c *collector) add(f unreadHit) {
	if len(c.heap) < c.limit {
		c.heap = append(c.heap, f)
		for i := len(c.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if !c.worse(&c.heap[i], &c.heap[up]) {
				break
			}
			c.heap[i], c.heap[up] = c.heap[up], c.heap[i]
			i = up
		}
		return
	}
	if f.score < c.heap[0].score || c.worse(&f, &c.heap[0]) {
		return
	}
	c.heap[0] = f
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(c.heap) {
			break
		}
		if down+1 < len(c.heap) && c.worse(&c.heap[down+1], &c.heap[down]) {
			down++
		}
		if !c.worse(&c.heap[down], &c.heap[i]) {
			break
		}
		c.heap[i], c.heap[down] = c.heap[down], c.heap[i]
		i = down
	}
}

func (c *collector) hits() (sheaf.Ranking, error) {
	slices.SortFunc(c.heap, func(x, y unreadHit) int {
		switch {
		case x.score > y.score || x.score == y.score && c.worse(&y, &x):
			return -1
		case x.score < y.score || c.worse(&x, &y):
			return 1
		}
		return 0
	})
	out := make(sheaf.Ranking, len(c.heap))
	for i, f := range c.heap {
		out[i] = sheaf.Hit{ID: sheaf.ID(c.id(f.view, f.ordinal)), Score: f.score, Passage: f.passage}
	}
	return out, c.fault
}

func (c *collector) id(view int, ordinal uint32) string {
	at := place{view, ordinal}
	if id, ok := c.places.id(at); ok {
		return id
	}
	var err error
	c.buffer, err = c.views[view].reader.ID(c.buffer[:0], ordinal)
	c.fail(err)
	id := string(c.buffer)
	if err == nil {
		c.places.put(id, at)
	}
	return id
}
