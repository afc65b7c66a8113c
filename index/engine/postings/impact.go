package postings

import (
	"slices"
	"sort"
)

// An Impact is a frequency and a field length that bound postings. It bounds a posting with at most
// this frequency in a field of at least this length. The posting never scores more, for any
// parameters, weights and statistics: every form of BM25 grows with the frequency and falls with
// the length.
type Impact struct {
	Frequency uint32
	Length    uint32
}

// BlockImpacts is the most impacts of one block. More would bound more tightly, but cost space and
// time.
const BlockImpacts = 3

// impactBytes is the size of a block's impacts: for each the codes of its frequency and of its
// length; zeros when there are fewer.
const impactBytes = 2 * BlockImpacts

// Impacts are the impacts of a block, those with frequency 0 unused.
type Impacts [BlockImpacts]Impact

// codes has the number for each code of a frequency or a length: exact up to 64, then each a
// twentieth larger than the one before. The last code means any number.
var codes = func() (table [256]uint32) {
	for i := range table {
		switch {
		case i <= 64:
			table[i] = uint32(i)
		case i == 255:
			table[i] = 1<<32 - 1
		default:
			table[i] = table[i-1] + table[i-1]/20
		}
	}
	return table
}()

// codeAbove returns the code of the smallest number that is at least v.
func codeAbove(v uint32) byte {
	if v <= 64 {
		return byte(v)
	}
	return byte(sort.Search(255, func(i int) bool { return codes[i] >= v }))
}

// codeBelow returns the code of the largest number that is at most v.
func codeBelow(v uint32) byte {
	if v <= 64 {
		return byte(v)
	}
	return byte(sort.Search(255, func(i int) bool { return codes[i] > v }) - 1)
}

// readImpacts reads what appendImpacts wrote; b has at least impactBytes.
func readImpacts(dst *Impacts, b []byte) {
	_ = b[impactBytes-1]
	for i := range dst {
		dst[i] = Impact{codes[b[2*i]], codes[b[2*i+1]]}
	}
}

// Frontier collects the impacts of a set of postings that no other impact bounds: by rising
// frequency, and so by rising length.
type Frontier struct {
	impacts []Impact
}

// Reset empties f.
func (f *Frontier) Reset() { f.impacts = f.impacts[:0] }

// Add adds a posting.
func (f *Frontier) Add(frequency, length uint32) {
	list := f.impacts
	// i is the first impact with at least this frequency.
	i := 0
	for i < len(list) && list[i].Frequency < frequency {
		i++
	}
	if i < len(list) && list[i].Length <= length {
		return // an existing impact bounds it
	}
	if i < len(list) && list[i].Frequency == frequency {
		list[i].Length = length
	} else {
		list = slices.Insert(list, i, Impact{frequency, length})
	}
	// The new impact bounds those with a lower frequency and no lower length.
	j := i
	for j > 0 && list[j-1].Length >= length {
		j--
	}
	f.impacts = slices.Delete(list, j, i)
}

// limit joins neighbors until at most BlockImpacts are left; a joined impact bounds both.
func (f *Frontier) limit() {
	for len(f.impacts) > BlockImpacts {
		// Join the two whose lengths and frequencies differ least in proportion.
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

// appendImpacts writes the frontier, adds it to whole, and empties it.
func (f *Frontier) appendImpacts(dst []byte, whole *Frontier) []byte {
	if whole != nil {
		for _, m := range f.impacts {
			whole.Add(m.Frequency, m.Length)
		}
	}
	f.limit()
	for i := range BlockImpacts {
		if i < len(f.impacts) {
			dst = append(dst, codeAbove(f.impacts[i].Frequency), codeBelow(f.impacts[i].Length))
		} else {
			dst = append(dst, 0, 0)
		}
	}
	f.Reset()
	return dst
}
