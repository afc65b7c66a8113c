package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// BlockLen is the number of postings in a full block.
const BlockLen = 128

// slack is the largest number of bytes that unpack reads behind the packed values.
const slack = 16

// A frame is up to BlockLen values, packed with exceptions (PFOR: Zukowski and
// others, Super-Scalar RAM-CPU Cache Compression, 2006):
//
//	width   1 byte   bits a value, 0..32; plus 128 when there are values with
//	                 more than one bit beyond the width
//	ones    1 byte   how many values have one bit beyond the width, most of those that
//	                 have any
//	values  ceil(n * width / 8) bytes, little endian, the lowest bits of each
//	ones    the index of each, 1 byte
//	more    when width says so: how many values have more bits (1 byte), and for
//	        each its index (1 byte), uvarint of the value shifted right by width
//
// frameWidth chooses a width that makes the frame nearly as small as possible.

// moreBeyond is a flag in the byte that holds the width of a frame. It says that some values have at least two bits
// more than the width.
const moreBeyond = 1 << 7

// appendFrame appends values to dst as a frame: packed numbers of the same width. There are at most BlockLen values.
func appendFrame(dst []byte, values []uint32) []byte {
	return packFrame(dst, values, frameWidth(values))
}

// packFrame appends values to dst as a frame in which each value has width bits.
func packFrame(dst []byte, values []uint32, width uint) []byte {
	start := len(dst)
	dst = append(dst, byte(width), 0)
	mask := uint64(1)<<width - 1
	packed := bitWriter{out: dst}
	for _, v := range values {
		packed.put(uint64(v)&mask, width)
	}
	packed.flush()
	dst = packed.out
	more := 0
	for i, v := range values {
		switch high := uint64(v) >> width; {
		case high == 1:
			dst = append(dst, byte(i))
			dst[start+1]++
		case high > 1:
			more++
		}
	}
	if more == 0 {
		return dst
	}
	dst[start] |= moreBeyond
	dst = append(dst, byte(more))
	for i, v := range values {
		if high := uint64(v) >> width; high > 1 {
			dst = binary.AppendUvarint(append(dst, byte(i)), high)
		}
	}
	return dst
}

// These are penalties in bits for an exception (a value with more bits than its frame). onePenalty is for one bit more,
// morePenalty for several. Decoding an exception takes time. Without penalties, frames would be a little smaller and
// queries slower.
const (
	onePenalty  = 4
	morePenalty = 8
)

// frameWidth returns the width for which the frame of values is smallest, with penalties for exceptions.
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
		size := len(values)*width + count[width+1]*(8+onePenalty)
		if width+2 <= widest {
			size += 8
		}
		for n := width + 2; n <= widest; n++ {
			size += count[n] * (8 + (n-width+6)/7*8 + morePenalty)
		}
		if size < bestBits {
			best, bestBits = width, size
		}
	}
	return uint(best)
}

// readFrame reads len(dst) values, at most BlockLen, and adds add (0 or 1) to each. It returns the bytes after the
// frame. ok is false if src has no valid frame, or if a sum overflows.
func readFrame(dst []uint32, src []byte, add uint32) (rest []byte, ok bool) {
	if len(src) < 2 || src[0]&^moreBeyond > 32 {
		return nil, false
	}
	width, ones, more := uint(src[0]&^moreBeyond), int(src[1]), src[0]&moreBeyond != 0
	packed := (len(dst)*int(width) + 7) / 8
	src = src[2:]
	if len(src) < packed+ones {
		return nil, false
	}
	if len(src) >= packed+slack {
		unpack(dst, src, width, add)
	} else {
		var padded [BlockLen*4 + slack]byte
		copy(padded[:], src[:packed])
		unpackGo(dst, padded[:], width, add)
	}
	if width == 32 && (ones > 0 || more || add > 0 && slices.Contains(dst, 0)) {
		return nil, false
	}
	one := uint32(1) << width
	for _, at := range src[packed : packed+ones] {
		if int(at) >= len(dst) {
			return nil, false
		}
		if dst[at] += one; dst[at] < add {
			return nil, false
		}
	}
	src = src[packed+ones:]
	if more {
		return readMore(dst, src, width, add)
	}
	return src, true
}

// readMore adds the high bits of values that are more than one bit wider than the frame. dst has their low bits plus
// add. rest has the bytes after the high bits. ok is false if src is damaged.
func readMore(dst []uint32, src []byte, width uint, add uint32) (rest []byte, ok bool) {
	if len(src) == 0 {
		return nil, false
	}
	n := int(src[0])
	src = src[1:]
	for range n {
		if len(src) < 2 || int(src[0]) >= len(dst) {
			return nil, false
		}
		at := src[0]
		src = src[1:]
		high, ok := uvarint(&src)
		if !ok || uint64(high)>>(32-width) != 0 {
			return nil, false
		}
		if dst[at] += high << width; dst[at] < add {
			return nil, false
		}
	}
	return src, true
}
