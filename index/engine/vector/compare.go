package vector

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// blockRows is the largest number of rows in one call of a kernel (inner loop in assembly). It is a multiple of
// GroupRows.
const blockRows = 1024

// worker is the memory of a search, which the next search reuses.
type worker struct {
	query query
	scanner
	others  []*scanner // one for each additional goroutine
	parts   []part     // one for each range of rows
	nearest nearest    // results of the compared rows
}

var workers = sync.Pool{New: func() any { return &worker{} }}

// compare adds to found the exact similarity of the rows in c.index with the query. The row numbers must rise.
func (s *Set) compare(q *query, c *scanner, found *nearest) error {
	size, scales, scale := s.Encoder.RowBytes(), s.Scales, q.scale
	least := found.lowestScore()
	for index := c.index; len(index) > 0; {
		part := index[:min(len(index), blockRows)]
		index = index[len(part):]
		if err := s.verify(part...); err != nil {
			return err
		}
		kernels[0].dot(c.out[:], s.Rows[:s.Count*size], part, s.Codes, q.numbers)
		for i, row := range part { // in separate calls, so that they wait for memory in parallel
			c.scales[i] = math.Float32frombits(binary.LittleEndian.Uint32(scales[ScaleBytes*int(row):]))
		}
		for i, product := range c.out[:len(part)] {
			score := float64(product) * scale * float64(c.scales[i])
			if score < least {
				continue
			}
			found.passage(int(part[i]), score)
			least = found.lowestScore()
		}
	}
	return nil
}

// verify returns an error if one of the rows has changed since it was written. The row numbers must rise.
func (s *Set) verify(rows ...uint32) error {
	if s.Verify == nil {
		return nil
	}
	return s.Verify(rows)
}

