package segment

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync/atomic"

	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/offheap"
)

// A table is a sorted list of distinct keys, each with a payload. A table is cut into blocks of tableBlock entries,
// and the keys of a block share prefixes. The offsets of the blocks come after the last block. So a reader finds a key
// by binary search, and later entries by reading on:
//
//	blocks   entries: one byte, 16 times the number of bytes shared with the key before
//	         (0 for the first of a block) plus the number of bytes that follow; if one of
//	         the two is 15, a uvarint with the rest of the number follows; then the bytes
//	         that follow, encoded with "letters" if the table has an encoding; the payload
//	offsets  4 bytes for each block, little endian
//	footer   number of entries, number of blocks, 4 bytes each
//
// The kind of the table says how payloads are written.
const (
	tableBlock  = 24
	tableFooter = 8
	nibble      = 15
)

// tableKind says how the payloads of a table are written.
type tableKind int

const (
	// tableOfBytes has byte strings as payloads. The length of a payload comes before it, as a uvarint.
	tableOfBytes tableKind = iota
	// tableOfNumbers has one number for each key. It is a zigzag uvarint: the difference from the number before, or
	// from 0 at the start of a block.
	tableOfNumbers
	// tableOfRuns has a set of ordinals for each key, in these parts:
	//   - a zigzag uvarint: the start of the first run. It is relative to the end of the previous entry's first run,
	//     or to 0 in a new block.
	//   - a uvarint: 2*(n-1), where n is the length of the first run, plus 1 if there are more runs
	//   - if there are more runs, their length in bytes as a uvarint, and the runs as a runWriter writes them
	tableOfRuns
	// tableOfTerms has payloads that show where they end. A reader that has read a payload must set the field rest of
	// the cursor to the bytes after it.
	tableOfTerms
)

// tableWriter makes a table. The caller must add keys in rising order. The caller must call free at the end, also after
// an error; the table is then no longer valid.
type tableWriter struct {
	letters *letters // encoding of keys; nil for plain keys
	out     offheap.List[byte]
	offsets []uint32
	last    []byte
	packed  []byte
	count   int
	number  int // the next number is written as the difference from this one
}

// key begins an entry, to which the caller then appends the payload. first is true for the first entry of a block.
func (w *tableWriter) key(key string) (first bool) {
	shared := 0
	if first = w.count%tableBlock == 0; first {
		w.offsets = append(w.offsets, uint32(len(w.out.Items)))
		w.number = 0
	} else {
		for shared < len(key) && shared < len(w.last) && key[shared] == w.last[shared] {
			shared++
		}
	}
	end := key[shared:]
	more := len(end)
	if w.letters != nil {
		w.packed = w.letters.append(w.packed[:0], end)
		more = len(w.packed)
	}
	w.out.Grow(1 + 2*binary.MaxVarintLen64 + more)
	out := append(w.out.Items, byte(min(shared, nibble)<<4|min(more, nibble)))
	for _, n := range [...]int{shared, more} {
		if n >= nibble {
			out = binary.AppendUvarint(out, uint64(n-nibble))
		}
	}
	if w.letters != nil {
		w.out.Items = append(out, w.packed...)
	} else {
		w.out.Items = append(out, end...)
	}
	w.last = append(w.last[:0], key...)
	w.count++
	return first
}

func (w *tableWriter) add(key string, payload []byte) {
	w.key(key)
	w.bytes(payload)
}

func (w *tableWriter) bytes(payload []byte) {
	w.out.Grow(binary.MaxVarintLen64 + len(payload))
	w.out.Items = append(binary.AppendUvarint(w.out.Items, uint64(len(payload))), payload...)
}

func (w *tableWriter) addNumber(key string, n int) {
	w.key(key)
	w.out.Grow(binary.MaxVarintLen64)
	w.out.Items = binary.AppendVarint(w.out.Items, int64(n-w.number))
	w.number = n
}

