package segment

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// A table is a sorted list of distinct keys, each with a payload. Keys share
// prefixes inside blocks of tableBlock entries; the offsets of the blocks come
// after the last one, so that a key is found by binary search and the entries
// after it by reading on:
//
//	blocks   entries: uvarint of the bytes shared with the key before (0 for the
//	         first of a block), uvarint of the bytes that follow, those bytes,
//	         uvarint of the payload's length, payload
//	offsets  4 bytes a block, little endian
//	footer   number of entries, number of blocks, 4 bytes each
const (
	tableBlock  = 24
	tableFooter = 8
)

// tableWriter makes a table. Keys are added in rising order.
type tableWriter struct {
	out     []byte
	offsets []uint32
	last    []byte
	count   int
}

// blockStarts reports whether the next key begins a block.
func (w *tableWriter) blockStarts() bool { return w.count%tableBlock == 0 }

func (w *tableWriter) add(key string, payload []byte) {
	shared := 0
	if w.blockStarts() {
		w.offsets = append(w.offsets, uint32(len(w.out)))
	} else {
		for shared < len(key) && shared < len(w.last) && key[shared] == w.last[shared] {
			shared++
		}
	}
	w.out = binary.AppendUvarint(w.out, uint64(shared))
	w.out = binary.AppendUvarint(w.out, uint64(len(key)-shared))
	w.out = append(w.out, key[shared:]...)
	w.out = binary.AppendUvarint(w.out, uint64(len(payload)))
	w.out = append(w.out, payload...)
	w.last = append(w.last[:0], key...)
	w.count++
}

func (w *tableWriter) finish() []byte {
	for _, offset := range w.offsets {
		w.out = binary.LittleEndian.AppendUint32(w.out, offset)
	}
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.count))
	return binary.LittleEndian.AppendUint32(w.out, uint32(len(w.offsets)))
}

// table reads what tableWriter wrote.
type table struct {
	bytes  *guarded
	count  int
	blocks int
	ends   int // offset of the block offsets
}

func openTable(g *guarded) (*table, error) {
	size := len(g.data)
	if size < tableFooter {
		return nil, g.corrupt(0, "a table of %d bytes", size)
	}
	footer, err := g.slice(size-tableFooter, tableFooter)
	if err != nil {
		return nil, err
	}
	count, blocks := uint64(binary.LittleEndian.Uint32(footer)), uint64(binary.LittleEndian.Uint32(footer[4:]))
	if blocks != (count+tableBlock-1)/tableBlock || blocks*4 > uint64(size-tableFooter) {
		return nil, g.corrupt(size-tableFooter, "%d keys in %d blocks", count, blocks)
	}
	return &table{bytes: g, count: int(count), blocks: int(blocks), ends: size - tableFooter - int(blocks)*4}, nil
}

// block returns the bytes of a block.
func (t *table) block(i int) ([]byte, error) {
	n := min(2, t.blocks-i)
	offsets, err := t.bytes.slice(t.ends+4*i, 4*n)
	if err != nil {
		return nil, err
	}
	start, end := int64(binary.LittleEndian.Uint32(offsets)), int64(t.ends)
	if n == 2 {
		end = int64(binary.LittleEndian.Uint32(offsets[4:]))
	}
	if start > end || end > int64(t.ends) {
		return nil, t.bytes.corrupt(t.ends+4*i, "block %d lies at %d to %d", i, start, end)
	}
	return t.bytes.slice(int(start), int(end-start))
}

// tableCursor walks a table. key and payload are valid until next or seek.
type tableCursor struct {
	table   *table
	at      int // number of the entry, count at the end
	key     []byte
	payload []byte
	rest    []byte // of the block
	err     error
}

func (c *tableCursor) reset(t *table) { *c = tableCursor{table: t, at: -1, key: c.key[:0]} }

// next moves to the next entry; false at the end and after a fault.
func (c *tableCursor) next() bool {
	if c.err != nil || c.at+1 >= c.table.count {
		c.at = c.table.count
		return false
	}
	c.at++
	if c.at%tableBlock == 0 {
		if c.rest, c.err = c.table.block(c.at / tableBlock); c.err != nil {
			return false
		}
		c.key = c.key[:0]
	}
	return c.read()
}

func (c *tableCursor) read() bool {
	b := c.rest
	shared, ok := uvarint(&b)
	n, ok2 := uvarint(&b)
	if !ok || !ok2 || shared > uint64(len(c.key)) || n > uint64(len(b)) {
		return c.fail("key")
	}
	c.key = append(c.key[:shared], b[:n]...)
	b = b[n:]
	size, ok := uvarint(&b)
	if !ok || size > uint64(len(b)) {
		return c.fail("payload")
	}
	c.payload, c.rest = b[:size:size], b[size:]
	return true
}

func (c *tableCursor) fail(what string) bool {
	c.err = c.table.bytes.corrupt(0, "%s of entry %d of %d", what, c.at, c.table.count)
	return false
}

// seek moves to the first key at or after target; false when there is none. It
// may move backward.
func (c *tableCursor) seek(target []byte) bool {
	c.toBlock(target)
	for c.next() {
		if bytes.Compare(c.key, target) >= 0 {
			return true
		}
	}
	return false
}

// toBlock moves to before the last block whose first key is not after target, or
// before the first one.
func (c *tableCursor) toBlock(target []byte) {
	block := sort.Search(c.table.blocks, func(i int) bool {
		if c.err != nil {
			return true
		}
		first, err := c.table.firstKey(i)
		c.err = err
		return bytes.Compare(first, target) > 0
	}) - 1
	c.at = max(block, 0)*tableBlock - 1
}

// advance moves to the first key at or after target, which is not before the one
// that the cursor stands at; false when there is none. Targets near by are cheaper
// than with seek.
func (c *tableCursor) advance(target []byte) bool {
	for range tableBlock {
		if c.at >= 0 && c.at < c.table.count && bytes.Compare(c.key, target) >= 0 {
			return true
		}
		if !c.next() {
			return false
		}
	}
	return c.seek(target)
}

// seekEntry moves to the entry of this number.
func (c *tableCursor) seekEntry(i int) bool {
	if c.err != nil || i < 0 || i >= c.table.count {
		return false
	}
	c.at = i/tableBlock*tableBlock - 1
	for c.next() {
		if c.at == i {
			return true
		}
	}
	return false
}

// find moves to the key target; false when it is not there.
func (c *tableCursor) find(target []byte) bool {
	return c.seek(target) && bytes.Equal(c.key, target)
}

func (t *table) firstKey(block int) ([]byte, error) {
	b, err := t.block(block)
	if err != nil {
		return nil, err
	}
	shared, ok := uvarint(&b)
	n, ok2 := uvarint(&b)
	if !ok || !ok2 || shared != 0 || n > uint64(len(b)) {
		return nil, t.bytes.corrupt(0, "first key of block %d", block)
	}
	return b[:n], nil
}

// uvarint takes a varint off the front of b.
func uvarint(b *[]byte) (uint64, bool) {
	s := *b
	if len(s) > 0 && s[0] < 0x80 {
		*b = s[1:]
		return uint64(s[0]), true
	}
	v, n := binary.Uvarint(s)
	if n <= 0 {
		return 0, false
	}
	*b = s[n:]
	return v, true
}
