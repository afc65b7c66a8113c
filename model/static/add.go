package static

// addRowPlain is addRow in Go, for every processor.
func addRowPlain(dst []float32, row []byte, scale float32) {
	row = row[:len(dst)]
	for i, b := range row {
		dst[i] += float32(scale * float32(int8(b)))
	}
}

// addHalvesPlain is addHalves in Go, for every processor.
func addHalvesPlain(dst []float32, row []byte, scale float32) {
	for len(dst) >= 32 && len(row) >= 16 {
		d, r := dst[:32:32], row[:16:16]
		for i, b := range r {
			d[i] += float32(scale * float32(int(b&15)-8))
			d[i+16] += float32(scale * float32(int(b>>4)-8))
		}
		dst, row = dst[32:], row[16:]
	}
}
