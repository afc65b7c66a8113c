package vector

import "golang.org/x/sys/cpu"

func init() {
	var list []kernel
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI && x.HasAVX512VBMI {
		list = append(list, kernel{"avx512", scanTables(scanAVX512), aboveWith(aboveAVX512), dotWith(dotAVX512)})
	}
	if x.HasAVX2 {
		list = append(list, kernel{"avx2", scanFours(scanAVX2), aboveWith(aboveAVX2), dotWith(dotAVX2)})
	}
	kernels = append(list, kernels...)
}

// scanTables wraps an assembly version of scan that looks up sums in tables.
func scanTables(scan func(out *int32, mask *byte, codes *byte, tables *byte, words, groups int,
	least int32)) func([]int32, []byte, []byte, *query, int32) {
	return func(out []int32, mask []byte, codes []byte, q *query, least int32) {
		if words := len(q.tables) / tableBytes; checkScan(out, mask, codes, words) {
			scan(&out[0], &mask[0], &codes[0], &q.tables[0], words, len(mask), least)
		}
	}
}

// foursWords is the longest code, in 64-bit words, for which scanFours can add up an estimate in 16 bits.
const foursWords = 1 << 15 / (planeMost + 1) / wordBits

// scanFours wraps an assembly version of scan that looks up sums for four groups at once, in 16-bit numbers. The Go
// kernel handles up to three groups at the end, and codes of more than 4,096 dimensions.
func scanFours(scan func(out *int32, mask *byte, codes *byte, tables *byte, words, fours int,
	least int32)) func([]int32, []byte, []byte, *query, int32) {
	return func(out []int32, mask []byte, codes []byte, q *query, least int32) {
		words, groups := len(q.tables)/tableBytes, len(mask)&^3
		if words > foursWords || !checkScan(out, mask[:groups], codes, words) {
			groups = 0
		} else {
			scan(&out[0], &mask[0], &codes[0], &q.tables[0], words, groups/4, least)
		}
		scanGo(out[groups*GroupRows:], mask[groups:], codes[groups*words*8*GroupRows:], q, least)
	}
}

// dotWith wraps an assembly version of dot, and checks the lengths of the slices before the call.
func dotWith(dot func(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words,
	count int)) func([]int32, []byte, []uint32, []byte, []int16) {
	return func(out []int32, rows []byte, index []uint32, codes []byte, numbers []int16) {
		words, count := len(numbers)/wordBits, len(index)
		if count == 0 || words == 0 {
			return
		}
		checkDot(out, rows, index, codes, words)
		dot(&out[0], &rows[0], &index[0], &codes[0], &numbers[0], words, count)
	}
}

// scanAVX512 is the assembly version of kernel.scan that scanTables wraps.
//
//go:noescape
func scanAVX512(out *int32, mask *byte, codes *byte, tables *byte, words, groups int, least int32)

// scanAVX2 is the assembly version of kernel.scan that scanFours wraps.
//
//go:noescape
func scanAVX2(out *int32, mask *byte, codes *byte, tables *byte, words, fours int, least int32)

// aboveAVX512 is the assembly version of kernel.above that aboveWith wraps.
//
//go:noescape
func aboveAVX512(mask *byte, estimates *int32, words int, least int32)

// aboveAVX2 is the assembly version of kernel.above that aboveWith wraps.
//
//go:noescape
func aboveAVX2(mask *byte, estimates *int32, words int, least int32)

// dotAVX512 is the assembly version of kernel.dot that dotWith wraps.
//
//go:noescape
func dotAVX512(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words, count int)

// dotAVX2 is the assembly version of kernel.dot that dotWith wraps.
//
//go:noescape
func dotAVX2(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words, count int)