// addRuns adds an entry to a table of runs. runs has at least one run, as a runWriter writes them.
func (w *tableWriter) addRuns(key string, runs []byte) {
	w.key(key)
	start, _ := uvarint(&runs)
	length, _ := uvarint(&runs) // minus one
	w.out.Grow(2 * binary.MaxVarintLen64)
	out := binary.AppendVarint(w.out.Items, int64(start)-int64(w.number))
	w.number = int(start + length + 1)
	if len(runs) == 0 {
		w.out.Items = binary.AppendUvarint(out, length<<1)
		return
	}
	w.out.Items = binary.AppendUvarint(out, length<<1|1)
	w.bytes(runs)
}

func (w *tableWriter) finish() []byte {
	w.out.Grow(4*len(w.offsets) + tableFooter)
	out := w.out.Items
	for _, offset := range w.offsets {
		out = binary.LittleEndian.AppendUint32(out, offset)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(w.count))
	return binary.LittleEndian.AppendUint32(out, uint32(len(w.offsets)))
}

// free releases the memory of the finished table.
func (w *tableWriter) free() { w.out.Free() }

// table is a table in a segment file, as tableWriter wrote it.
type table struct {
	kind    tableKind
	letters *letters // encoding of keys; nil for plain keys
	bytes   *sectionfile.Paged
	count   int
	blocks  int
	ends    int // offset of the block offsets
	// heads caches headOf of the first key of each block. It is 0 for a block that was not read yet. A search compares
	// these adjacent numbers instead of keys that are far apart in the file.
	heads atomic.Pointer[[]atomic.Uint64]
}

// headOf returns the first eight bytes of a key as a number. It pads a shorter key with zeros. Different heads have the
// same order as their keys.
func headOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	head := uint64(0)
	for i, b := range key {
		head |= uint64(b) << (56 - 8*i)
	}
	return head
}

func (t *table) headsOf() []atomic.Uint64 {
	heads := t.heads.Load()
	if heads == nil {
		made := make([]atomic.Uint64, t.blocks)
		t.heads.CompareAndSwap(nil, &made)
		heads = t.heads.Load()
	}
	return *heads
}

func openTable(section *sectionfile.Paged, kind tableKind) (*table, error) {
	size := section.Len()
	if size < tableFooter {
		return nil, section.Corrupt(0, "a table of %d bytes", size)
	}
	footer, err := section.Slice(size-tableFooter, tableFooter)
	if err != nil {
		return nil, err
	}
	count, blocks := uint64(binary.LittleEndian.Uint32(footer)), uint64(binary.LittleEndian.Uint32(footer[4:]))
	if blocks != (count+tableBlock-1)/tableBlock || blocks*4 > uint64(size-tableFooter) {
		return nil, section.Corrupt(size-tableFooter, "%d keys in %d blocks", count, blocks)
	}
	return &table{kind: kind, bytes: section, count: int(count), blocks: int(blocks),
		ends: size - tableFooter - int(blocks)*4}, nil
}

func (t *table) block(i int) ([]byte, error) {
	n := min(2, t.blocks-i)
	offsets, err := t.bytes.Slice(t.ends+4*i, 4*n)
	if err != nil {
		return nil, err
	}
	start, end := int64(binary.LittleEndian.Uint32(offsets)), int64(t.ends)
	if n == 2 {
		end = int64(binary.LittleEndian.Uint32(offsets[4:]))
	}
	if start > end || end > int64(t.ends) {
		return nil, t.bytes.Corrupt(t.ends+4*i, "block %d has the bytes %d to %d, outside of its section", i, start, end)
	}
	return t.bytes.Slice(int(start), int(end-start))
}

// tableCursor walks through a table. key and payload are valid until the next call of next or seek.
type tableCursor struct {
	table   *table
	at      int // number of the entry; after the last one it equals count
	key     []byte
	payload []byte // in a table of runs, the runs after the first
	number  int64  // in a table of numbers, the number; in a table of runs, the end of the first run
	length  int64  // of the first run
	rest    []byte // rest of the block
	err     error
}

