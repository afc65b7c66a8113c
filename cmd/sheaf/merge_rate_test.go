package main

import (
	"testing"

	"sheaf/cmd/sheaf/internal/config"
	"sheaf/store/embedded"
)

// TestMergeRate checks that the engine gets the setting, and that 0 pauses merges.
func TestMergeRate(t *testing.T) {
	for set, want := range map[int64]int64{0: embedded.NoMerges, 64 << 20: 64 << 20} {
		c := &config.Config{Values: config.Values{Engine: config.Engine{MergeRate: set}}}
		if got := engineOptions(c).MergeRate; got != want {
			t.Errorf("merge rate %d: the engine gets %d, want %d", set, got, want)
		}
	}
}
