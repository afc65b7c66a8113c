package postings

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		unpack, sumUp = unpackFast, sumUpFast
	}
}

// widest is the largest width, in bits, at which four bytes contain any value. The value may begin at any bit of the
// first byte.
const widest = 25

// lanes say where eight values of one width are in a group of bytes. Each half of a register gets four values. The
// lower half is loaded from the first 16 bytes. The upper half is loaded from the byte in which the fifth value begins.
type lanes struct {
	bytes  [32]byte // the four bytes of each value
	shifts [8]uint32
}

var lanesOf = func() (table [widest + 1]lanes) {
	for width := range table {
		for i := range 8 {
			bit := i % 4 * width
			if i >= 4 {
				bit += 4 * width % 8
			}
			for k := range 4 {
				table[width].bytes[4*i+k] = byte(bit/8 + k)
			}
			table[width].shifts[i] = uint32(bit % 8)
		}
	}
	return table
}()

// constant[add] has the values of a frame of width 0: each value equals add.
var constant = func() (values [2][BlockLen]uint32) {
	for i := range values[1] {
		values[1][i] = 1
	}
	return values
}()

func unpackFast(dst []uint32, src []byte, width uint, add uint32) {
	if width == 0 && add < 2 {
		copy(dst, constant[add][:])
		return
	}
	groups := len(dst) / 8
	if width > widest || groups == 0 || len(src) < groups*int(width)+slack {
		unpackGo(dst, src, width, add)
		return
	}
	unpackAVX2(&dst[0], &src[0], groups, int(width), &lanesOf[width], add)
	if rest := dst[8*groups:]; len(rest) > 0 {
		unpackGo(rest, src[groups*int(width):], width, add)
	}
}

func sumUpFast(gaps []uint32, next uint32) uint32 {
	groups := len(gaps) / 8
	if groups == 0 {
		return sumUpGo(gaps, next)
	}
	if any := sumUpAVX2(&gaps[0], groups, next); any > MaxOrdinal {
		return End
	}
	last := gaps[8*groups-1]
	if rest := gaps[8*groups:]; len(rest) > 0 {
		return sumUpGo(rest, last+1)
	}
	return last
}

// unpackAVX2 does the same as unpack, for 8 * groups values. at has the lanes of the width.
//
//go:noescape
func unpackAVX2(dst *uint32, src *byte, groups, width int, at *lanes, add uint32)

// sumUpAVX2 makes ordinals of 8 * groups gaps. It returns the bitwise OR of the gaps.
//
//go:noescape
func sumUpAVX2(gaps *uint32, groups int, next uint32) (any uint32)
