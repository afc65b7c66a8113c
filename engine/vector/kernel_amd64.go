package vector

import "golang.org/x/sys/cpu"

func init() {
	var list []kernel
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI && x.HasAVX512VBMI {
		list = append(list, kernel{"avx512", scanTables(scanAVX512), aboveWith(aboveAVX512), dotWith(dotAVX512)})
	}
	if x.HasAVX2 {
		list = append(list, kernel{"avx2", scanWith(scanAVX2), aboveWith(aboveAVX2), dotWith(dotAVX2)})
	}
	kernels = append(list, kernels...)
}

//go:noescape
func scanAVX512(out *int32, mask *byte, codes *byte, tables *byte, words, groups int, least int32)

//go:noescape
func scanAVX2(out *int32, mask *byte, codes *byte, planes *uint64, words, groups int, least int32)

//go:noescape
func aboveAVX512(mask *byte, estimates *int32, words int, least int32)

//go:noescape
func aboveAVX2(mask *byte, estimates *int32, words int, least int32)

//go:noescape
func dotAVX512(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words, count int)

//go:noescape
func dotAVX2(out *int32, rows *byte, index *uint32, codes *byte, numbers *int16, words, count int)
