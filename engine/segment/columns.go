package segment

import "bytes"

// ColumnEquals adds to set the chunks of which a value of the column equals v.
func (r *Reader) ColumnEquals(set Bitset, column string, v Value) error {
	key := appendValue(appendColumn(nil, column), v)
	var c tableCursor
	c.reset(r.columns)
	if !c.find(key) {
		return c.err
	}
	return r.addRuns(set, &c)
}

// ColumnExists adds to set the chunks that have a value in the column.
func (r *Reader) ColumnExists(set Bitset, column string) error {
	return r.columnPrefix(set, appendColumn(nil, column))
}

// ColumnPrefix adds to set the chunks of which a text value of the column begins
// with prefix, a value of that kind.
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

// Bound is an end of a range of values; a nil *Bound is none.
type Bound struct {
	Value Value
	Open  bool // the value itself is outside
}

// ColumnRange adds to set the chunks of which a value of the column has this kind
// and lies between two bounds of that kind, at least one of them given.
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
