package scan

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"sheaf/text/analysis"
)

// folder folds texts for comparison as the analyzer does: lower case, without accents. Only one goroutine may use it.
type folder struct {
	analyzer *analysis.Analyzer
	out      []byte
	runs     map[string]string // short runs of bytes that are not ASCII
}

const (
	// maxRun is the length of the longest run of non-ASCII bytes whose folded form is cached. Accented letters,
	// quotation marks and dashes are shorter.
	maxRun  = 12
	maxRuns = 4096
)

func newFolder(a *analysis.Analyzer) *folder { return &folder{analyzer: a, runs: map[string]string{}} }

// fold returns the folded text, which is valid until the next call.
func (f *folder) fold(text []byte) []byte {
	out := f.out[:0]
	for len(text) > 0 {
		from := len(out)
		out = slices.Grow(out, len(text))
		n := lowerASCII(out[from:from+len(text)], text)
		out, text = out[:from+n], text[n:]
		end := 0
		for end < len(text) && text[end] >= utf8.RuneSelf {
			end++
		}
		out, text = append(out, f.run(text[:end])...), text[end:]
	}
	f.out = out
	return out
}

// run returns the folded form of raw, a run of bytes that are not ASCII.
func (f *folder) run(raw []byte) string {
	if len(raw) > maxRun {
		return f.analyzer.Fold(string(raw))
	}
	if folded, ok := f.runs[string(raw)]; ok {
		return folded
	}
	folded := f.analyzer.Fold(string(raw))
	if len(f.runs) < maxRuns {
		f.runs[string(raw)] = folded
	}
	return folded
}

// withoutLineHyphens removes hyphens at line ends from a folded text, in place. It also removes the white space and
// quote signs between the two parts of a hyphenated word.
func withoutLineHyphens(text []byte) []byte {
	out, from := text[:0], 0
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '-')
		if n < 0 {
			break
		}
		i += n + 1
		line := bytes.TrimLeft(text[i:], " \t")
		if len(line) == 0 || line[0] != '\n' && line[0] != '\r' {
			continue
		}
		out = append(out, text[from:i-1]...)
		from = len(text) - len(bytes.TrimLeft(line, " \t\r\n>"))
		i = from
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// lowerASCII writes src in lower case to dst, up to the first non-ASCII byte. It returns the position of that byte, or
// len(src). dst has the length of src. It processes eight bytes at a time.
func lowerASCII(dst, src []byte) int {
	i := 0
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		if w&high != 0 {
			break
		}
		// The high bit is set in the first sum from 'A' on, in the second after 'Z'. No byte carries.
		upper := (w + ones*(0x80-'A')) &^ (w + ones*(0x7f-'Z')) & high
		binary.LittleEndian.PutUint64(dst[i:], w|upper>>2)
	}
	for ; i < len(src); i++ {
		c := src[i]
		if c >= utf8.RuneSelf {
			return i
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		dst[i] = c
	}
	return i
}
