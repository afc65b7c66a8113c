package postings

import (
	"encoding/binary"
	"slices"
)

// The positions of a block are sets of numbers below the length of the field in
// the chunk, and are coded as such: see bitWriter.set. Before the bits stands
//
//	uvarint  4 x what positions exceed the lengths by, at most,
//	         + 2 if a position may come twice in one posting: then each
//	           is written plus the number of those before it,
//	         + 1 if a bit before each posting but the first says that it
//	           has the positions of the one before.
//
// The latter serves fields that neighbors share: paths, titles of chapters.
const (
	flagSame  = 1
	flagTwice = 2
	flagBits  = 2
)

// positionWriter writes the positions of blocks.
type positionWriter struct {
	bits    bitWriter
	numbers []uint64
}

// append writes the positions of postings with these frequencies and lengths,
// one after another in all.
func (w *positionWriter) append(dst []byte, frequencies, lengths, all []uint32) []byte {
	extra, twice, same := uint32(0), uint64(0), 0
	at := 0
	for i, f := range frequencies {
		list := all[at : at+int(f)]
		if over := int64(list[f-1]) + 1 - int64(lengths[i]); over > int64(extra) {
			extra = uint32(over)
		}
		for j := 1; j < len(list); j++ {
			if list[j] == list[j-1] {
				twice = 1
				break
			}
		}
		if i > 0 && sameAsBefore(all, at, int(f), int(frequencies[i-1])) {
			same++
		}
		at += int(f)
	}
	header := uint64(extra)<<flagBits | twice*flagTwice
	// One that is the same saves some five bits, and costs every posting one.
	if same*5 > len(frequencies) {
		header |= flagSame
	}
	w.bits.out = binary.AppendUvarint(dst, header)
	at = 0
	for i, f := range frequencies {
		n := int(f)
		at += n
		if header&flagSame != 0 && i > 0 {
			if sameAsBefore(all, at-n, n, int(frequencies[i-1])) {
				w.bits.put(1, 1)
				continue
			}
			w.bits.put(0, 1)
		}
		w.numbers = w.numbers[:0]
		for j, p := range all[at-n : at] {
			w.numbers = append(w.numbers, uint64(p)+twice*uint64(j))
		}
		w.bits.set(w.numbers, 0, uint64(lengths[i])+uint64(extra)-1+twice*uint64(n-1))
	}
	w.bits.flush()
	out := w.bits.out
	w.bits.out = nil
	return out
}

// sameAsBefore reports whether the n numbers from all[at] on equal the before
// numbers that come before them.
func sameAsBefore(all []uint32, at, n, before int) bool {
	return n == before && slices.Equal(all[at:at+n], all[at-n:at])
}

// PositionReader reads the positions of a cursor's postings. It decodes those of
// a whole block once.
type PositionReader struct {
	lengths   func(ordinal uint32) uint32
	positions []uint32
	numbers   []uint64
	starts    [BlockLen + 1]uint32
	block     int
	pending   *Cursor
}

// Reset forgets the block that was decoded last; call it when the cursor is given
// another list. lengths gives the length of the field in a chunk.
func (p *PositionReader) Reset(lengths func(ordinal uint32) uint32) {
	p.pending, p.lengths = nil, lengths
}

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
		p.pending = nil
		c.fail("positions")
		return dst
	}
	return append(dst, p.positions[p.starts[c.i]:p.starts[c.i+1]]...)
}

func (p *PositionReader) decode(c *Cursor) bool {
	c.decodeFrequencies()
	p.pending, p.block = c, c.current
	if c.n == 0 {
		return false
	}
	at := c.positionsAt(c.current)
	if int64(at) > int64(len(c.list.Positions)) {
		return false
	}
	src := c.list.Positions[at:]
	header, size := binary.Uvarint(src)
	if size <= 0 || header>>flagBits >= 1<<32 {
		return false
	}
	r := bitReader{src: src[size:]}
	extra, twice := header>>flagBits, header&flagTwice>>1
	p.positions = p.positions[:0]
	for i, f := range c.frequencies[:c.n] {
		p.starts[i] = uint32(len(p.positions))
		length := p.lengths(c.docs[i])
		if f > length || !r.ok() || len(p.positions) > 1<<30 {
			return false // a field has a term as often as it has terms, at most
		}
		if header&flagSame != 0 && i > 0 && r.get(1) == 1 {
			if f != c.frequencies[i-1] {
				return false
			}
			p.positions = append(p.positions, p.positions[p.starts[i-1]:]...)
			continue
		}
		p.numbers = slices.Grow(p.numbers[:0], int(f))[:f]
		r.set(p.numbers, 0, uint64(length)+extra-1+twice*uint64(f-1))
		for j, v := range p.numbers {
			p.positions = append(p.positions, uint32(v-twice*uint64(j)))
		}
	}
	p.starts[c.n] = uint32(len(p.positions))
	return r.ok()
}
