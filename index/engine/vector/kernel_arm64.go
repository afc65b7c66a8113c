package vector

// init chooses the NEON kernel, which every arm64 processor can run. The dot product extension (SDOT, UDOT) would not
// help. Magnitudes are unsigned and have their signs elsewhere, so such a kernel would need three instructions, not
// two.
func init() {
	kernels = append([]kernel{{"neon", scanWith(scanNEON), aboveWith(aboveNEON), dotGathered(dotNEON)}}, kernels...)
}

// scanWith wraps an assembly version of scan that counts bits in the planes of the query.
func scanWith(scan func(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int,
	least int32)) func([]int32, []byte, []byte, *query, int32) {
	return func(out []int32, mask []byte, codes []byte, q *query, least int32) {
		if words := len(q.planes) / planeCount; checkScan(out, mask, codes, words) {
			scan(&out[0], &mask[0], &codes[0], &q.planes[0], words, len(mask), least)
		}
	}
}

// scanNEON is the assembly version of kernel.scan that scanWith wraps.
//
//go:noescape
func scanNEON(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int, least int32)

// aboveNEON is the assembly version of kernel.above that aboveWith wraps.
//
//go:noescape
func aboveNEON(mask *byte, estimates *int32, words int, least int32)

// dotNEON is the assembly version of kernel.dot that dotGathered wraps. codes has copies of the codes of the rows.
//
//go:noescape
func dotNEON(out *int32, rows *byte, index *uint32, codes *uint64, numbers *int16, words, count int)

// gathered is the largest number of words of codes that dotGathered copies for one call of the assembly kernel.
const gathered = 2048

// dotGathered wraps an assembly version of dot that reads codes one after another. So it first copies the codes of the
// rows in index. It also checks the lengths of the slices.
func dotGathered(dot func(out *int32, rows *byte, index *uint32, codes *uint64, numbers *int16, words,
	count int)) func([]int32, []byte, []uint32, []byte, []int16) {
	return func(out []int32, rows []byte, index []uint32, codes []byte, numbers []int16) {
		words := len(numbers) / wordBits
		if len(index) == 0 || words == 0 {
			return
		}
		checkDot(out, rows, index, codes, words)
		var space [gathered]uint64
		list := space[:0]
		for len(index) > 0 {
			n := min(len(index), gathered/words)
			list = list[:0]
			for _, at := range index[:n] {
				list = Code(list, codes, int(at), words)
			}
			dot(&out[0], &rows[0], &index[0], &list[0], &numbers[0], words, n)
			index, out = index[n:], out[n:]
		}
	}
}
