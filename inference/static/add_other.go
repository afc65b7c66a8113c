//go:build !amd64

package static

// addRow adds scale times the signed bytes of row to dst, which is as long.
func addRow(dst []float32, row []byte, scale float32) { addRowPlain(dst, row, scale) }
