package static

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestWindowsEqualEmbed checks that a window has the vector of its text under the heading.
func TestWindowsEqualEmbed(t *testing.T) {
	m, err := Open(small(t))
	if err != nil {
		t.Fatal(err)
	}
	e := encoderOf(t, m, nil)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"cat", "sat", "cats", "a", "dog", "ö"}), 0, 60).Draw(t, "words")
		body := strings.Join(words, " ")
		var starts []int
		for i, r := range body {
			if !unicode.IsSpace(r) && (i == 0 || body[i-1] == ' ') {
				starts = append(starts, i)
			}
		}
		size := rapid.IntRange(1, 12).Draw(t, "size")
		stride := rapid.IntRange(1, size).Draw(t, "stride")
		dims := m.Dims()
		dst := make([]float32, 70*dims)
		n := e.Windows(dst, "sat cat", body, starts, size, stride)
		want := 1
		for (want-1)*stride+size < len(words) {
			want++
		}
		if n != want {
			t.Fatalf("%d windows of %d words by %d, every %d, want %d", n, len(words), size, stride, want)
		}
		for i := range n {
			text := "sat cat\n" + strings.Join(words[min(i*stride, len(words)):min(i*stride+size, len(words))], " ")
			v := make([]float32, m.Dims())
			e.Embed(v, text)
			for j := range v {
				if math.Abs(float64(v[j]-dst[i*dims+j])) > 1e-5 {
					t.Fatalf("window %d of %q is %v, its text has %v", i, body, dst[i*dims:][:dims], v)
				}
			}
		}
	})
}
