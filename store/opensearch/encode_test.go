package opensearch

import (
	"encoding/json"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestLongValue checks that reading a shortened value returns an error that names its column.
func TestLongValue(t *testing.T) {
	source := must.Get(json.Marshal(object{"id": "t:a.md#x", "doc": "t:a.md",
		"c": []string{columnWord("prop.summary") + valueWord(sheaf.TextValue(strings.Repeat("long ", 2000)))}}))
	check.Fails(t, must.Err(new(Store).chunk(source)), sheaf.ErrUnsupported,
		`chunk t:a.md#x: the value of column "prop.summary" is longer than 8000 bytes`, "chunk")
}

// lucene returns the length that Lucene keeps (SmallFloat.intToByte4 and back).
func lucene(n int) int {
	if n < 40 {
		return n
	}
	n -= 24
	shift := 0
	for n>>shift >= 16 {
		shift++
	}
	return 24 + n>>shift<<shift
}

// TestFillersKeepLength checks that fillers make Lucene keep the nearest possible length.
func TestFillersKeepLength(t *testing.T) {
	for _, c := range [][2]int{{1, 0}, {39, 0}, {41, 0}, {42, 0}, {58, 0}, {59, 1}, {100, 0}, {101, 3}, {1000, 0},
		{1030, 18}} {
		check.Equal(t, filling(c[0]), c[1], "fillers of %d terms", c[0])
	}
	for n := range 5000 {
		with := n + filling(n)
		off := lucene(with) - n
		if off < 0 {
			off = -off
		}
		if floor := n - lucene(n); off > floor || 16*off > n {
			t.Fatalf("%d terms are kept as %d with fillers, as %d without", n, lucene(with), lucene(n))
		}
	}
}
