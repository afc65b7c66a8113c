package postings

import (
	"encoding/binary"
	"fmt"
)

// Cursor walks a posting list by rising ordinal. A cursor is large and allocates nothing, so callers should reuse it:
// Reset starts another list. Not safe for concurrent use.
//
// A fault ends the list: the cursor shows End, and Err returns the fault.
type Cursor struct {
	list  List
	limit uint32 // ordinals are below this

	impacts []byte // of the list, then of each block; nil without impacts
	lasts   []byte // last ordinal of each full block, and four bytes more
	places  []byte // offsets of the blocks after the first, placeWide bytes each
	spots   []byte // offsets of the positions of these blocks, spotWide bytes each
	blocks  []byte
	given   []uint32 // ordinals in memory instead of blocks
	full    int      // number of full blocks
	tailN   int

	placeWide, spotWide int

	shallow     int // block that SkipTo chose; the number full means the tail, full+1 the end
	current     int // decoded block, -1 for none
	i, n        int
	docs        [BlockLen]uint32
	frequencies [BlockLen]uint32
	hasFreq     bool
	freqFrame   []byte // of the current block, until it is decoded
	err         error
}

// ordinalBytes is the number of bytes of one entry in the list of the last ordinals of blocks.
const ordinalBytes = 3

// flagCounted marks a list without impacts and positions. The lower bits of the same byte hold the sizes of two kinds
// of numbers, in bytes. These numbers are the offsets of blocks and the offsets of positions.
const flagCounted = 1 << 6

// Reset makes c walk a list whose ordinals are all below limit. The cursor is then before the first posting. To move
// it, call Seek, or SkipTo and then Block.
func (c *Cursor) Reset(list List, limit uint32) {
	c.list, c.limit, c.err = list, limit, nil
	c.shallow, c.current, c.i, c.n = 0, -1, 0, 0
	c.hasFreq, c.freqFrame = false, nil
	c.impacts, c.lasts, c.places, c.spots, c.blocks, c.given = nil, nil, nil, nil, nil, nil
	c.full, c.tailN, c.placeWide, c.spotWide = 0, 0, 0, 0
	if !c.open() {
		c.fail("header")
	}
}

// ResetOver makes c walk a slice of rising ordinals, at most MaxOrdinal. The frequency of an ordinal is its index in
// the slice plus one.
func (c *Cursor) ResetOver(ordinals []uint32) {
	c.Reset(List{}, 0)
	c.list.DF, c.given = len(ordinals), ordinals
	c.full, c.tailN = len(ordinals)/BlockLen, len(ordinals)%BlockLen
	c.lasts = make([]byte, 0, c.full*ordinalBytes+4)
	for i := range c.full {
		last := ordinals[(i+1)*BlockLen-1]
		c.lasts = append(c.lasts, byte(last), byte(last>>8), byte(last>>16))
	}
	c.lasts = append(c.lasts, 0, 0, 0, 0)
}

// Rewind moves the cursor back to the beginning of the list. It keeps the decoded block.
func (c *Cursor) Rewind() {
	if c.err == nil {
		c.shallow, c.i = 0, 0
	}
}

func (c *Cursor) open() bool {
	list := c.list
	c.full, c.tailN = list.DF/BlockLen, list.DF%BlockLen
	if list.DF <= 1 {
		return list.DF == 0 || list.Single.Frequency > 0
	}
	if c.full == 0 {
		c.blocks = list.Postings
		return true
	}
	b := list.Postings
	if len(b) == 0 {
		return false
	}
	flags := b[0]
	b = b[1:]
	c.placeWide, c.spotWide = int(flags&7), int(flags>>3&7)
	impacts, more := (c.Blocks()+1)*impactBytes, c.Blocks()-1
	if flags&flagCounted != 0 {
		impacts = 0
	}
	lasts := c.full * ordinalBytes
	size := impacts + lasts + more*(c.placeWide+c.spotWide)
	// A block has at least four bytes, so reading four instead of three stays inside.
	if c.placeWide > 4 || c.spotWide > 4 || len(b) < size+4 {
		return false
	}
	c.impacts, c.lasts = b[:impacts], b[impacts:]
	b = b[impacts+lasts:]
	c.places, b = b[:more*c.placeWide], b[more*c.placeWide:]
	c.spots, c.blocks = b[:more*c.spotWide], b[more*c.spotWide:]
	return true
}

