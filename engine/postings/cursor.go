package postings

import (
	"encoding/binary"
	"fmt"
)

// Cursor walks a posting list by rising ordinal. It is large, allocates nothing
// and is meant to be reused: Reset starts another list. Not safe for concurrent
// use.
//
// A fault in the list ends it: the cursor shows End, and Err says why.
type Cursor struct {
	list  List
	limit uint32 // ordinals are below this

	index  []byte // of the full blocks
	blocks []byte
	tail   []byte // after the impacts
	full   int    // number of full blocks
	tailN  int
	tailAt uint32 // offset of the tail's positions

	whole, tailImpacts impacts

	shallow     int // block that SkipTo chose; full is the tail, full+1 the end
	current     int // block that is decoded, -1 for none
	i, n        int
	docs        [BlockLen]uint32
	frequencies [BlockLen]uint32
	hasFreq     bool
	freqFrame   []byte // of the current block, until it is decoded

	boundBlock int // block that bound belongs to, -1 for none
	bound      impacts
	err        error
}

type impacts struct {
	n    int
	list [maxImpacts]Impact
}

// Reset makes c walk a list of which every ordinal is below limit. The cursor
// stands before the first posting: call Seek, or SkipTo and Block.
func (c *Cursor) Reset(list List, limit uint32) {
	c.list, c.limit, c.err = list, limit, nil
	c.shallow, c.current, c.i, c.n = 0, -1, 0, 0
	c.boundBlock = -1
	c.hasFreq, c.freqFrame = false, nil
	c.index, c.blocks, c.tail = nil, nil, nil
	c.full, c.tailN, c.tailAt = 0, 0, 0
	c.whole.n, c.tailImpacts.n = 0, 0
	if !c.open() {
		c.fail("header")
	}
}

func (c *Cursor) open() bool {
	list := c.list
	if list.DF <= 1 {
		c.tailN = list.DF
		if list.DF == 1 {
			c.whole = impacts{n: 1}
			c.whole.list[0] = Impact{list.Single.Frequency, 0}
			c.tailImpacts = c.whole
		}
		return list.DF == 0 || list.Single.Frequency > 0
	}
	c.full, c.tailN = list.DF/BlockLen, list.DF%BlockLen
	b := list.Postings
	if c.full > 0 {
		if c.whole.n, b = readImpacts(&c.whole.list, b); c.whole.n < 1 {
			return false
		}
		size, ok := uvarint(&b)
		index := c.full * indexBytes
		if !ok || index > len(b) || int64(size) > int64(len(b)-index) {
			return false
		}
		c.index, c.blocks = b[:index], b[index:index+int(size)]
		b = b[index+int(size):]
		if c.tailN > 0 {
			if c.tailAt, ok = uvarint(&b); !ok {
				return false
			}
		}
	}
	if c.tailN > 0 {
		if c.tailImpacts.n, b = readImpacts(&c.tailImpacts.list, b); c.tailImpacts.n < 1 {
			return false
		}
		if c.full == 0 {
			c.whole = c.tailImpacts
		}
	}
	c.tail = b
	return true
}

func (c *Cursor) fail(where string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s of a list of %d postings", ErrCorrupt, where, c.list.DF)
	}
	c.shallow, c.full, c.tailN = 1, 0, 0
	c.current, c.i, c.n = -1, 0, 0
}

// Err is the fault that ended the list early; it wraps ErrCorrupt.
func (c *Cursor) Err() error { return c.err }

// DF is the number of postings in the list.
func (c *Cursor) DF() int { return c.list.DF }

// Impacts bound every posting of the list.
func (c *Cursor) Impacts() []Impact { return c.whole.list[:c.whole.n] }

func (c *Cursor) lastOf(block int) uint32 {
	if block < c.full {
		return binary.LittleEndian.Uint32(c.index[block*indexBytes:])
	}
	return End
}

