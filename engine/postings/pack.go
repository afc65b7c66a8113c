package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// BlockLen is the number of postings in a full block.
const BlockLen = 128

// slack is how many bytes unpack may read beyond the packed values.
const slack = 16

// A frame is up to BlockLen values, packed with exceptions (PFOR: Zukowski and
// others, Super-Scalar RAM-CPU Cache Compression, 2006):
//
//	width       1 byte   bits a value, 0..32
//	exceptions  1 byte   how many values have more bits
//	values      ceil(n x width / 8) bytes, little endian, the lowest bits of each
//	exceptions  each: index (1 byte), uvarint of the value shifted right by width
//
// The width is the one that makes the frame smallest.

// appendFrame appends values, at most BlockLen of them.
func appendFrame(dst []byte, values []uint32) []byte {
	width := frameWidth(values)
	start := len(dst)
	dst = append(dst, byte(width), 0)
	mask := uint64(1)<<width - 1
	packed := bitWriter{out: dst}
	for _, v := range values {
		packed.put(uint64(v)&mask, width)
	}
	packed.flush()
	dst = packed.out
	for i, v := range values {
		if high := uint64(v) >> width; high != 0 {
			dst = append(dst, byte(i))
			dst = binary.AppendUvarint(dst, high)
			dst[start+1]++
		}
	}
	return dst
}

// frameWidth is the width with which a frame of values is smallest.
func frameWidth(values []uint32) uint {
	var count [33]int
	widest := 0
	for _, v := range values {
		n := bits.Len32(v)
		count[n]++
		widest = max(widest, n)
	}
	best, bestBits := widest, len(values)*widest
	for width := widest - 1; width >= 0; width-- {
		size := len(values) * width
		for n := width + 1; n <= widest; n++ {
			size += count[n] * (8 + (n-width+6)/7*8)
		}
		if size < bestBits {
			best, bestBits = width, size
		}
	}
	return uint(best)
}

// readFrame reads len(dst) values, at most BlockLen, each of them plus add (0 or 1),
// and returns what follows the frame; ok is false when src is no frame of that many
// values, or when one is too large for add.
func readFrame(dst []uint32, src []byte, add uint32) (rest []byte, ok bool) {
	if len(src) < 2 || src[0] > 32 {
		return nil, false
	}
	width, exceptions := uint(src[0]), int(src[1])
	packed := (len(dst)*int(width) + 7) / 8
	src = src[2:]
	if len(src) < packed {
		return nil, false
	}
	if len(src) >= packed+slack {
		unpack(dst, src, width, add)
	} else {
		var padded [BlockLen*4 + slack]byte
		copy(padded[:], src[:packed])
		unpackGo(dst, padded[:], width, add)
	}
	if width == 32 && add > 0 && slices.Contains(dst, 0) {
		return nil, false
	}
	src = src[packed:]
	for range exceptions {
		if len(src) < 2 || int(src[0]) >= len(dst) {
			return nil, false
		}
		high, n := binary.Uvarint(src[1:])
		if n <= 0 || high>>(32-width) != 0 {
			return nil, false
		}
		if dst[src[0]] += uint32(high << width); dst[src[0]] < add {
			return nil, false
		}
		src = src[1+n:]
	}
	return src, true
}
