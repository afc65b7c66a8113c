package vector

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
)

// blockRows is how many rows the kernels are given at once. It is a multiple of
// GroupRows.
const blockRows = 1024

// worker is the memory of one search, kept for the next one.
type worker struct {
	query query
	scans []*scanner // one for each range of rows
	selection
	nearest nearest
}

var workers = sync.Pool{New: func() any { return &worker{} }}

// selection is the memory in which rows are chosen and compared.
type selection struct {
	counter
	list   []survivor // in the order of rows
	seeds  []survivor // the best of them
	index  []uint32   // rows to be compared
	scores []float64  // and their similarities
	codes  []uint64
	out    [blockRows]int32
}

// score makes c.scores the similarities of the rows in c.index, which rise.
func (s *Set) score(q *query, c *selection) error {
	words, size := s.Encoder.Words(), s.Encoder.RowBytes()
	c.scores = c.scores[:0]
	for index := c.index; len(index) > 0; {
		part := index[:min(len(index), blockRows)]
		index = index[len(part):]
		if err := s.verify(part); err != nil {
			return err
		}
		c.codes = c.codes[:0]
		for _, row := range part {
			c.codes = Code(c.codes, s.Codes, int(row), words)
		}
		kernels[0].dot(c.out[:], s.Rows[:s.Count*size], part, c.codes, q.numbers)
		for i, row := range part {
			c.scores = append(c.scores, float64(c.out[i])*q.scale*s.scale(int(row)))
		}
	}
	return nil
}

// compare offers the rows in w.index, which rise from call to call, to w.nearest.
func (s *Set) compare(w *worker) error {
	if err := s.score(&w.query, &w.selection); err != nil {
		return err
	}
	for i, row := range w.index {
		w.nearest.passage(s, int(row), w.scores[i])
	}
	return nil
}

// verify makes sure that rows, which rise, are as they were written.
func (s *Set) verify(rows []uint32) error {
	if s.Verify == nil {
		return nil
	}
	if first, last := int(rows[0]), int(rows[len(rows)-1]); last-first == len(rows)-1 {
		return s.Verify(first, last+1)
	}
	for _, row := range rows {
		if err := s.Verify(int(row), int(row)+1); err != nil {
			return err
		}
	}
	return nil
}

// compareAllowed compares every row that is allowed.
func (s *Set) compareAllowed(ctx context.Context, w *worker, allowed []uint64) error {
	w.index = w.index[:0]
	from := 0
	flush := func() error {
		err := ctx.Err()
		if err == nil {
			err = s.compare(w)
		}
		w.index = w.index[:0]
		return err
	}
	if allowed == nil {
		for row := range s.Count {
			if w.index = append(w.index, uint32(row)); len(w.index) == blockRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	}
	for at, word := range allowed {
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

// compareSurvivors compares the rows that survived the scan, and then all passages
// of the chunks that were found: the best of a chunk need not have survived.
func (s *Set) compareSurvivors(w *worker) error {
	w.choose(w.list)
	if err := s.compare(w); err != nil || s.single() {
		return err
	}
	w.nearest.close()
	w.nearest.cut()
	w.index = w.index[:0]
	slices.SortFunc(w.nearest.found(), func(a, b Neighbor) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	from := 0
	for _, n := range w.nearest.found() {
		first, end := s.rows(n.Ordinal, from)
		for row := first; row < end; row++ {
			w.index = append(w.index, uint32(row))
		}
		from = end
	}
	w.nearest.reset(w.nearest.list[:w.nearest.start], w.nearest.k)
	return s.compare(w)
}

// choose makes c.index the rows of survivors.
func (c *selection) choose(list []survivor) {
	c.index = c.index[:0]
	for _, s := range list {
		c.index = append(c.index, s.row)
	}
}

// nearest keeps the best of many chunks: it gathers twice as many as are wanted and
// more, and then drops the worse ones at once.
type nearest struct {
	list   []Neighbor // what the caller had, and from start on what was found
	start  int
	k      int
	limit  int // length at which the worse ones are dropped
	least  float64
	bounds bool // least is the score that a chunk needs
	// floor is what it needs from the beginning, if floored.
	floor   float64
	floored bool

	scores []float64 // of cut

	best Neighbor // of the open chunk
	row  int      // its best row
	open bool
	set  *Set
}

func (t *nearest) reset(dst []Neighbor, k int) {
	*t = nearest{list: dst, start: len(dst), k: k, limit: len(dst) + 2*k + 256, floor: t.floor, floored: t.floored, least: t.floor, bounds: t.floored, scores: t.scores}
}

func (t *nearest) found() []Neighbor { return t.list[t.start:] }

// misses reports whether a row with this score changes nothing, whether or not its
// chunk is open.
func (t *nearest) misses(score float64) bool { return t.bounds && score < t.least }

// passage takes a row into account; rows rise.
func (t *nearest) passage(s *Set, row int, score float64) {
	if t.misses(score) {
		return
	}
	ordinal := uint32(row)
	if !s.single() {
		ordinal = s.Owner(row)
	}
	if t.open && t.best.Ordinal == ordinal {
		if score > t.best.Score {
			t.best.Score, t.row = score, row
		}
		return
	}
	t.close()
	t.best, t.row, t.open, t.set = Neighbor{Ordinal: ordinal, Score: score}, row, true, s
}

// close ends the open chunk. What is its passage, finish says of those that are
// kept; until then it is the row.
func (t *nearest) close() {
	if !t.open {
		return
	}
	t.open = false
	t.best.Passage = t.row
	if t.list = append(t.list, t.best); len(t.list) >= t.limit {
		t.cut()
		t.limit = max(t.limit, t.start+2*(len(t.list)-t.start))
	}
}

// finish returns the list with the best at the end of it, in order.
func (t *nearest) finish() []Neighbor {
	t.close()
	t.cut()
	found := t.found()
	slices.SortFunc(found, func(a, b Neighbor) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return cmp.Compare(a.Ordinal, b.Ordinal)
	})
	for i := range found {
		first, _ := t.set.rows(found[i].Ordinal, 0)
		found[i].Passage -= first
	}
	list := t.list
	t.list, t.set = nil, nil
	return list
}

// cut drops what scores less than the k-th best, which comes to place k; the
// others are in no order.
func (t *nearest) cut() {
	found := t.found()
	if len(found) < t.k {
		return
	}
	t.scores = t.scores[:0]
	for i := range found {
		t.scores = append(t.scores, found[i].Score)
	}
	t.least, t.bounds = largest(t.scores, t.k), true
	kept := found[:0]
	for _, n := range found {
		if n.Score >= t.least {
			kept = append(kept, n)
		}
	}
	if last := slices.IndexFunc(kept, func(n Neighbor) bool { return n.Score == t.least }); last >= 0 { // unless scores are no numbers
		kept[last], kept[t.k-1] = kept[t.k-1], kept[last]
	}
	t.list = t.list[:t.start+len(kept)]
}

// largest is the k-th largest number of a list, from 1, which it reorders: Hoare's
// selection.
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
