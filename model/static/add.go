package static

import (
	"encoding/binary"
	"math"
)

// addRowsPlain is addRows in Go, for every processor.
func addRowsPlain(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	for _, id := range pieces {
		scale := weight * scaleOf(scales, id)
		for i, b := range rows[int(id)*len(dst):][:len(dst)] {
			dst[i] += float32(scale * float32(int8(b)))
		}
	}
}

// addHalvesPlain is addHalves in Go, for every processor.
func addHalvesPlain(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	for _, id := range pieces {
		scale := weight * scaleOf(scales, id)
		row := rows[int(id)*len(dst)/2:]
		for d := dst; len(d) >= 32; d, row = d[32:], row[16:] {
			for i, b := range row[:16] {
				d[i] += float32(scale * float32(int(b&15)-8))
				d[i+16] += float32(scale * float32(int(b>>4)-8))
			}
		}
	}
}

// scaleOf returns the scale of a piece.
func scaleOf(scales []byte, id int32) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(scales[4*id:]))
}
