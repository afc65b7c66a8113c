//go:build !amd64

package static

func addRows(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	addRowsPlain(dst, rows, scales, pieces, weight)
}

func addHalves(dst []float32, rows, scales []byte, pieces []int32, weight float32) {
	addHalvesPlain(dst, rows, scales, pieces, weight)
}
