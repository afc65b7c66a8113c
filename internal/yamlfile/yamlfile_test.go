package yamlfile_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/yamlfile"
)

// TestHostile checks texts on which the parser used gigabytes, or panicked. Each is a fault or a
// file, and the memory stays in proportion to its size.
func TestHostile(t *testing.T) {
	const n = 100_000
	for _, pattern := range []string{"[", "{a: ", "[']', ", "- ", "? ", "!a ", "&a ", "*a ", "[&a ", "a: b: ", "[a, ",
		"{a, ", "? - ", "'", "\"\\", "| ", "a\n ", "%\n", "---\n", "#", ": ", "- - ? ", "[{", "!<", "\t", "<<: ", "[ - ",
		"- a ", "? a ", "a: 1 ", "- [", "? {", "x: - ", "], [", ", - ", "&a [", "!a {"} {
		for _, before := range []string{"", "a: ", "a:\n  - ", "[", "a: {", "a: [ b"} {
			text := before + strings.Repeat(pattern, n/len(pattern))
			var began, ended runtime.MemStats
			runtime.ReadMemStats(&began)
			file, err := yamlfile.Parse(text, yamlfile.Limits{Bytes: 1 << 20, Depth: 50})
			if runtime.ReadMemStats(&ended); ended.TotalAlloc-began.TotalAlloc > 2000*n {
				t.Errorf("%q takes %d MB for %d kB", before+pattern, (ended.TotalAlloc-began.TotalAlloc)>>20, n>>10)
			}
			var fault *yamlfile.Fault
			check.That(t, (err == nil || errors.As(err, &fault)) && (err != nil || file != nil), "%q: %v", before+pattern, err)
		}
	}
}

// TestByteOrderMark checks that the mark at the start of a file is in no key and changes no position.
func TestByteOrderMark(t *testing.T) {
	file := must.Get(yamlfile.Parse("\ufefflimit: 3\n", yamlfile.Limits{Bytes: 100, Depth: 10}))
	var got map[string]int
	err := yamlfile.Decode(file.Docs[0].Body, &got)
	check.That(t, err == nil && got["limit"] == 3, "%v, %v", got, err)
	_, err = yamlfile.Parse("\ufeff[", yamlfile.Limits{Bytes: 100, Depth: 0})
	check.That(t, err != nil && strings.HasPrefix(err.Error(), "line 1, column 1:"), "%v", err)
}

func TestUTF16(t *testing.T) {
	wide := strings.ReplaceAll("limit: 3\n", "", "\x00")
	for _, text := range []string{"\xff\xfe" + wide[1:], "\xfe\xff" + wide, wide[1:], wide} {
		_, err := yamlfile.Parse(text, yamlfile.Limits{Bytes: 100, Depth: 10})
		check.That(t, err != nil && strings.Contains(err.Error(), "UTF-16"), "%q: %v", text, err)
	}
}

func TestDepth(t *testing.T) {
	block := ""
	for i := range 10 {
		block += strings.Repeat(" ", i) + "a:\n"
	}
	for text, place := range map[string]string{
		strings.Repeat("[", 10) + strings.Repeat("]", 10):             "",
		strings.Repeat("[", 11) + strings.Repeat("]", 11):             "line 1, column 11",
		"a: " + strings.Repeat("[", 9) + strings.Repeat("]", 9):       "",
		"a:\n  - " + strings.Repeat("[", 9) + strings.Repeat("]", 9):  "line 2, column 13",
		strings.Repeat("- ", 10) + "x":                                "",
		strings.Repeat("- ", 11) + "x":                                "line 1, column 21",
		block:                                                         "",
		block + strings.Repeat(" ", 10) + "a: 1\n":                    "line 11, column 11",
		strings.Repeat("a: 1\n", 1) + strings.Repeat("# [[[[[\n", 99): "",
		"a: '" + strings.Repeat("[", 99) + "'\nb: x" + strings.Repeat("[", 99) + "\nc: |\n  " + strings.Repeat("[", 99) +
			"\n": "",
		strings.Repeat("- a: 1\n  b: 2\n", 99):                                              "",
		"a: [" + strings.Repeat("- ", 20) + "]":                                             "line 1, column 21",
		"a: [" + strings.Repeat("-1, ", 99) + "]\nb: {" + strings.Repeat("c, ", 99) + "}\n": "",
	} {
		_, err := yamlfile.Parse(text, yamlfile.Limits{Bytes: 1 << 20, Depth: 10})
		got := fmt.Sprint(err)
		check.That(t, (err == nil) == (place == "") && strings.Contains(got, place), "%q: %v, want %q", text, err, place)
	}
}

// TestDecoderPanics checks that a panic of a decoder is a fault of the file.
func TestDecoderPanics(t *testing.T) {
	file := must.Get(yamlfile.Parse("a: .\nqueries:\n   !:\n", yamlfile.Limits{Bytes: 100, Depth: 10}))
	var into struct {
		A       string   `yaml:"a"`
		Queries []string `yaml:"queries"`
	}
	var fault *yamlfile.Fault
	if err := yamlfile.Decode(file.Docs[0].Body, &into); !errors.As(err, &fault) {
		t.Error(err)
	}
	if _, err := yamlfile.Parse("a: b", yamlfile.Limits{Bytes: 3, Depth: 10}); err == nil ||
		!strings.Contains(err.Error(), "at most 3") {
		t.Error(err)
	}
}
