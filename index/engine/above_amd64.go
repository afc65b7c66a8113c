package engine

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		above = func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64) {
			aboveAVX2(&mask[0], &sums[0], len(mask), need)
		}
	}
	if x := &cpu.X86; x.HasAVX512F && x.HasAVX512VL && x.HasPOPCNT {
		take = func(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) int {
			return takeAVX512(&ordinals[0], &taken[0], &sums[0], len(sums)/8, start, need)
		}
	}
}

// aboveAVX2 does the same as the function above, with AVX2 instructions. words is the number of words in mask.
//
//go:noescape
func aboveAVX2(mask *uint64, sums *float64, words int, need float64)

// takeAVX512 does the same as take, for 8 * groups sums, with AVX-512 instructions. Each step writes eight entries,
// first those of sums that are at least need. The next step overwrites the other entries.
//
//go:noescape
func takeAVX512(ordinals *uint32, taken, sums *float64, groups int, start uint32, need float64) int
