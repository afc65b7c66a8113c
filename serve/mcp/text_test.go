package mcp

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestMarksAroundMarks: a text of nothing but marks is quoted in time that grows as it does,
// in one try of ten at least: the machine has other work.
func TestMarksAroundMarks(t *testing.T) {
	const few, times, tries = 20_000, 16, 10
	took := func(marks int) time.Duration {
		text, least := strings.Repeat("<", marks), time.Duration(math.MaxInt64)
		for range 5 {
			var w textWriter
			began := time.Now()
			w.quote("marks.md", text)
			least = min(least, time.Since(began))
			if got := w.String(); !strings.HasSuffix(got, "\n"+text+"< end of text\n") {
				t.Fatalf("%d marks: %d bytes", marks, len(got))
			}
		}
		return least
	}
	for try := 1; ; try++ {
		small, large := took(few), took(times*few)
		if large <= 6*times*small {
			return
		}
		if try == tries {
			t.Fatalf("%d marks take %v, %d times as many %v", few, small, times, large)
		}
	}
}
