package segment

import (
	"bytes"
	"cmp"
	"slices"
)

// ColumnEquals adds to a set the chunks that have the value v in the column.
func (r *Reader) ColumnEquals(set Bitset, column string, v Value) error {
	key := appendValue(appendColumn(nil, column), v)
	var c tableCursor
	c.reset(r.columns)
	if !c.find(key) {
		return c.err
	}
	return r.addRuns(set, &c)
}

// ColumnExists adds to a set the chunks that have a value in the column.
func (r *Reader) ColumnExists(set Bitset, column string) error {
	return r.columnPrefix(set, appendColumn(nil, column))
}

// ColumnPrefix adds to set the chunks that have a text in the column with this prefix. The text has the prefix's kind.
func (r *Reader) ColumnPrefix(set Bitset, column string, prefix Value) error {
	return r.columnPrefix(set, appendValue(appendColumn(nil, column), prefix))
}

func (r *Reader) columnPrefix(set Bitset, prefix []byte) error {
	var c tableCursor
	c.reset(r.columns)
	for ok := c.seek(prefix); ok && bytes.HasPrefix(c.key, prefix); ok = c.next() {
		if err := r.addRuns(set, &c); err != nil {
			return err
		}
	}
	return c.err
}

// Bound is one end of a range of values. If a *Bound is nil, the range has no end on that side.
type Bound struct {
	Value Value
	Open  bool // excludes the value itself
}

// ColumnRange adds to a set the chunks with a value of this kind between low and high. A nil bound is no limit.
func (r *Reader) ColumnRange(set Bitset, column string, kind byte, low, high *Bound) error {
	prefix := append(appendColumn(nil, column), kind)
	start := prefix
	if low != nil {
		start = appendValue(appendColumn(nil, column), low.Value)
	}
	var end []byte
	if high != nil {
		end = appendValue(appendColumn(nil, column), high.Value)
	}
	var c tableCursor
	c.reset(r.columns)
	for ok := c.seek(start); ok && bytes.HasPrefix(c.key, prefix); ok = c.next() {
		if low != nil && low.Open && bytes.Equal(c.key, start) {
			continue
		}
		if end != nil {
			if d := bytes.Compare(c.key, end); d > 0 || d == 0 && high.Open {
				break
			}
		}
		if err := r.addRuns(set, &c); err != nil {
			return err
		}
	}
	return c.err
}

func (r *Reader) addRuns(set Bitset, c *tableCursor) error {
	if !set.ReadRuns(c.payload, r.meta.chunks) {
		return r.file.Corrupt(sectionColumns, 0, "the chunks of entry %d", c.at)
	}
	return nil
}

// EachValue calls f with every value of a column, in rising order, or in falling order if descending is set. f gets the
// kind and content of the value, as DecodeValue reads them, and the chunks with the value. The chunks come as bounds of
// runs: start, end, start, end ... Both arguments are valid only during the call. f returns false to stop.
func (r *Reader) EachValue(column string, descending bool, f func(value []byte, runs []uint32) bool) error {
	prefix := appendColumn(nil, column)
	var c tableCursor
	c.reset(r.columns)
	walk := columnWalk{r: r, prefix: len(prefix), f: f}
	if !descending {
		for ok := c.seek(prefix); ok && bytes.HasPrefix(c.key, prefix) && walk.visit(c.at, c.key, c.payload); ok = c.next() {
		}
		return cmp.Or(walk.err, c.err)
	}
	c.seek(prefix)
	first := c.at
	prefix[len(prefix)-1]++ // after every key of the column
	c.seek(prefix)
	last := c.at - 1
	type entry struct {
		at           int
		key, payload []byte
	}
	var block []entry
	for last >= first && c.err == nil && walk.err == nil {
		block = block[:0]
		for ok := c.seekEntry(max(last/tableBlock*tableBlock, first)); ok && c.at <= last; ok = c.next() {
			block = append(block, entry{c.at, bytes.Clone(c.key), c.payload})
		}
		for _, e := range slices.Backward(block) {
			if !walk.visit(e.at, e.key, e.payload) {
				return walk.err
			}
		}
		last = last/tableBlock*tableBlock - 1
	}
	return cmp.Or(walk.err, c.err)
}

// columnWalk walks the entries of the table of columns in order.
type columnWalk struct {
	r      *Reader
	prefix int // bytes of a key before the value
	f      func(value []byte, runs []uint32) bool
	runs   []uint32
	err    error
}

func (w *columnWalk) visit(at int, key, payload []byte) bool {
	w.runs = w.runs[:0]
	if len(key) <= w.prefix || !eachRun(payload, w.r.meta.chunks, func(start, end int) {
		w.runs = append(w.runs, uint32(start), uint32(end))
	}) {
		w.err = w.r.file.Corrupt(sectionColumns, 0, "the chunks of entry %d", at)
		return false
	}
	return w.f(key[w.prefix:], w.runs)
}