// compareAllowed compares every allowed row with the query of w, and adds the results to w.nearest.
func (s *Set) compareAllowed(ctx context.Context, w *worker, allowed []uint64) error {
	w.index = w.index[:0]
	from := 0
	flush := func() error {
		err := ctx.Err()
		if err == nil {
			err = s.compare(&w.query, &w.scanner, &w.nearest)
		}
		w.index = w.index[:0]
		return err
	}
	for at := range (s.Chunks + 63) / 64 {
		word := ^uint64(0)
		if allowed != nil {
			word = allowed[at]
		}
		for ; word != 0; word &= word - 1 {
			ordinal := at<<6 | bits.TrailingZeros64(word)
			if ordinal >= s.Chunks {
				break
			}
			first, end := s.rows(uint32(ordinal), from)
			from = first
			for row := first; row < end; row++ {
				w.index = append(w.index, uint32(row))
			}
			if len(w.index) >= blockRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// comparePassages compares all passages of the found chunks exactly, because the best passage may not have survived the
// first step.
func (s *Set) comparePassages(w *worker) error {
	if s.single() {
		return nil
	}
	w.nearest.cut()
	w.index = w.index[:0]
	for _, n := range w.nearest.neighbors() {
		first, end := s.rowsAround(n.Passage)
		for row := first; row < end; row++ {
			w.index = append(w.index, uint32(row))
		}
	}
	w.nearest.reset(s, w.nearest.list[:w.nearest.start], w.nearest.k)
	return s.compare(&w.query, &w.scanner, &w.nearest)
}

// nearest keeps the k best of many chunks. It collects more than 2*k chunks before it drops all but the best. Rows come
// in rounds. Within a round the row numbers rise, so the passages of a chunk are adjacent.
type nearest struct {
	set *Set
	// list has the hits that the caller already had, then the found hits. The hits of earlier rounds begin at index
	// start, and the hits of this round at index round. Each group of hits is sorted by ordinal.
	list         []Neighbor
	start, round int
	k            int
	limit        int // length of list at which close calls cut
	least        float64
	bounds       bool // least is set: a chunk needs this score
	// If floored is true, floor is the lowest score of a wanted chunk: see Options.Threshold.
	floor   float64
	floored bool
	few     bool // keep no more than k: chunks that score as the k-th best are interchangeable

	scores []float64  // memory of cut
	merged []Neighbor // memory of merge

	best Neighbor // of the open chunk
	open bool
}

func (t *nearest) reset(s *Set, dst []Neighbor, k int) {
	*t = nearest{set: s, list: dst, start: len(dst), round: len(dst), k: k, limit: len(dst) + 2*k + 256, floor: t.floor,
		floored: t.floored,
		least:   t.floor, bounds: t.floored, scores: t.scores, merged: t.merged}
}

func (t *nearest) neighbors() []Neighbor { return t.list[t.start:] }

// lowestScore returns the lowest score with which a chunk can still be kept.
func (t *nearest) lowestScore() float64 {
	if !t.bounds {
		return math.Inf(-1)
	}
	return t.least
}

// misses reports whether the score of a row is too low for its chunk to be kept.
func (t *nearest) misses(score float64) bool { return t.bounds && score < t.least }

// passage adds a row whose score is not too low; see misses. Until finish, the field Passage of a hit is the row
// number. Then finish replaces the row number by the number of the passage in its chunk.
func (t *nearest) passage(row int, score float64) {
	ordinal := uint32(row)
	if !t.set.single() {
		ordinal = t.set.Owner(row)
	}
	if t.open && t.best.Ordinal == ordinal {
		if score > t.best.Score {
			t.best.Score, t.best.Passage = score, row
		}
		return
	}
	t.close()
	t.best, t.open = Neighbor{Ordinal: ordinal, Passage: row, Score: score}, true
}

// close ends the current chunk: it adds the best passage to the list.
func (t *nearest) close() {
	if !t.open {
		return
	}
	t.open = false
	if t.list = append(t.list, t.best); len(t.list) >= t.limit {
		t.cut()
		t.limit = max(t.limit, t.start+2*(len(t.list)-t.start))
	}
}

// finish returns the list: first the hits that the caller already had, then the best hits, sorted.
func (t *nearest) finish() []Neighbor {
	t.cut()
	found := t.neighbors()
	slices.SortFunc(found, func(a, b Neighbor) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	for i := range found {
		first, _ := t.set.rowsAround(found[i].Passage)
		found[i].Passage -= first
	}
	list := t.list
	t.list, t.set = nil, nil
	return list
}

// cut ends a round of rows. It drops hits that score less than the k-th best hit.
func (t *nearest) cut() {
	t.close()
	if t.round == len(t.list) && t.bounds {
		return // the round found nothing
	}
	t.merge()
	found := t.neighbors()
	if len(found) < t.k {
		return
	}
	t.scores = t.scores[:0]
	for i := range found {
		t.scores = append(t.scores, found[i].Score)
	}
	t.least, t.bounds = largest(t.scores, t.k), true
	room := math.MaxInt
	if t.few {
		room = t.k
	}
	for i := range found {
		if found[i].Score > t.least {
			room--
		}
	}
	kept := found[:0]
	for _, n := range found {
		if n.Score > t.least {
			kept = append(kept, n)
		} else if n.Score == t.least && room > 0 {
			kept = append(kept, n)
			room--
		}
	}
	t.list = t.list[:t.start+len(kept)]
	t.round = len(t.list)
}

// merge merges the hits of this round with the hits of earlier rounds. If a chunk occurs twice, merge keeps the better
// passage. Of two equally good passages, it keeps the one with the lower row number.
func (t *nearest) merge() {
	old, found := t.list[t.start:t.round], t.list[t.round:]
	t.round = len(t.list)
	if len(old) == 0 || len(found) == 0 {
		return
	}
	t.merged = append(t.merged[:0], old...)
	out := t.list[:t.start]
	for old = t.merged; len(old) > 0 && len(found) > 0; {
		a, b := old[0], found[0]
		switch {
		case a.Ordinal < b.Ordinal:
			out, old = append(out, a), old[1:]
			continue
		case a.Ordinal == b.Ordinal:
			if old = old[1:]; a.Score > b.Score || a.Score == b.Score && a.Passage < b.Passage {
				b = a
			}
		}
		out, found = append(out, b), found[1:]
	}
	out = append(append(out, found...), old...)
	t.list, t.round = out, len(out)
}

// largest returns the k-th largest number of list; k counts from 1. It changes the order of the list (Hoare's
// selection).
func largest(list []float64, k int) float64 {
	for low, high := 0, len(list)-1; low < high; {
		pivot := list[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for list[i] > pivot {
				i++
			}
			for list[j] < pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			high = j
		case k-1 >= i:
			low = i
		default:
			return pivot
		}
	}
	return list[k-1]
}
