package main

import (
	"testing"
	"time"
)

// TestStolen reads the eighth number of the first line of /proc/stat, if there is one.
func TestStolen(t *testing.T) {
	for stat, want := range map[string]time.Duration{
		"cpu  135592 0 23181 276616 791 0 3027 946 0 0\ncpu0 1 2 3 4 5 6 7 8\n": 9460 * time.Millisecond,
		"cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7 8\n":                            -1,
		"intr 1 2 3 4 5 6 7 8 9\n":                                              -1,
		"cpu  1 2 3 4 5 6 7 many\n":                                             -1,
		"":                                                                      -1,
	} {
		got, known := stolenOf([]byte(stat))
		if known != (want >= 0) || known && got != want {
			t.Errorf("of %q %v, %v, want %v", stat, got, known, want)
		}
	}
	if before, known := stolen(); known {
		if after, _ := stolen(); after < before {
			t.Errorf("%v were stolen, then %v", before, after)
		}
	}
}