func (c *tableCursor) reset(t *table) { *c = tableCursor{table: t, at: -1, key: c.key[:0]} }

// next moves to the next entry. It returns false at the end and after a fault.
func (c *tableCursor) next() bool { return c.step() && c.read() }

// step moves to the next entry without reading its payload. It returns false at the end and after an error.
func (c *tableCursor) step() bool {
	if c.err != nil || c.at+1 >= c.table.count {
		c.at = c.table.count
		return false
	}
	c.at++
	if c.at%tableBlock == 0 {
		if c.rest, c.err = c.table.block(c.at / tableBlock); c.err != nil {
			return false
		}
		c.key, c.number = c.key[:0], 0
	}
	return true
}

func (c *tableCursor) read() bool {
	shared, end, ok := keyBytes(&c.rest)
	if !ok || shared > uint64(len(c.key)) {
		return c.fail("key")
	}
	if c.key, ok = c.table.appendEnd(c.key[:shared], end); !ok {
		return c.fail("key")
	}
	return c.readRest()
}

// readRest reads the payload of the current entry. If the payload is damaged, it sets c.err and returns false.
func (c *tableCursor) readRest() bool {
	switch c.table.kind {
	case tableOfTerms:
		return true
	case tableOfNumbers:
		if !c.add() {
			return c.fail("number")
		}
		return true
	case tableOfRuns:
		if !c.readRuns() {
			return c.fail("chunks")
		}
		return true
	}
	if !c.readPayload() {
		return c.fail("payload")
	}
	return true
}

// appendEnd decodes end, the stored last part of a key, and appends it to dst. ok is false if end is damaged.
func (t *table) appendEnd(dst, end []byte) (key []byte, ok bool) {
	if t.letters != nil {
		return t.letters.appendText(dst, end)
	}
	return append(dst, end...), true
}

// keyBytes removes one key from the front of b. The key begins with the first shared bytes of the previous key. Its
// other bytes are end, in encoded form. ok is false if b is damaged.
func keyBytes(b *[]byte) (shared uint64, end []byte, ok bool) {
	if len(*b) == 0 {
		return 0, nil, false
	}
	first := (*b)[0]
	*b = (*b)[1:]
	shared, n := uint64(first>>4), uint64(first&nibble)
	for _, count := range [...]*uint64{&shared, &n} {
		if *count == nibble {
			more, ok := uvarint(b)
			if !ok || more > math.MaxInt32 {
				return 0, nil, false
			}
			*count += more
		}
	}
	if n > uint64(len(*b)) {
		return 0, nil, false
	}
	end, *b = (*b)[:n], (*b)[n:]
	return shared, end, true
}

// add reads a difference and adds it to the cursor's number. It returns false if the difference or the sum is invalid.
func (c *tableCursor) add() bool {
	v, ok := uvarint(&c.rest)
	c.number += int64(v>>1) ^ -int64(v&1)
	return ok && c.number >= 0 && c.number <= math.MaxInt32
}

func (c *tableCursor) readRuns() bool {
	if !c.add() {
		return false
	}
	v, ok := uvarint(&c.rest)
	if !ok || v>>1 >= maxChunks {
		return false
	}
	c.length = int64(v>>1) + 1
	c.number += c.length
	c.payload = nil
	return v&1 == 0 || c.readPayload()
}

func (c *tableCursor) readPayload() bool {
	size, ok := uvarint(&c.rest)
	if !ok || size > uint64(len(c.rest)) {
		return false
	}
	c.payload, c.rest = c.rest[:size:size], c.rest[size:]
	return true
}