func (c *Cursor) fail(where string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s of a list of %d postings", ErrCorrupt, where, c.list.DF)
	}
	c.shallow, c.full, c.tailN = 1, 0, 0
	c.current, c.i, c.n = -1, 0, 0
}

// Err returns the fault that ended the list early, or nil. The fault wraps ErrCorrupt.
func (c *Cursor) Err() error { return c.err }

// DF returns the number of postings in the list.
func (c *Cursor) DF() int { return c.list.DF }

// HasImpacts reports whether the list has impacts. A list has none if it is shorter than a block or has no positions.
func (c *Cursor) HasImpacts() bool { return len(c.impacts) > 0 }

// Impacts sets dst to the impacts that bound every posting of the list. If the list has none, it sets dst to zeros.
func (c *Cursor) Impacts(dst *Impacts) { readImpacts(dst, c.impacts) }

// BlockImpacts reads the impacts that bound the postings of one block. The caller must check that the list has impacts.
func (c *Cursor) BlockImpacts(dst *Impacts, block int) {
	readImpacts(dst, c.impacts[(1+block)*impactBytes:])
}

// LastOf returns the last ordinal that a block can have, or End for the last block.
func (c *Cursor) LastOf(block int) uint32 {
	if block < c.full {
		return binary.LittleEndian.Uint32(c.lasts[block*ordinalBytes:]) & MaxOrdinal
	}
	return End
}

// SkipTo moves to the block with the first posting at target or later, and does not decode the block. It returns the
// last ordinal that the block can have, or End in the last block and after it. SkipTo never moves back.
func (c *Cursor) SkipTo(target uint32) (last uint32) {
	b := c.shallow
	if b >= c.full || c.LastOf(b) >= target {
		return c.LastOf(b)
	}
	// Gallop, then search: targets are usually near.
	step, lo := 1, b
	for lo+step < c.full && c.LastOf(lo+step) < target {
		lo += step
		step *= 2
	}
	hi := min(lo+step, c.full)
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if c.LastOf(mid) < target {
			lo = mid
		} else {
			hi = mid
		}
	}
	c.shallow = hi
	return c.LastOf(hi)
}

// CurrentBlock returns the number of the block that SkipTo chose, from 0.
func (c *Cursor) CurrentBlock() int { return c.shallow }

// Blocks returns the number of blocks of the list.
func (c *Cursor) Blocks() int {
	if c.tailN > 0 {
		return c.full + 1
	}
	return c.full
}

// blockData returns the encoded data from the start of a block on, or nil if the stored offset is invalid.
func (c *Cursor) blockData(block int) []byte {
	at := wide(c.places, block-1, c.placeWide)
	if int64(at) > int64(len(c.blocks)) {
		return nil
	}
	return c.blocks[at:]
}

// positionsAt returns the offset of a block's positions in List.Positions.
func (c *Cursor) positionsAt(block int) uint32 { return wide(c.spots, block-1, c.spotWide) }

// wide returns number i of a list of numbers, each n bytes long. For i = -1 it returns 0.
func wide(list []byte, i, n int) uint32 {
	v := uint32(0)
	if i >= 0 && (i+1)*n <= len(list) {
		for j := range n {
			v |= uint32(list[i*n+j]) << (8 * j)
		}
	}
	return v
}

// Block decodes the block that SkipTo chose, and returns the ordinals of the block in rising order. It returns an
// empty slice at the end of the list. The slice is valid until a call of Block or Seek that decodes another block.
func (c *Cursor) Block() []uint32 {
	if c.current != c.shallow {
		c.decode(c.shallow)
	}
	return c.docs[:c.n]
}

// Frequencies returns the frequencies of the ordinals that Block returned, each at least 1. After a fault it returns
// none.
func (c *Cursor) Frequencies() []uint32 {
	c.decodeFrequencies()
	return c.frequencies[:c.n]
}

// NextBlock moves from the block that SkipTo chose to the next block.
func (c *Cursor) NextBlock() {
	if c.shallow <= c.full {
		c.shallow++
	}
}

// Seek moves to the first posting at target or later, and returns its ordinal, or End. If target is before the current
// posting, Seek does not move.
func (c *Cursor) Seek(target uint32) uint32 {
	for {
		c.SkipTo(target)
		if c.shallow > c.full {
			c.i, c.n, c.current = 0, 0, -1
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
			c.i, c.n, c.current = 0, 0, -1
			return End
		}
		c.shallow++
	}
}

