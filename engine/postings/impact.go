package postings

import (
	"encoding/binary"
	"slices"
)

// An Impact is a frequency and a field length that bound postings: a posting
// with at most this frequency in a field of at least this length scores no more
// than the impact does, whatever the parameters, the weights and the statistics,
// because every form of BM25 grows with the frequency and falls with the length.
type Impact struct {
	Frequency uint32
	Length    uint32
}

// maxImpacts is the most impacts kept for one block. More of them bound more
// sharply and cost space and time; beyond six the sharpness gained is nil on
// ordinary text.
const maxImpacts = 6

// Frontier gathers the impacts of a set of postings that no other one bounds:
// by rising frequency, and so by rising length.
type Frontier struct {
	impacts []Impact
}

// Reset empties f.
func (f *Frontier) Reset() { f.impacts = f.impacts[:0] }

// Impacts are the impacts of the frontier, valid until the next call.
func (f *Frontier) Impacts() []Impact { return f.impacts }

// Add takes a posting into account.
func (f *Frontier) Add(frequency, length uint32) {
	list := f.impacts
	// i is the first impact with at least this frequency.
	i := 0
	for i < len(list) && list[i].Frequency < frequency {
		i++
	}
	if i < len(list) && list[i].Length <= length {
		return // bounded by one that is there
	}
	if i < len(list) && list[i].Frequency == frequency {
		list[i].Length = length
	} else {
		list = slices.Insert(list, i, Impact{frequency, length})
	}
	// Those with a lower frequency and no lower length are bounded now.
	j := i
	for j > 0 && list[j-1].Length >= length {
		j--
	}
	f.impacts = slices.Delete(list, j, i)
}

// limit joins neighbours until at most maxImpacts are left; an impact that
// stands for two bounds both.
func (f *Frontier) limit() {
	for len(f.impacts) > maxImpacts {
		// Join the two whose lengths differ least in proportion.
		best, bestRatio := 0, 0.0
		for i := 0; i+1 < len(f.impacts); i++ {
			ratio := float64(f.impacts[i].Length+1) / float64(f.impacts[i+1].Length+1) *
				float64(f.impacts[i].Frequency) / float64(f.impacts[i+1].Frequency)
			if ratio > bestRatio {
				best, bestRatio = i, ratio
			}
		}
		f.impacts[best+1].Length = f.impacts[best].Length
		f.impacts = slices.Delete(f.impacts, best, best+1)
	}
}

// append writes the frontier: the number of impacts (1 byte), then for each the
// uvarints of the rise of its frequency and of its length.
func (f *Frontier) append(dst []byte) []byte {
	f.limit()
	dst = append(dst, byte(len(f.impacts)))
	var last Impact
	for _, m := range f.impacts {
		dst = binary.AppendUvarint(dst, uint64(m.Frequency-last.Frequency))
		dst = binary.AppendUvarint(dst, uint64(m.Length-last.Length))
		last = m
	}
	return dst
}

// readImpacts reads a frontier into dst and returns how many impacts it has and
// what follows; n is -1 when src holds none.
func readImpacts(dst *[maxImpacts]Impact, src []byte) (n int, rest []byte) {
	if len(src) == 0 || src[0] > maxImpacts {
		return -1, nil
	}
	n = int(src[0])
	src = src[1:]
	var last Impact
	for i := range n {
		frequency, ok := uvarint(&src)
		length, ok2 := uvarint(&src)
		if !ok || !ok2 {
			return -1, nil
		}
		last.Frequency += frequency
		last.Length += length
		dst[i] = last
	}
	return n, src
}

// uvarint takes an unsigned 32-bit varint off the front of src.
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
