package postings

import (
	"math/bits"
	"slices"
)

// special describes an unusual block of positions. Positions are coded as sets of numbers below the length of the
// field: see bitWriter.set. The first bit of a block is 0 in the usual case. If it is 1, these bits follow:
//
//	1 bit   same: a bit before each posting but the first says whether the posting has
//	        the same positions as the one before. This helps fields that neighboring
//	        chunks share: paths, titles of chapters
//	1 bit   twice: a posting may have a position twice. To make them distinct, the number of
//	        earlier positions of the posting is added to each
//	6 bits  the number of bits of the next number
//	        extra: the most by which a position exceeds the length
type special struct {
	same  bool
	twice uint64 // 1 if a posting may have a position twice, else 0
	extra uint64
}

const extraBits = 6

func (s *special) write(w *bitWriter) {
	if *s == (special{}) {
		w.put(0, 1)
		return
	}
	same := uint64(0)
	if s.same {
		same = 1
	}
	n := uint(bits.Len64(s.extra))
	w.put(1|same<<1|s.twice<<2|uint64(n)<<3, 3+extraBits)
	w.put(s.extra, n)
}

// read reads the bits that follow the first bit. It returns false if extra has more bits than a position.
func (s *special) read(r *bitReader) bool {
	*s = special{}
	if r.get(1) == 0 {
		return true
	}
	s.same = r.get(1) == 1
	s.twice = r.get(1)
	n := uint(r.get(extraBits))
	if n > 32 {
		return false
	}
	s.extra = r.get(n)
	return true
}

type positionWriter struct {
	bits    bitWriter
	numbers []uint64
}

// append writes the positions of postings with these frequencies and lengths. The slice all has the positions of all
// postings, one after another.
func (w *positionWriter) append(dst []byte, frequencies, lengths, all []uint32) []byte {
	var how special
	same := 0
	at := 0
	for i, f := range frequencies {
		list := all[at : at+int(f)]
		if over := int64(list[f-1]) + 1 - int64(lengths[i]); over > int64(how.extra) {
			how.extra = uint64(over)
		}
		for j := 1; j < len(list); j++ {
			if list[j] == list[j-1] {
				how.twice = 1
				break
			}
		}
		if i > 0 && sameAsBefore(all, at, int(f), int(frequencies[i-1])) {
			same++
		}
		at += int(f)
	}
	// An equal position saves about five bits, and the flag costs every posting one bit.
	how.same = same*5 > len(frequencies)
	w.bits.out = dst
	how.write(&w.bits)
	at = 0
	for i, f := range frequencies {
		n := int(f)
		at += n
		if how.same && i > 0 {
			if sameAsBefore(all, at-n, n, int(frequencies[i-1])) {
				w.bits.put(1, 1)
				continue
			}
			w.bits.put(0, 1)
		}
		hi := uint64(lengths[i]) + how.extra - 1 + how.twice*uint64(n-1)
		if n == 1 {
			w.bits.writeBelow(uint64(all[at-1]), hi+1)
			continue
		}
		w.numbers = w.numbers[:0]
		for j, p := range all[at-n : at] {
			w.numbers = append(w.numbers, uint64(p)+how.twice*uint64(j))
		}
		w.bits.set(w.numbers, 0, hi)
	}
	w.bits.flush()
	out := w.bits.out
	w.bits.out = nil
	return out
}

// sameAsBefore reports whether the list all[at:at+n] equals the list before it, which has lastLen positions.
func sameAsBefore(all []uint32, at, n, lastLen int) bool {
	return n == lastLen && all[at] == all[at-n] && slices.Equal(all[at:at+n], all[at-n:at])
}

// PositionReader reads the positions of a cursor's postings. The positions of a block have no marks between postings.
// So the reader decodes from the start of the block up to the requested posting, and later continues from there.
type PositionReader struct {
	lengths   func(ordinal uint32) uint32
	positions []uint32
	numbers   []uint64
	starts    [BlockLen + 1]uint32
	block     int
	pending   *Cursor
	bits      bitReader // after the decoded part of the block
	how       special
	decoded   int // postings of the block
}

// mostKept limits the memory that an idle reader keeps, as a number of positions.
const mostKept = 1 << 14

// Reset forgets the decoded block. The caller must call it when the cursor gets another list. lengths returns the
// length of the field in a chunk. If lengths is nil, the reader becomes idle and drops large memory.
func (p *PositionReader) Reset(lengths func(ordinal uint32) uint32) {
	if lengths == nil && max(cap(p.positions), cap(p.numbers)) > mostKept {
		p.positions, p.numbers = nil, nil
	}
	p.pending, p.lengths, p.bits = nil, lengths, bitReader{}
}

// Append appends to dst the positions of the current posting of c, in rising order. A fault ends the list of c.
func (p *PositionReader) Append(dst []uint32, c *Cursor) []uint32 {
	if c.i >= c.n {
		return dst
	}
	if c.list.DF == 1 && c.list.Single.Frequency == 1 {
		return append(dst, c.list.Single.Position)
	}
	if (p.pending != c || p.block != c.current) && !p.begin(c) || p.decoded <= c.i && !p.decode(c, c.i) {
		p.pending = nil
		c.fail("positions")
		return dst
	}
	return append(dst, p.positions[p.starts[c.i]:p.starts[c.i+1]]...)
}

// begin finds where the positions of c's current block start. It returns false if the list is damaged.
func (p *PositionReader) begin(c *Cursor) bool {
	p.pending, p.block = c, c.current
	p.positions, p.decoded = p.positions[:0], 0
	if c.n == 0 {
		return false
	}
	at := c.positionsAt(c.current)
	if int64(at) > int64(len(c.list.Positions)) {
		return false
	}
	p.bits = bitReader{src: c.list.Positions[at:]}
	return p.how.read(&p.bits)
}

// decode reads the positions of the block's postings, up to and including number last. It returns false if the
// positions are damaged.
func (p *PositionReader) decode(c *Cursor, last int) bool {
	if c.decodeFrequencies(); last >= c.n { // c may have left the block and returned
		return false
	}
	r, how, positions := p.bits, p.how, p.positions
	for i := p.decoded; i <= last; i++ {
		f := c.frequencies[i]
		p.starts[i] = uint32(len(positions))
		length := p.lengths(c.docs[i])
		if f > length || !r.ok() || len(positions) > 1<<30 {
			return false // a term cannot occur more often than the field has terms
		}
		if how.same && i > 0 && r.get(1) == 1 {
			if f != c.frequencies[i-1] {
				return false
			}
			positions = append(positions, positions[p.starts[i-1]:]...)
			continue
		}
		hi := uint64(length) + how.extra - 1 + how.twice*uint64(f-1)
		if f == 1 {
			positions = append(positions, uint32(r.readBelow(hi+1)))
			continue
		}
		if how.twice == 0 {
			from := len(positions)
			positions = slices.Grow(positions, int(f))[:from+int(f)]
			readSet(&r, positions[from:], 0, hi)
			continue
		}
		p.numbers = slices.Grow(p.numbers[:0], int(f))[:f]
		readSet(&r, p.numbers, 0, hi)
		for j, v := range p.numbers {
			positions = append(positions, uint32(v-how.twice*uint64(j)))
		}
	}
	p.starts[last+1] = uint32(len(positions))
	p.bits, p.positions, p.decoded = r, positions, last+1
	return r.ok()
}
