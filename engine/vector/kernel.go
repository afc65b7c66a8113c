package vector

import (
	"encoding/binary"
	"math/bits"
)

// A kernel is the three inner loops, for one kind of processor. Every kernel gives
// exactly the numbers of the one in plain Go: they are integers.
type kernel struct {
	name string
	// scan estimates groups of GroupRows vectors: out gets their estimates,
	// and mask a bit for each, set when its estimate is above least. There are
	// len(mask) groups; planes are those of a query.
	scan func(out []int32, mask []byte, codes []byte, planes []uint64, least int32)
	// unpack writes the magnitudes of the rows whose numbers are in index, a
	// byte a dimension; codes and finer are theirs, one after another.
	unpack func(out []byte, rows []byte, index []uint32, codes, finer []uint64)
	// dot multiplies a query with magnitudes, as unpack writes them, under the
	// signs in codes.
	dot func(out []int32, magnitudes []byte, codes []uint64, numbers []int16)
}

// plain is the kernel in plain Go.
var plain = kernel{"go", scanGo, unpackGo, dotGo}

// kernels are those that this processor has, the fastest first; the files of
// single architectures put theirs before the plain one when the program starts.
var kernels = []kernel{plain}

// Kernel names the kernel that is used.
func Kernel() string { return kernels[0].name }

func scanGo(out []int32, mask []byte, codes []byte, planes []uint64, least int32) {
	words := len(planes) / planeCount
	for g := range mask {
		var sums [GroupRows]int32
		for w := range words {
			p := planes[w*planeCount : w*planeCount+planeCount]
			block := codes[(g*words+w)*8*GroupRows:][:8*GroupRows]
			for i := range sums {
				c := binary.LittleEndian.Uint64(block[8*i:])
				sums[i] += int32(bits.OnesCount64(c&p[0]) + 2*bits.OnesCount64(c&p[1]) + 4*bits.OnesCount64(c&p[2]) - 8*bits.OnesCount64(c&p[3]))
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

func unpackGo(out []byte, rows []byte, index []uint32, codes, finer []uint64) {
	if len(index) == 0 {
		return
	}
	words := len(codes) / len(index)
	for i, at := range index {
		code, fine := codes[i*words:][:words], finer[i*finerBits*words:][:finerBits*words]
		for w, negative := range code {
			row, to := rows[(int(at)*words+w)*packed:][:packed], out[(i*words+w)*wordBits:][:wordBits]
			first, second := ^(fine[w] ^ negative), ^(fine[words+w] ^ negative)
			for j := range to {
				to[j] = byte(first>>j&1<<7|second>>j&1<<6) | row[32+j%16]>>(j/16*2)&3<<4 | row[j%32]>>(j/32*4)&15
			}
		}
	}
}

func dotGo(out []int32, magnitudes []byte, codes []uint64, numbers []int16) {
	words := len(numbers) / wordBits
	for i := range len(codes) / max(words, 1) {
		row := magnitudes[i*len(numbers):][:len(numbers)]
		var sum int32
		for w, code := range codes[i*words : (i+1)*words] {
			part, factors := row[w*wordBits:][:wordBits], numbers[w*wordBits:][:wordBits]
			for j, n := range part {
				negative := -int32(code >> j & 1)
				sum += (int32(n) ^ negative - negative) * int32(factors[j])
			}
		}
		out[i] = sum
	}
}

// scanWith checks the bounds of what a kernel in assembly reads and writes.
func scanWith(scan func(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int, least int32)) func([]int32, []byte, []byte, []uint64, int32) {
	return func(out []int32, mask []byte, codes []byte, planes []uint64, least int32) {
		words, groups := len(planes)/planeCount, len(mask)
		if groups == 0 || words == 0 {
			return
		}
		_, _ = out[groups*GroupRows-1], codes[groups*words*8*GroupRows-1]
		scan(&out[0], &mask[0], &codes[0], &planes[0], words, groups, least)
	}
}

// unpackWith checks the bounds of what a kernel in assembly reads and writes.
func unpackWith(unpack func(out, rows *byte, index *uint32, codes, finer *uint64, words, count int)) func([]byte, []byte, []uint32, []uint64, []uint64) {
	return func(out []byte, rows []byte, index []uint32, codes, finer []uint64) {
		if len(index) == 0 || len(codes) < len(index) {
			return
		}
		words, count := len(codes)/len(index), len(index)
		_, _, _ = out[count*words*wordBits-1], codes[count*words-1], finer[count*words*finerBits-1]
		for _, at := range index {
			_ = rows[(int(at)+1)*words*packed-1]
		}
		unpack(&out[0], &rows[0], &index[0], &codes[0], &finer[0], words, count)
	}
}

// dotWith checks the bounds of what a kernel in assembly reads and writes.
func dotWith(dot func(out *int32, magnitudes *byte, codes *uint64, numbers *int16, words, count int)) func([]int32, []byte, []uint64, []int16) {
	return func(out []int32, magnitudes []byte, codes []uint64, numbers []int16) {
		words := len(numbers) / wordBits
		if words == 0 || len(codes) < words {
			return
		}
		count := len(codes) / words
		_, _ = out[count-1], magnitudes[count*words*wordBits-1]
		dot(&out[0], &magnitudes[0], &codes[0], &numbers[0], words, count)
	}
}