// eachRun calls f with the bounds of every run of the current entry. In a table of numbers, the number is a run of one
// ordinal. eachRun returns false if the entry is damaged, or if a bound is above n.
func (c *tableCursor) eachRun(n int, f func(start, end int)) bool {
	switch c.table.kind {
	case tableOfBytes:
		return eachRun(c.payload, n, f)
	case tableOfNumbers: // a run of one ordinal
		if c.number >= int64(n) {
			return false
		}
		f(int(c.number), int(c.number)+1)
		return true
	}
	if c.number > int64(n) {
		return false
	}
	end := int(c.number)
	f(end-int(c.length), end)
	return eachRun(c.payload, n-end, func(s, e int) { f(end+s, end+e) })
}

func (c *tableCursor) fail(what string) bool {
	c.err = c.table.bytes.Corrupt(0, "%s of entry %d of %d", what, c.at, c.table.count)
	return false
}

// seek moves to the first key at or after target. It returns false without such a key. It may move backward.
func (c *tableCursor) seek(target []byte) bool {
	c.toBlock(target)
	same := 0
	for {
		reached, ok := c.skipToward(target, &same)
		if !ok || !c.readRest() {
			return false
		}
		if reached {
			return true
		}
	}
}

// skipToward moves to the next entry without reading the payload. The cursor must be before target. same is how many
// bytes the cursor's key shares with target; skipToward updates this number. reached reports whether the new entry is
// at or after target. If reached is false, c.key may still have an earlier key, because skipToward decodes only keys
// that it must compare. ok is false at the end and after a fault.
func (c *tableCursor) skipToward(target []byte, same *int) (reached, ok bool) {
	if !c.step() {
		return false, false
	}
	if c.at%tableBlock == 0 {
		*same = 0
	}
	shared, end, ok := keyBytes(&c.rest)
	if !ok {
		return false, c.fail("key")
	}
	if shared > uint64(*same) {
		return false, true
	}
	c.key = append(c.key[:0], target[:shared]...)
	if c.key, ok = c.table.appendEnd(c.key, end); !ok {
		return false, c.fail("key")
	}
	if int(shared) < *same {
		return true, true
	}
	n := *same
	for n < len(target) && n < len(c.key) && target[n] == c.key[n] {
		n++
	}
	*same = n
	return n == len(target) || n < len(c.key) && c.key[n] > target[n], true
}

// toBlock moves to just before the last block whose first key is at or before target. If there is no such block, it
// moves to just before the first block.
func (c *tableCursor) toBlock(target []byte) {
	heads, head := c.table.headsOf(), headOf(target)
	from, to := 0, len(heads) // blocks before from begin at target or before, those from to on after it
	for from < to && c.err == nil {
		middle := int(uint(from+to) / 2)
		after := false
		if known := heads[middle].Load(); known != 0 && known != head {
			after = known > head
		} else {
			if c.key, c.err = c.table.firstKey(c.key[:0], middle); c.err != nil {
				break
			}
			heads[middle].Store(headOf(c.key))
			after = bytes.Compare(c.key, target) > 0
		}
		if after {
			to = middle
		} else {
			from = middle + 1
		}
	}
	c.at = max(from-1, 0)*tableBlock - 1
}

// advance moves to the first key at or after target. It returns false without such a key. target must be at or after
// the current key. For near targets, advance is cheaper than seek.
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

// find moves to the key target. It returns false if the table lacks the key.
func (c *tableCursor) find(target []byte) bool {
	return c.seek(target) && bytes.Equal(c.key, target)
}

// firstKey appends the first key of a block to dst.
func (t *table) firstKey(dst []byte, block int) ([]byte, error) {
	b, err := t.block(block)
	if err != nil {
		return dst, err
	}
	shared, end, ok := keyBytes(&b)
	if ok && shared == 0 {
		if dst, ok = t.appendEnd(dst, end); ok {
			return dst, nil
		}
	}
	return dst, t.bytes.Corrupt(0, "first key of block %d", block)
}

// uvarint removes a varint from the front of b. It returns false if b does not begin with a varint.
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