// SkipTo moves to the block that holds the first posting at target or later,
// without decoding it, and returns the last ordinal that the block can hold: End
// for the last block, and for none. Blocks only move forward.
func (c *Cursor) SkipTo(target uint32) (last uint32) {
	b := c.shallow
	if b >= c.full || c.lastOf(b) >= target {
		return c.lastOf(b)
	}
	// Gallop, then search: targets are usually near.
	step, lo := 1, b
	for lo+step < c.full && c.lastOf(lo+step) < target {
		lo += step
		step *= 2
	}
	hi := min(lo+step, c.full)
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if c.lastOf(mid) < target {
			lo = mid
		} else {
			hi = mid
		}
	}
	c.shallow = hi
	return c.lastOf(hi)
}

// BlockImpacts bound the postings of the block that SkipTo chose; none are left
// when it is empty.
func (c *Cursor) BlockImpacts() []Impact {
	switch {
	case c.shallow > c.full || c.shallow == c.full && c.tailN == 0:
		return nil
	case c.shallow == c.full:
		return c.tailImpacts.list[:c.tailImpacts.n]
	case c.boundBlock != c.shallow:
		n, _ := readImpacts(&c.bound.list, c.blockData(c.shallow))
		if n < 1 {
			c.fail("impacts")
			return nil
		}
		c.bound.n, c.boundBlock = n, c.shallow
	}
	return c.bound.list[:c.bound.n]
}

// CurrentBlock is the number of the block that SkipTo chose, from 0.
func (c *Cursor) CurrentBlock() int { return c.shallow }

// Blocks is the number of blocks of the list.
func (c *Cursor) Blocks() int {
	if c.tailN > 0 {
		return c.full + 1
	}
	return c.full
}

// LastOf is the last ordinal that a block can hold, End for the list's last.
func (c *Cursor) LastOf(block int) uint32 { return c.lastOf(block) }

// PeekImpacts appends to dst the impacts of a block, without moving.
func (c *Cursor) PeekImpacts(dst []Impact, block int) []Impact {
	if block >= c.full {
		return append(dst, c.tailImpacts.list[:c.tailImpacts.n]...)
	}
	var m impacts
	n, _ := readImpacts(&m.list, c.blockData(block))
	if n < 1 {
		c.fail("impacts")
		return dst
	}
	return append(dst, m.list[:n]...)
}

func (c *Cursor) blockData(block int) []byte {
	at := binary.LittleEndian.Uint32(c.index[block*indexBytes+4:])
	if int64(at) > int64(len(c.blocks)) {
		return nil
	}
	return c.blocks[at:]
}

// Block decodes the block that SkipTo chose and returns its ordinals, rising;
// empty at the end of the list. They are valid until the next Block or Seek that
// leaves the block.
func (c *Cursor) Block() []uint32 {
	if c.current != c.shallow {
		c.decode(c.shallow)
	}
	return c.docs[:c.n]
}

// Frequencies belong to the ordinals of Block, one each, at least 1.
func (c *Cursor) Frequencies() []uint32 {
	c.decodeFrequencies()
	return c.frequencies[:c.n]
}

// NextBlock moves to the block after the one that SkipTo chose.
func (c *Cursor) NextBlock() {
	if c.shallow <= c.full {
		c.shallow++
	}
}

// Seek moves to the first posting at target or later and returns its ordinal, or
// End. Seeking backward does not move.
func (c *Cursor) Seek(target uint32) uint32 {
	for {
		c.SkipTo(target)
		if c.shallow > c.full {
			c.i, c.n = 0, 0
			return End
		}
		docs := c.Block()
		i := c.i
		if i < len(docs) && docs[i] < target {
			i = searchFrom(docs, i+1, target)
			c.i = i
		}
		if i < len(docs) {
			return docs[i]
		}
		if c.shallow >= c.full {
			c.shallow = c.full + 1
			c.i, c.n = 0, 0
			return End
		}
		c.shallow++
	}
}

// Run returns the postings from the one that Seek moved to, of its block and with
// ordinals below end, and moves past them: to the next of the block, or to
// where Seek has to be called again. The slices are valid until then.
func (c *Cursor) Run(end uint32) (ordinals, frequencies []uint32) {
	if c.i >= c.n || c.current != c.shallow {
		return nil, nil
	}
	c.decodeFrequencies()
	from, to := c.i, c.n
	if to > 0 && c.docs[to-1] >= end {
		to = searchFrom(c.docs[:to], from, end)
	}
	c.i = to
	return c.docs[from:to], c.frequencies[from:to]
}

