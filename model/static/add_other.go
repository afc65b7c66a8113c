//go:build !amd64

package static

// addRow adds scale times the signed bytes of row to dst, which has the same length.
func addRow(dst []float32, row []byte, scale float32) { addRowPlain(dst, row, scale) }

// addHalves adds scale times the numbers of row to dst, whose length is a multiple of 32. Each 16 bytes of row have 32
// numbers, -8..7 as 0..15. First come the low halves of the bytes, then the high halves.
func addHalves(dst []float32, row []byte, scale float32) { addHalvesPlain(dst, row, scale) }
