package static

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

//go:noescape
func addRowsAVX2(dst *float32, rows, scales *byte, pieces *int32, n, dims int, weight float32)

//go:noescape
func addHalvesAVX2(dst *float32, rows, scales *byte, pieces *int32, n, dims int, weight float32)

// addRows adds the rows of pieces to dst. A row has len(dst) signed bytes. addRows multiplies each row by weight and by
// the scale of its piece.
func addRows(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	if !hasAVX2 || len(dst)%64 > 0 || len(pieces) == 0 {
		addRowsPlain(dst, rows, scales, pieces, weight)
		return
	}
	addRowsAVX2(&dst[0], &rows[0], &scales[0], &pieces[0], len(pieces), len(dst), weight)
}

// addHalves is [addRows] for rows of numbers from -8 to 7, stored as 0 to 15. The length of dst is a multiple of 32.
// Each 16 bytes of a row have 32 numbers: first the low halves of the bytes, then the high halves.
func addHalves(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	if !hasAVX2 || len(dst)%64 > 0 || len(pieces) == 0 {
		addHalvesPlain(dst, rows, scales, pieces, weight)
		return
	}
	addHalvesAVX2(&dst[0], &rows[0], &scales[0], &pieces[0], len(pieces), len(dst), weight)
}
