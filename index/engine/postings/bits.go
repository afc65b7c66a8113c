package postings

import (
	"encoding/binary"
	"math/bits"
)

// bitWriter appends numbers, each with its own number of bits, the lowest bits first.
type bitWriter struct {
	out    []byte
	acc    uint64 // bits that are not in out yet, fewer than 32
	filled uint
}

// put writes v in n bits. The caller must pass an n of at most 32, and a v without bits above the lowest n.
func (w *bitWriter) put(v uint64, n uint) {
	w.acc |= v << w.filled
	if w.filled += n; w.filled >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.acc))
		w.acc >>= 32
		w.filled -= 32
	}
}

// flush writes the remaining bits, and pads the last byte with zeros.
func (w *bitWriter) flush() {
	for ; w.filled > 0; w.filled -= min(w.filled, 8) {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
	}
}

// writeBelow writes v, a number below n, in as few bits as possible (truncated binary). The smallest numbers take k
// bits, and the others take k+1 bits, where k is log2(n) rounded down.
func (w *bitWriter) writeBelow(v, n uint64) {
	k := uint(bits.Len64(n)) - 1
	short := uint64(2)<<k - n // this many numbers take k bits
	if v < short {
		w.put(v, k)
		return
	}
	v += short
	if k < 32 {
		w.put(v>>1|v&1<<k, k+1)
		return
	}
	w.put(v>>1, k)
	w.put(v&1, 1)
}

// set writes rising numbers with lo <= number <= hi. It writes the middle number first, in as many bits as its bounds
// require, and then both halves (Moffat and Stuiver, Binary Interpolative Coding for Effective Index Compression,
// 2000).
func (w *bitWriter) set(numbers []uint64, lo, hi uint64) {
	for len(numbers) > 1 {
		m := len(numbers) / 2
		least := lo + uint64(m)
		w.writeBelow(numbers[m]-least, hi-uint64(len(numbers)-1-m)-least+1)
		w.set(numbers[:m], lo, numbers[m]-1)
		lo, numbers = numbers[m]+1, numbers[m+1:]
	}
	if len(numbers) == 1 {
		w.writeBelow(numbers[0]-lo, hi-lo+1)
	}
}

// bitReader reads what bitWriter wrote. After the end, bitReader reads zeros and counts these zeros.
type bitReader struct {
	src    []byte
	acc    uint64
	filled uint
	beyond int // missing bytes that were read as zeros
}

func (r *bitReader) get(n uint) uint64 {
	if r.filled < n {
		r.fill()
	}
	v := r.acc & (1<<n - 1)
	r.acc >>= n
	r.filled -= n
	return v
}

// fill loads bytes until at least 56 bits are ready to read.
func (r *bitReader) fill() {
	if len(r.src) >= 8 {
		r.acc |= binary.LittleEndian.Uint64(r.src) << r.filled
		n := (63 - r.filled) >> 3
		r.src = r.src[n:]
		r.filled += n * 8
		return
	}
	for r.filled <= 56 {
		if len(r.src) > 0 {
			r.acc |= uint64(r.src[0]) << r.filled
			r.src = r.src[1:]
		} else {
			r.beyond++
		}
		r.filled += 8
	}
}

// ok reports whether all bits that were read exist in the input.
func (r *bitReader) ok() bool { return r.beyond*8 <= int(r.filled) }

// readBelow reads a number below n. The caller must pass an n below 1<<40. It has no branch, because processors cannot
// predict whether a number has one more bit.
func (r *bitReader) readBelow(n uint64) uint64 {
	k := uint(bits.Len64(n)-1) & 63
	short := uint64(2)<<k - n
	if r.filled <= k { // bits that are filled before reading count as read
		r.fill()
	}
	v := r.acc & (1<<k - 1)
	more := (short - 1 - v) >> 63 // 1 unless v is below short
	v += (v + r.acc>>k&1 - short) & -more
	k += uint(more)
	r.acc >>= k & 63
	r.filled -= k
	return v
}

// readSet reads len(dst) rising numbers with lo <= number <= hi, as bitWriter.set wrote them. The caller must check
// that so many numbers fit between lo and hi.
func readSet[T uint32 | uint64](r *bitReader, dst []T, lo, hi uint64) {
	for len(dst) > 0 {
		m := len(dst) / 2
		least := lo + uint64(m)
		middle := least + r.readBelow(hi-uint64(len(dst)-1-m)-least+1)
		dst[m] = T(middle)
		switch m {
		case 0:
		case 1: // the usual size of a set
			dst[0] = T(lo + r.readBelow(middle-lo))
		default:
			readSet(r, dst[:m], lo, middle-1)
		}
		lo, dst = middle+1, dst[m+1:]
	}
}
