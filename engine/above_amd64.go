package engine

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		above = func(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64) {
			aboveAVX2(&mask[0], &sums[0], len(mask), need)
		}
	}
}

// aboveAVX2 sets so many words of mask.
//
//go:noescape
func aboveAVX2(mask *uint64, sums *float64, words int, need float64)
