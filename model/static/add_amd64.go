package static

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// addRowsAVX2 is [addRows] with AVX2. n is the number of pieces, and dims is the length of dst, a multiple of 64.
//
//go:noescape
func addRowsAVX2(dst *float32, rows, scales *byte, pieces *int32, n, dims int, weight float32)

// addHalvesAVX2 is [addHalves] with AVX2. n and dims are as in addRowsAVX2.
//
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

// addHalves does what [addRows] does, for rows that store numbers from -8 to 7, plus 8, in halves of bytes. 16 bytes of
// a row have 32 numbers: 16 in the low halves, then 16 in the high halves. len(dst) is a multiple of 32.
func addHalves(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	if !hasAVX2 || len(dst)%64 > 0 || len(pieces) == 0 {
		addHalvesPlain(dst, rows, scales, pieces, weight)
		return
	}
	addHalvesAVX2(&dst[0], &rows[0], &scales[0], &pieces[0], len(pieces), len(dst), weight)
}