// Run returns the postings of the current block with ordinals below end, beginning with the current posting. Run moves
// past these postings. After the end of the block, Run returns nothing until the caller calls Seek. The slices are
// valid until the next call that moves the cursor.
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

// searchFrom returns the index of the first element of docs[i:] that is at least target, as an index in docs.
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

// Ordinal returns the ordinal of the posting to which Seek or Next moved, or End.
func (c *Cursor) Ordinal() uint32 {
	if c.i < c.n && c.current == c.shallow {
		return c.docs[c.i]
	}
	return End
}

// Frequency returns the frequency of the posting to which Seek or Next moved.
func (c *Cursor) Frequency() uint32 {
	if c.i >= c.n {
		return 0
	}
	c.decodeFrequencies()
	return c.frequencies[c.i]
}

// Next moves from the current posting to the next one, and returns its ordinal, or End. Call Seek first.
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

// decode decodes the ordinals of a block. In the tail (see decodeTail), it also decodes the frequencies.
func (c *Cursor) decode(block int) {
	c.current, c.i, c.n = block, 0, 0
	c.hasFreq, c.freqFrame = false, nil
	switch {
	case c.given != nil:
		c.n = copy(c.docs[:], c.given[min(block*BlockLen, len(c.given)):])
		for i := range c.frequencies[:c.n] {
			c.frequencies[i] = uint32(block*BlockLen + i + 1)
		}
		c.hasFreq = true
	case block < c.full:
		c.decodeFull(block)
	case block == c.full && c.tailN > 0:
		c.decodeTail()
	}
}

func (c *Cursor) decodeFull(block int) {
	b, ok := readFrame(c.docs[:], c.blockData(block), 0)
	if !ok {
		c.fail("ordinals")
		return
	}
	next := uint32(0)
	if block > 0 {
		next = c.LastOf(block-1) + 1
	}
	if last := sumUp(c.docs[:], next); last >= c.limit || last != c.LastOf(block) {
		c.fail("ordinals")
		return
	}
	c.freqFrame, c.n = b, BlockLen
}

// decodeTail decodes the tail: the postings after the full blocks.
func (c *Cursor) decodeTail() {
	if c.list.DF == 1 {
		if c.list.Single.Ordinal >= c.limit {
			c.fail("ordinal")
			return
		}
		c.docs[0], c.frequencies[0], c.n, c.hasFreq = c.list.Single.Ordinal, c.list.Single.Frequency, 1, true
		return
	}
	b := c.blocks
	next := uint32(0)
	if c.full > 0 {
		b, next = c.blockData(c.full), c.LastOf(c.full-1)+1
	}
	docs := c.docs[:c.tailN]
	ok := true
	if c.tailN >= tailFrame {
		b, ok = readFrame(docs, b, 0)
		c.freqFrame = b
	} else {
		ok = c.readVarints(docs, b)
		c.hasFreq = true
	}
	if !ok || sumUp(docs, next) >= c.limit {
		c.fail("tail")
		return
	}
	c.n = c.tailN
}

// readVarints reads the postings of a short tail from b: gaps between ordinals, and frequencies. false means damage.
func (c *Cursor) readVarints(gaps []uint32, b []byte) bool {
	for i := range gaps {
		v, n := binary.Uvarint(b)
		if n <= 0 || v>>1 > MaxOrdinal {
			return false
		}
		b = b[n:]
		gaps[i], c.frequencies[i] = uint32(v>>1), 1
		if v&1 == 0 {
			more, ok := uvarint(&b)
			if !ok || more+1 == 0 {
				return false
			}
			c.frequencies[i] = more + 1
		}
	}
	return true
}

func (c *Cursor) decodeFrequencies() {
	if c.hasFreq || c.n == 0 {
		return
	}
	frequencies := c.frequencies[:c.n]
	if _, ok := readFrame(frequencies, c.freqFrame, 1); !ok {
		c.fail("frequencies")
		return
	}
	c.hasFreq = true
}

// uvarint removes a varint of at most 32 bits from the front of src. It returns false if src does not begin with one.
func uvarint(src *[]byte) (uint32, bool) {
	b := *src
	if len(b) > 0 && b[0] < 0x80 {
		*src = b[1:]
		return uint32(b[0]), true
	}
	v, n := binary.Uvarint(b)
	if n <= 0 || v>>32 != 0 {
		return 0, false
	}
	*src = b[n:]
	return uint32(v), true
}
