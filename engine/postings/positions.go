package postings

import "encoding/binary"

// Positions appends to dst the positions of the posting that Seek moved to, in
// rising order. It decodes those of the whole block once.
type PositionReader struct {
	deltas  []uint32
	starts  [BlockLen + 1]uint32
	block   int
	pending *Cursor
}

// Reset forgets the block that was decoded last. Call it when the cursor is
// given another list.
func (p *PositionReader) Reset() { p.pending = nil }

// Append appends to dst the positions, in rising order, of the posting that c
// was moved to by Seek. A fault ends c's list, as every fault does.
func (p *PositionReader) Append(dst []uint32, c *Cursor) []uint32 {
	if c.i >= c.n {
		return dst
	}
	if c.list.DF == 1 && c.list.Single.Frequency == 1 {
		return append(dst, c.list.Single.Position)
	}
	if (p.pending != c || p.block != c.current) && !p.decode(c) {
		c.fail("positions")
		return dst
	}
	position := uint32(0)
	for _, delta := range p.deltas[p.starts[c.i]:p.starts[c.i+1]] {
		position += delta
		dst = append(dst, position)
	}
	return dst
}

func (p *PositionReader) decode(c *Cursor) bool {
	c.decodeFrequencies()
	p.pending, p.block = c, c.current
	at := uint32(0)
	switch {
	case c.current < c.full:
		at = binary.LittleEndian.Uint32(c.index[c.current*indexBytes+8:])
	case c.full > 0:
		at = c.tailAt
	}
	if int64(at) > int64(len(c.list.Positions)) {
		return false
	}
	b := c.list.Positions[at:]
	total := uint64(0)
	for i, f := range c.frequencies[:c.n] {
		p.starts[i] = uint32(total)
		total += uint64(f)
	}
	// A frame of 128 positions takes two bytes at least.
	if c.n == 0 || total > uint64(len(b))*BlockLen {
		return false
	}
	p.starts[c.n] = uint32(total)
	var ok bool
	p.deltas, ok = readDeltas(p.deltas[:0], b, int(total))
	return ok
}

// readDeltas reads n differences that appendDeltas wrote.
func readDeltas(dst []uint32, src []byte, n int) ([]uint32, bool) {
	var frame [BlockLen]uint32
	for n >= frameMin {
		k := min(n, BlockLen)
		var ok bool
		if src, ok = readFrame(frame[:k], src); !ok {
			return dst, false
		}
		dst = append(dst, frame[:k]...)
		n -= k
	}
	for range n {
		delta, ok := uvarint(&src)
		if !ok {
			return dst, false
		}
		dst = append(dst, delta)
	}
	return dst, true
}
