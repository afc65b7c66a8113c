package static

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

//go:noescape
func addRowAVX2(dst *float32, row *byte, scale float32, n int)

//go:noescape
func addHalvesAVX2(dst *float32, row *byte, scale float32, n int)

// addRow adds scale times the signed bytes of row to dst, which has the same length.
func addRow(dst []float32, row []byte, scale float32) {
	n := 0
	if hasAVX2 {
		if n = len(dst) &^ 31; n > 0 && len(row) >= n {
			addRowAVX2(&dst[0], &row[0], scale, n)
		} else {
			n = 0
		}
	}
	addRowPlain(dst[n:], row[n:], scale)
}

// addHalves adds scale times the numbers of row to dst, whose length is a multiple of 32. Each 16 bytes of row have 32
// numbers, -8..7 as 0..15. First come the low halves of the bytes, then the high halves.
func addHalves(dst []float32, row []byte, scale float32) {
	if n := len(dst); hasAVX2 && n > 0 && n%32 == 0 && len(row) >= n/2 {
		addHalvesAVX2(&dst[0], &row[0], scale, n)
		return
	}
	addHalvesPlain(dst, row, scale)
}
