package postings

import "encoding/binary"

// unpack and sumUp take most of the time of decoding a block. On some architectures, a faster version with the same
// results replaces the version in Go when the program starts.
var (
	// unpack reads len(dst) values (at most BlockLen) of width bits each, and adds add to each. src must have slack
	// bytes more than the values need.
	unpack = unpackGo
	// sumUp turns gaps into ordinals. next is the smallest possible first ordinal. sumUp returns the last ordinal, or
	// End if a gap is too large.
	sumUp = sumUpGo
)

// unpackGo loads eight bytes at once, and takes from them as many values as they contain.
func unpackGo(dst []uint32, src []byte, width uint, add uint32) {
	full := len(dst) &^ 7
	switch {
	case width == 0:
		for i := range dst {
			dst[i] = add
		}
		return
	case width <= 7:
		mask := uint32(1)<<width - 1
		for i := 0; i < full; i += 8 {
			w := binary.LittleEndian.Uint64(src)
			src = src[width:]
			d := dst[i : i+8 : i+8]
			d[0] = uint32(w)&mask + add
			d[1] = uint32(w>>(width&63))&mask + add
			d[2] = uint32(w>>(2*width&63))&mask + add
			d[3] = uint32(w>>(3*width&63))&mask + add
			d[4] = uint32(w>>(4*width&63))&mask + add
			d[5] = uint32(w>>(5*width&63))&mask + add
			d[6] = uint32(w>>(6*width&63))&mask + add
			d[7] = uint32(w>>(7*width&63))&mask + add
		}
	case width <= 14:
		mask := uint32(1)<<width - 1
		half, shift := width>>1, width&1*4
		for i := 0; i < full; i += 8 {
			w := binary.LittleEndian.Uint64(src)
			v := binary.LittleEndian.Uint64(src[half:]) >> (shift & 63)
			src = src[width:]
			d := dst[i : i+8 : i+8]
			d[0] = uint32(w)&mask + add
			d[1] = uint32(w>>(width&63))&mask + add
			d[2] = uint32(w>>(2*width&63))&mask + add
			d[3] = uint32(w>>(3*width&63))&mask + add
			d[4] = uint32(v)&mask + add
			d[5] = uint32(v>>(width&63))&mask + add
			d[6] = uint32(v>>(2*width&63))&mask + add
			d[7] = uint32(v>>(3*width&63))&mask + add
		}
	default:
		full = 0
	}
	mask := uint64(1)<<width - 1
	for i := full; i < len(dst); i++ {
		bit := uint(i-full) * width
		dst[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:])>>(bit&7)&mask) + add
	}
}

func sumUpGo(gaps []uint32, next uint32) uint32 {
	any := uint32(0)
	for i, gap := range gaps {
		any |= gap
		next += gap
		gaps[i] = next
		next++
	}
	if any > MaxOrdinal {
		return End
	}
	return next - 1
}
