package vector

// Every arm64 processor has the instructions that the NEON kernel needs. The dot
// product extension (SDOT, UDOT) would not help: magnitudes are unsigned and their
// signs lie elsewhere, so it would take three of its instructions where two of
// the usual ones do.
func init() {
	kernels = append([]kernel{{"neon", scanWith(scanNEON), aboveWith(aboveNEON), dotGathered(dotNEON)}}, kernels...)
}

//go:noescape
func scanNEON(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int, least int32)

//go:noescape
func aboveNEON(mask *byte, estimates *int32, words int, least int32)

//go:noescape
func dotNEON(out *int32, rows *byte, index *uint32, codes *uint64, numbers *int16, words, count int)
