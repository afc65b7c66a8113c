package mcp

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestMarksAroundMarks: a text of nothing but marks is quoted in time that grows as it does.
func TestMarksAroundMarks(t *testing.T) {
	const few, times = 20_000, 16
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
	if small, large := took(few), took(times*few); large > 6*times*small {
		t.Errorf("%d marks take %v, %d times as many %v", few, small, times, large)
	}
}
