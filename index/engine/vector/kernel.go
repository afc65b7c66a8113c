package vector

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A kernel has the inner loops of searches for one kind of processor. All kernels compute the same integers as the
// plain Go kernel. A function in assembly gets a pointer to the start of each slice, and some of these counts:
//   - words: the length of a code, or of mask, in words of 64 bits
//   - groups: len(mask)
//   - fours: len(mask)/4
//   - count: len(index)
type kernel struct {
	name string
	// scan estimates the similarity of len(mask) groups of GroupRows vectors, and writes the estimates to out. It sets
	// the bit in mask of each vector whose estimate is above least, and clears the other bits.
	scan func(out []int32, mask []byte, codes []byte, q *query, least int32)
	// above sets the bits in mask of the estimates above least, and clears the other bits. There are 8*len(mask)
	// estimates, a multiple of wordBits.
	above func(mask []byte, estimates []int32, least int32)
	// dot sets out[i] to the dot product of a query with the row index[i]. The row numbers in index must rise. rows has
	// the bytes of all rows, and codes has their signs. numbers is query.numbers.
	dot func(out []int32, rows []byte, index []uint32, codes []byte, numbers []int16)
}

// plain is the kernel in plain Go.
var plain = kernel{"go", scanGo, aboveGo, dotGo}

// kernels are the kernels for this processor, fastest first. On some architectures, the program puts faster kernels
// before the plain kernel when it starts.
var kernels = []kernel{plain}

// Kernel returns the name of the kernel that is in use.
func Kernel() string { return kernels[0].name }

func scanGo(out []int32, mask []byte, codes []byte, q *query, least int32) {
	planes := q.planes
	words := len(planes) / planeCount
	for g := range mask {
		var sums [GroupRows]int32
		for w := range words {
			p := planes[w*planeCount : w*planeCount+planeCount]
			block := codes[(g*words+w)*8*GroupRows:][:8*GroupRows]
			for i := range sums {
				c := binary.LittleEndian.Uint64(block[8*i:])
				sums[i] += int32(bits.OnesCount64(c&p[0]) + 2*bits.OnesCount64(c&p[1]) +
					4*bits.OnesCount64(c&p[2]) - 8*bits.OnesCount64(c&p[3]))
			}
		}
		mask[g] = 0
		for i, s := range sums {
			out[g*GroupRows+i] = s
			if s > least {
				mask[g] |= 1 << i
			}
		}
	}
}

func aboveGo(mask []byte, estimates []int32, least int32) {
	for g := range mask {
		part := estimates[8*g:][:8]
		mask[g] = 0
		for i, e := range part {
			if e > least {
				mask[g] |= 1 << i
			}
		}
	}
}

func dotGo(out []int32, rows []byte, index []uint32, codes []byte, numbers []int16) {
	words := len(numbers) / wordBits
	for i, at := range index {
		row := rows[int(at)*len(numbers):][:len(numbers)]
		var sum int32
		for w := range words {
			code := binary.LittleEndian.Uint64(codes[codeAt(int(at), w, words):])
			part, factors := row[w*wordBits:][:wordBits], numbers[w*wordBits:][:wordBits]
			for j, n := range part {
				negative := -int32(code >> j & 1)
				sum += (int32(n) ^ negative - negative) * int32(factors[j])
			}
		}
		out[i] = sum
	}
}

// checkScan panics if the slices are too short for a kernel in assembly. It reports whether there is anything to scan.
func checkScan(out []int32, mask []byte, codes []byte, words int) bool {
	groups := len(mask)
	if groups == 0 || words == 0 {
		return false
	}
	_, _ = out[groups*GroupRows-1], codes[groups*words*8*GroupRows-1]
	return true
}

// aboveWith wraps an assembly version of above: it checks the lengths of the slices and then calls the version.
func aboveWith(above func(mask *byte, estimates *int32, words int, least int32)) func([]byte, []int32, int32) {
	return func(mask []byte, estimates []int32, least int32) {
		if words := 8 * len(mask) / wordBits; words > 0 {
			_ = estimates[words*wordBits-1]
			above(&mask[0], &estimates[0], words, least)
		}
	}
}

func checkDot(out []int32, rows []byte, index []uint32, codes []byte, words int) {
	_ = out[len(index)-1]
	last := int(slices.Max(index)) // the caller must pass rising numbers; memory safety does not depend on it
	_, _ = rows[(last+1)*words*wordBits-1], codes[codeAt(last, words-1, words)+7]
}
