package postings

import "encoding/binary"

// Encoder encodes posting lists one after another. For each list, the caller calls Add for each posting by rising
// ordinal, and then Finish. The zero value is ready. Not safe for concurrent use.
type Encoder struct {
	docs        [BlockLen]uint32
	frequencies [BlockLen]uint32
	lengths     [BlockLen]uint32
	all         []uint32 // positions of the open block
	n           int      // postings in the open block
	df          int
	next        uint32 // the ordinal after the last posting of the last block
	single      Single
	counted     bool // no positions and no impacts

	block, whole Frontier
	impacts      []byte
	lasts        []byte
	places       []uint32 // where the blocks after the first begin
	spots        []uint32 // where the positions of these blocks begin
	blocks       []byte
	positions    []byte
	writer       positionWriter
	list         []byte
}

// Add appends a posting. positions are the positions of the term, at least one, in rising order. length is the length
// of the field in the chunk. The caller must pass a larger ordinal than before, and a length of at least
// len(positions).
func (e *Encoder) Add(ordinal, length uint32, positions []uint32) {
	e.all = append(e.all, positions...)
	e.add(ordinal, length, uint32(len(positions)), false)
}

// AddCount appends a posting without positions and impacts. For one list, the caller must use only Add or only
// AddCount.
func (e *Encoder) AddCount(ordinal, frequency uint32) { e.add(ordinal, 0, frequency, true) }

// An Occurrence is one place of a term. The position is in the lower 32 bits. The ordinal of the chunk is in the 24
// bits above (see [MaxOrdinal]). The caller may use the upper 8 bits. They must then have the same value in all
// occurrences of a term.
type Occurrence uint64

func (o Occurrence) ordinal() uint32 { return uint32(o>>32) & MaxOrdinal }

// AddOccurrences appends the postings of a term's occurrences. The caller must pass at least one occurrence, in rising
// order. lengths are the lengths of the field in all chunks, by ordinal. The result is the same as with Add.
func (e *Encoder) AddOccurrences(list []Occurrence, lengths []uint32) {
	for i := 0; i < len(list); {
		chunk, from := list[i]>>32, i
		for ; i < len(list) && list[i]>>32 == chunk; i++ {
			e.all = append(e.all, uint32(list[i]))
		}
		ordinal := list[from].ordinal()
		e.add(ordinal, lengths[ordinal], uint32(i-from), false)
	}
}

// AddCounts works like AddOccurrences, but writes no positions and no impacts.
func (e *Encoder) AddCounts(list []Occurrence) {
	for i := 0; i < len(list); {
		chunk, from := list[i]>>32, i
		for i < len(list) && list[i]>>32 == chunk {
			i++
		}
		e.AddCount(list[from].ordinal(), uint32(i-from))
	}
}

// add appends a posting. Unless counted is set, the posting's positions are at the end of e.all.
func (e *Encoder) add(ordinal, length, frequency uint32, counted bool) {
	if e.df == 0 {
		e.counted, e.positions = counted, e.positions[:0]
		e.single = Single{Ordinal: ordinal, Frequency: frequency}
		if !counted {
			e.single.Position = e.all[len(e.all)-int(frequency)]
		}
	}
	e.docs[e.n], e.frequencies[e.n], e.lengths[e.n] = ordinal, frequency, length
	e.n++
	e.df++
	if e.n == BlockLen {
		e.endBlock()
	}
}

// Finish returns the list of the added postings, and prepares the encoder for the next list. The slices of the
// returned list are valid until the caller begins the next list.
func (e *Encoder) Finish() List {
	list := List{DF: e.df}
	switch {
	case e.df == 0:
		return list
	case e.df == 1:
		list.Single = e.single
		if e.single.Frequency > 1 && !e.counted {
			e.endPositions()
		}
	default:
		list.Postings = e.assemble()
	}
	list.Positions = e.positions
	e.reset()
	return list
}

func (e *Encoder) reset() {
	e.n, e.df, e.next = 0, 0, 0
	e.all = e.all[:0]
	e.block.Reset()
	e.whole.Reset()
	e.impacts, e.lasts, e.blocks = e.impacts[:0], e.lasts[:0], e.blocks[:0]
	e.places, e.spots = e.places[:0], e.spots[:0]
}

// endBlock writes the open block. The block is full, or the tail of a long list.
func (e *Encoder) endBlock() {
	if len(e.blocks) > 0 {
		e.places, e.spots = append(e.places, uint32(len(e.blocks))), append(e.spots, uint32(len(e.positions)))
	}
	if !e.counted {
		for i := range e.n {
			e.block.Add(e.frequencies[i], e.lengths[i])
		}
		e.impacts = e.block.appendImpacts(e.impacts, &e.whole)
	}
	last := e.docs[e.n-1]
	e.blocks = e.appendPostings(e.blocks)
	if e.n == BlockLen {
		e.lasts = append(e.lasts, byte(last), byte(last>>8), byte(last>>16))
	}
	e.endPositions()
	e.n = 0
}

func (e *Encoder) endPositions() {
	if !e.counted {
		e.positions = e.writer.append(e.positions, e.frequencies[:e.n], e.lengths[:e.n], e.all)
		e.all = e.all[:0]
	}
}

// tailFrame is the smallest number of postings in a tail that is written in frames. With fewer postings, varints are
// usually smaller.
const tailFrame = 16

// appendPostings appends the ordinals and frequencies of the open block to dst.
func (e *Encoder) appendPostings(dst []byte) []byte {
	var gaps, more [BlockLen]uint32
	for i, doc := range e.docs[:e.n] {
		gaps[i] = doc - e.next
		more[i] = e.frequencies[i] - 1 // a frequency of 1 takes no bits
		e.next = doc + 1
	}
	if e.n >= tailFrame {
		dst = appendFrame(dst, gaps[:e.n])
		return appendFrame(dst, more[:e.n])
	}
	for i, gap := range gaps[:e.n] {
		if more[i] == 0 {
			dst = binary.AppendUvarint(dst, uint64(gap)<<1|1)
		} else {
			dst = binary.AppendUvarint(dst, uint64(gap)<<1)
			dst = binary.AppendUvarint(dst, uint64(more[i]))
		}
	}
	return dst
}

// assemble returns the encoded list. The caller must have added at least two postings.
func (e *Encoder) assemble() []byte {
	dst := e.list[:0]
	if e.df < BlockLen {
		dst = e.appendPostings(dst)
		e.endPositions()
		e.list = dst
		return dst
	}
	if e.n > 0 {
		e.endBlock()
	}
	wide, wideSpots := widthOf(e.places), 0
	flags := byte(wide)
	if e.counted {
		flags |= flagCounted
	} else {
		wideSpots = widthOf(e.spots)
		flags |= byte(wideSpots) << 3
	}
	dst = append(dst, flags)
	if !e.counted {
		dst = e.whole.appendImpacts(dst, nil)
		dst = append(dst, e.impacts...)
	}
	dst = append(dst, e.lasts...)
	for _, place := range e.places {
		dst = appendWide(dst, place, wide)
	}
	for _, spot := range e.spots {
		dst = appendWide(dst, spot, wideSpots)
	}
	dst = append(dst, e.blocks...)
	e.list = dst
	return dst
}

// widthOf returns how many bytes the largest number in rising takes. The caller must pass rising numbers.
func widthOf(rising []uint32) int {
	n := 0
	if len(rising) > 0 {
		for v := rising[len(rising)-1]; v > 0; v >>= 8 {
			n++
		}
	}
	return n
}

func appendWide(dst []byte, v uint32, n int) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}
