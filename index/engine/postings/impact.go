package postings

import (
	"slices"
	"sort"
)

// An Impact is a frequency and a field length. It bounds the score of every posting with at most this frequency, in a
// field of at least this length. This holds for all parameters, because every form of BM25 grows with the frequency
// and falls with the length.
type Impact struct {
	Frequency uint32
	Length    uint32
}

// BlockImpacts is the largest number of impacts for one block. More impacts would give a tighter bound, but take space
// and time.
const BlockImpacts = 3

// impactBytes is the size of the impacts of a block. Each impact has the code of its frequency and the code of its
// length. Unused impacts are zeros.
const impactBytes = 2 * BlockImpacts

// Impacts are the impacts of a block. Unused entries have frequency 0.
type Impacts [BlockImpacts]Impact

// codes[c] is the number for the code c of a frequency or a length. Up to 64, the number equals the code. Each later
// number is a twentieth larger than the number before. The last code means any number.
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

// codeAbove returns the code of the smallest number in codes that is at least v.
func codeAbove(v uint32) byte {
	if v <= 64 {
		return byte(v)
	}
	return byte(sort.Search(255, func(i int) bool { return codes[i] >= v }))
}

// codeBelow returns the code of the largest number in codes that is at most v.
func codeBelow(v uint32) byte {
	if v <= 64 {
		return byte(v)
	}
	return byte(sort.Search(255, func(i int) bool { return codes[i] > v }) - 1)
}

// readImpacts reads what appendImpacts wrote. b must have at least impactBytes bytes.
func readImpacts(dst *Impacts, b []byte) {
	_ = b[impactBytes-1]
	for i := range dst {
		dst[i] = Impact{codes[b[2*i]], codes[b[2*i+1]]}
	}
}

// Frontier collects the impacts of a set of postings. It leaves out an impact that another impact bounds. The impacts
// rise by frequency, and also by length.
type Frontier struct {
	impacts []Impact
}

// Reset empties f.
func (f *Frontier) Reset() { f.impacts = f.impacts[:0] }

// Add adds the impact of a posting.
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
	// The new impact bounds impacts with a lower frequency and a length that is not lower.
	j := i
	for j > 0 && list[j-1].Length >= length {
		j--
	}
	f.impacts = slices.Delete(list, j, i)
}

// limit joins neighboring impacts until at most BlockImpacts are left. A joined impact bounds all postings of both.
func (f *Frontier) limit() {
	for len(f.impacts) > BlockImpacts {
		// Join the two impacts whose lengths and frequencies differ least in proportion.
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

// appendImpacts appends the impacts of f, which belong to a block, to dst. If whole is not nil, appendImpacts also adds
// these impacts to whole, the impacts of the list. Then it empties f.
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