// searchFrom is the index of the first of docs[i:] that is at least target.
func searchFrom(docs []uint32, i int, target uint32) int {
	for step := 1; ; step *= 2 {
		if i+step >= len(docs) || docs[i+step] >= target {
			hi := min(i+step, len(docs))
			for i < hi {
				mid := int(uint(i+hi) / 2)
				if docs[mid] < target {
					i = mid + 1
				} else {
					hi = mid
				}
			}
			return i
		}
		i += step
	}
}

// Ordinal is the ordinal of the posting that Seek moved to, or End.
func (c *Cursor) Ordinal() uint32 {
	if c.i < c.n && c.current == c.shallow {
		return c.docs[c.i]
	}
	return End
}

// Frequency is the frequency of the posting that Seek moved to.
func (c *Cursor) Frequency() uint32 {
	if c.i >= c.n {
		return 0
	}
	c.decodeFrequencies()
	return c.frequencies[c.i]
}

// Next moves to the posting after the one that Seek moved to.
func (c *Cursor) Next() uint32 {
	if c.i+1 < c.n && c.current == c.shallow {
		c.i++
		return c.docs[c.i]
	}
	if c.Ordinal() == End {
		return End
	}
	return c.Seek(c.docs[c.i] + 1)
}

// decode decodes a block's ordinals; those of the tail with their frequencies.
func (c *Cursor) decode(block int) {
	c.current, c.i, c.n = block, 0, 0
	c.hasFreq, c.freqFrame = false, nil
	switch {
	case block < c.full:
		c.decodeFull(block)
	case block == c.full && c.tailN > 0:
		c.decodeTail()
	}
}

func (c *Cursor) decodeFull(block int) {
	var skip impacts
	n, b := readImpacts(&skip.list, c.blockData(block))
	if n < 1 {
		c.fail("impacts")
		return
	}
	b, ok := readFrame(c.docs[:], b)
	if !ok {
		c.fail("ordinals")
		return
	}
	last, any := uint32(0), uint32(0)
	if block > 0 {
		last = c.lastOf(block - 1)
	}
	if block == 0 {
		last-- // the first ordinal may be 0, every other gap is at least 1
		c.docs[0]++
	}
	for i, gap := range c.docs {
		any |= gap - 1
		last += gap
		c.docs[i] = last
	}
	if any > MaxOrdinal || last >= c.limit || last != c.lastOf(block) {
		c.fail("ordinals")
		return
	}
	c.freqFrame, c.n = b, BlockLen
}

func (c *Cursor) decodeTail() {
	c.hasFreq = true
	if c.list.DF == 1 {
		if c.list.Single.Ordinal >= c.limit {
			c.fail("ordinal")
			return
		}
		c.docs[0], c.frequencies[0], c.n = c.list.Single.Ordinal, c.list.Single.Frequency, 1
		return
	}
	last := uint64(0)
	if c.full > 0 {
		last = uint64(c.lastOf(c.full - 1))
	}
	b := c.tail
	for i := range c.tailN {
		gap, ok := uvarint(&b)
		frequency := uint32(1)
		if ok && gap&1 == 0 {
			frequency, ok = uvarint(&b)
		}
		last += uint64(gap >> 1)
		if !ok || last >= uint64(c.limit) || frequency == 0 || gap>>1 == 0 && (i > 0 || c.full > 0) {
			c.fail("tail")
			return
		}
		c.docs[i], c.frequencies[i] = uint32(last), frequency
	}
	c.n = c.tailN
}

func (c *Cursor) decodeFrequencies() {
	if c.hasFreq || c.n == 0 {
		return
	}
	if _, ok := readFrame(c.frequencies[:], c.freqFrame); !ok {
		c.fail("frequencies")
		return
	}
	for i := range c.frequencies {
		c.frequencies[i]++
	}
	c.hasFreq = true
}
