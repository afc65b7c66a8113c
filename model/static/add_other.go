//go:build !amd64

package static

func addRow(dst []float32, row []byte, scale float32) { addRowPlain(dst, row, scale) }

func addHalves(dst []float32, row []byte, scale float32) { addHalvesPlain(dst, row, scale) }
