package postings

import (
	"encoding/binary"
	"fmt"
)

// A RunEncoder writes lists that [Encoder.AddRun] reads once, from front to back, and encodes for searches. Writing and
// reading such a list takes a fraction of the time of encoding. The zero value is ready. Not safe for concurrent use.
//
// A posting has these numbers, as uvarints:
//   - twice the gap to the previous ordinal, plus 1 if the frequency is 1
//   - the frequency, if it is above 1
//   - the first position, then the difference of every later position from the position before
//
// A list of one posting has only the positions, and only if there are several.
type RunEncoder struct {
	out       []byte
	df        int
	next      uint32 // the ordinal after the last posting
	single    Single
	positions int // start of the first posting's positions
}

// Add appends the postings of a term's occurrences, as [Encoder.AddOccurrences] does. If counted is set, it writes no
// positions, as [Encoder.AddCounts] does.
func (e *RunEncoder) Add(list []Occurrence, counted bool) {
	out := e.out
	for i := 0; i < len(list); {
		chunk, from := list[i]>>32, i
		for i < len(list) && list[i]>>32 == chunk {
			i++
		}
		ordinal, frequency := list[from].ordinal(), uint32(i-from)
		gap := uint64(ordinal-e.next) << 1
		e.next = ordinal + 1
		if frequency == 1 {
			out = appendNumber(out, gap|1)
		} else {
			out = appendNumber(out, gap)
			out = appendNumber(out, uint64(frequency))
		}
		if e.df == 0 {
			e.single, e.positions = Single{Ordinal: ordinal, Frequency: frequency}, len(out)
			if !counted {
				e.single.Position = uint32(list[from])
			}
		}
		e.df++
		if counted {
			continue
		}
		last := uint32(0)
		for _, o := range list[from:i] {
			out = appendNumber(out, uint64(uint32(o)-last))
			last = uint32(o)
		}
	}
	e.out = out
}

// appendNumber works like binary.AppendUvarint, which the compiler does not inline.
func appendNumber(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

// Finish returns the list of the added postings, and prepares e for the next list. The slices of the returned list are
// valid until the caller adds something.
func (e *RunEncoder) Finish() List {
	list := List{DF: e.df}
	switch {
	case e.df == 1:
		list.Single = e.single
		if e.single.Frequency > 1 {
			list.Positions = e.out[e.positions:]
		}
	case e.df > 1:
		list.Postings = e.out
	}
	e.out, e.df, e.next = e.out[:0], 0, 0
	return list
}

// AddRun appends the postings of a list that a [RunEncoder] wrote. The ordinals of the list are below limit. If
// renumbered is nil, a new ordinal is the old one plus base. Otherwise renumbered[old] is the new ordinal, or [End] to
// drop the posting. lengths are the lengths of the field in all chunks, by new ordinal. counted says that the
// RunEncoder wrote no positions. An error wraps ErrCorrupt.
func (e *Encoder) AddRun(list List, counted bool, limit, base uint32, renumbered, lengths []uint32) error {
	b, next, n := list.Postings, uint32(0), list.DF
	if n == 1 {
		b = list.Positions
	}
	for range n {
		ordinal, frequency, ok := list.Single.Ordinal, list.Single.Frequency, true
		if n > 1 {
			ordinal, frequency, ok = runPosting(&b, next)
		}
		if !ok || ordinal >= limit || frequency == 0 {
			return fmt.Errorf("%w: a posting of a run", ErrCorrupt)
		}
		next = ordinal + 1
		if ordinal += base; renumbered != nil {
			ordinal = renumbered[next-1]
		}
		if counted {
			if ordinal != End {
				e.AddCount(ordinal, frequency)
			}
			continue
		}
		from := len(e.all)
		if n == 1 && frequency == 1 {
			e.all = append(e.all, list.Single.Position)
		} else if !e.readPositions(&b, frequency) {
			return fmt.Errorf("%w: positions of a run", ErrCorrupt)
		}
		if ordinal == End {
			e.all = e.all[:from]
			continue
		}
		e.add(ordinal, lengths[ordinal], frequency, false)
	}
	if len(b) > 0 {
		return fmt.Errorf("%w: %d bytes more than a run has", ErrCorrupt, len(b))
	}
	return nil
}

// runPosting removes the ordinal and the frequency of a posting from the front of b. next is the smallest possible
// ordinal. ok is false if b is damaged.
func runPosting(b *[]byte, next uint32) (ordinal, frequency uint32, ok bool) {
	v, ok := uvarint(b)
	if !ok || v>>1 > MaxOrdinal {
		return 0, 0, false
	}
	if v&1 == 1 {
		return next + v>>1, 1, true
	}
	frequency, ok = uvarint(b)
	return next + v>>1, frequency, ok
}

// readPositions removes the n positions of a posting from the front of b, and appends them to the open block. It
// returns false if b is damaged.
func (e *Encoder) readPositions(b *[]byte, n uint32) bool {
	if uint64(n) > uint64(len(*b)) { // each takes at least a byte
		return false
	}
	position, all, ok := uint32(0), e.all, true
	for range n {
		step := uint32(0)
		if step, ok = uvarint(b); !ok || position+step < position {
			return false
		}
		position += step
		all = append(all, position)
	}
	e.all = all
	return true
}
