package static

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

//go:noescape
func addRowAVX2(dst *float32, row *byte, scale float32, n int)

// addRow adds scale times the signed bytes of row to dst, which is as long.
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
