package postings

import "encoding/binary"

// Encoder encodes posting lists, one after another: Add for each posting by
// rising ordinal, then Finish. The zero value is ready. Not safe for concurrent
// use.
type Encoder struct {
	docs        [BlockLen]uint32
	frequencies [BlockLen]uint32
	n           int // postings in the open block
	df          int
	lastDoc     uint32 // last ordinal added
	blockBefore uint32 // last ordinal of the block before the open one
	deltas      []uint32
	single      Single

	block, whole Frontier
	index        []byte
	blocks       []byte
	positions    []byte
	list         []byte
}

// Add appends a posting. ordinal is larger than that of the posting before;
// length is that of the field in the chunk; positions are those of the term, at
// least one, in rising order.
func (e *Encoder) Add(ordinal, length uint32, positions []uint32) {
	last := uint32(0)
	for _, p := range positions {
		e.deltas = append(e.deltas, p-last)
		last = p
	}
	if e.df == 0 {
		e.positions = e.positions[:0]
		e.single = Single{Ordinal: ordinal, Frequency: uint32(len(positions)), Position: positions[0]}
	}
	e.add(ordinal, length, uint32(len(positions)))
}

// AddCount appends a posting without positions. The postings of a list either
// all have positions or none has.
func (e *Encoder) AddCount(ordinal, length, frequency uint32) {
	if e.df == 0 {
		e.positions = e.positions[:0]
		e.single = Single{Ordinal: ordinal, Frequency: frequency}
	}
	e.add(ordinal, length, frequency)
}

func (e *Encoder) add(ordinal, length, frequency uint32) {
	e.docs[e.n], e.frequencies[e.n] = ordinal, frequency
	e.n++
	e.df++
	e.lastDoc = ordinal
	e.block.Add(frequency, length)
	if e.n == BlockLen {
		e.endBlock()
	}
}

// Finish returns the list of what was added and makes the encoder ready for the
// next one. The list's slices are valid until then.
func (e *Encoder) Finish() List {
	list := List{DF: e.df}
	switch {
	case e.df == 0:
		return list
	case e.df == 1 && e.single.Frequency == 1:
		list.Single = e.single
	case e.df == 1:
		list.Single = e.single
		e.positions = appendDeltas(e.positions, e.deltas)
		list.Positions = e.positions
	default:
		list.Postings = e.assemble()
		list.Positions = e.positions
	}
	e.reset()
	return list
}

func (e *Encoder) reset() {
	e.n, e.df, e.lastDoc, e.blockBefore = 0, 0, 0, 0
	e.deltas = e.deltas[:0]
	e.block.Reset()
	e.whole.Reset()
	e.index, e.blocks = e.index[:0], e.blocks[:0]
}

// endBlock writes the open block, which is full.
func (e *Encoder) endBlock() {
	le := binary.LittleEndian
	e.index = le.AppendUint32(e.index, e.lastDoc)
	e.index = le.AppendUint32(e.index, uint32(len(e.blocks)))
	e.index = le.AppendUint32(e.index, uint32(len(e.positions)))
	for _, m := range e.block.Impacts() {
		e.whole.Add(m.Frequency, m.Length)
	}
	e.blocks = e.block.append(e.blocks)
	last := e.blockBefore
	for i, doc := range e.docs {
		e.docs[i] = doc - last
		last = doc
		e.frequencies[i]-- // a frequency of 1 takes no bits
	}
	e.blocks = appendFrame(e.blocks, e.docs[:])
	e.blocks = appendFrame(e.blocks, e.frequencies[:])
	e.positions = appendDeltas(e.positions, e.deltas)
	e.deltas = e.deltas[:0]
	e.block.Reset()
	e.blockBefore = e.lastDoc
	e.n = 0
}

// assemble puts a list of at least two postings together.
func (e *Encoder) assemble() []byte {
	tailPositions := len(e.positions)
	dst := e.list[:0]
	if len(e.blocks) > 0 {
		for _, m := range e.block.Impacts() {
			e.whole.Add(m.Frequency, m.Length)
		}
		dst = e.whole.append(dst)
		dst = binary.AppendUvarint(dst, uint64(len(e.blocks)))
		dst = append(dst, e.index...)
		dst = append(dst, e.blocks...)
	}
	if e.n > 0 {
		if len(e.blocks) > 0 {
			dst = binary.AppendUvarint(dst, uint64(tailPositions))
		}
		dst = e.block.append(dst)
		last := e.blockBefore
		for i, doc := range e.docs[:e.n] {
			gap := uint64(doc-last) << 1
			if f := e.frequencies[i]; f == 1 {
				dst = binary.AppendUvarint(dst, gap|1)
			} else {
				dst = binary.AppendUvarint(dst, gap)
				dst = binary.AppendUvarint(dst, uint64(f))
			}
			last = doc
		}
		e.positions = appendDeltas(e.positions, e.deltas)
	}
	e.list = dst
	return dst
}

// frameMin is the least number of position differences that are worth a frame;
// fewer are written as varints.
const frameMin = 24

// appendDeltas writes differences of positions: frames of BlockLen, and what is
// left as one frame or as varints.
func appendDeltas(dst []byte, deltas []uint32) []byte {
	for len(deltas) >= frameMin {
		n := min(len(deltas), BlockLen)
		dst = appendFrame(dst, deltas[:n])
		deltas = deltas[n:]
	}
	for _, d := range deltas {
		dst = binary.AppendUvarint(dst, uint64(d))
	}
	return dst
}
