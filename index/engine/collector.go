package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sheaf"
)

// collector keeps the best hits of a request over all segments. Hits are ordered by score, and with equal scores by
// identifier.
type collector struct {
	views  []*view
	places *places // caches identifiers of hits
	limit  int
	least  atomic.Uint64 // the bits of the threshold

	mu       sync.Mutex  // guards the fields below
	kept     []unreadHit // in no order; at least the best hits so far
	last     *unreadHit  // the worst hit when cut was called, if its score is still the lowest
	scores   scoreHeap   // of the best hits so far
	promised scoreHeap   // the best lower bounds of scores
	buffer   []byte      // memory for an identifier
	fault    error
}

func newCollector(s *Snapshot, limit int) *collector {
	const usual = 64 // hits
	n := max(0, min(limit, usual))
	c := &collector{views: s.views, places: s.places, limit: limit, kept: make([]unreadHit, 0, n),
		scores: make(scoreHeap, 0, n), promised: make(scoreHeap, 0, n)}
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

// compare orders hits: first by score, the higher score first, then by identifier. The result is negative if x comes
// first.
func (c *collector) compare(x, y unreadHit) int {
	if x.score != y.score {
		return cmp.Compare(y.score, x.score)
	}
	if x.view == y.view {
		r := c.views[x.view].reader
		rx, err := r.Rank(x.ordinal)
		ry, err2 := r.Rank(y.ordinal)
		c.fail(err)
		c.fail(err2)
		return cmp.Compare(rx, ry)
	}
	return strings.Compare(c.id(x.view, x.ordinal), c.id(y.view, y.ordinal))
}

func (c *collector) fail(err error) {
	if c.fault == nil {
		c.fault = err
	}
}

// offer adds a hit unless limit hits are better.
func (c *collector) offer(f unreadHit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.score < c.threshold() || c.last != nil && c.last.score == f.score && c.compare(f, *c.last) > 0 {
		return
	}
	c.kept = append(c.kept, f)
	c.scores.add(f.score, c.limit)
	c.raise(c.scores)
	if len(c.kept)/4 >= c.limit {
		c.cut()
	}
}

// cut drops the hits below the threshold. If many hits with equal scores are left, cut keeps the first limit hits in
// the order of compare.
func (c *collector) cut() {
	c.dropLow()
	if len(c.kept)/2 >= c.limit {
		slices.SortFunc(c.kept, c.compare)
		c.kept = c.kept[:c.limit]
		last := c.kept[c.limit-1]
		c.last = &last
	}
}

// dropLow drops hits below the threshold.
func (c *collector) dropLow() {
	least := c.threshold()
	c.kept = slices.DeleteFunc(c.kept, func(f unreadHit) bool { return f.score < least })
}

// promise raises the threshold early. sums are lower bounds of the scores of chunks that offer gets later. Callers pass
// the sum of each chunk only once.
func (c *collector) promise(sums []float64) {
	if len(sums) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sum := range sums {
		c.promised.add(sum/slack, c.limit)
	}
	c.raise(c.promised)
}

// raise raises the threshold to the lowest score of a heap, if the heap has limit scores. Then at least limit chunks
// have this score or a higher score.
func (c *collector) raise(h scoreHeap) {
	if len(h) == c.limit && h[0] > c.threshold() {
		c.least.Store(math.Float64bits(h[0]))
	}
}

// scoreHeap is a heap of the highest scores. The lowest of these scores is on top.
type scoreHeap []float64

// add adds a score. If the heap has limit scores, the lowest score leaves.
func (h *scoreHeap) add(score float64, limit int) {
	heap := *h
	if i := len(heap); i < limit {
		heap = append(heap, score)
		for ; i > 0 && heap[(i-1)/2] > score; i = (i - 1) / 2 {
			heap[i] = heap[(i-1)/2]
		}
		heap[i] = score
		*h = heap
		return
	}
	if score <= heap[0] {
		return
	}
	i := 0
	for down := 1; down < len(heap); down = 2*i + 1 {
		if down+1 < len(heap) && heap[down+1] < heap[down] {
			down++
		}
		if heap[down] >= score {
			break
		}
		heap[i], i = heap[down], down
	}
	heap[i] = score
}

// hits returns the best hits, the best first.
func (c *collector) hits() (sheaf.Ranking, error) {
	c.dropLow()
	out := make(sheaf.Ranking, len(c.kept))
	for i, f := range c.kept {
		out[i] = sheaf.Hit{ID: sheaf.ID(c.id(f.view, f.ordinal)), Score: f.score, Passage: f.passage}
	}
	out.Sort()
	return out[:min(len(out), c.limit)], c.fault
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
