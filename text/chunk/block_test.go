package chunk_test

import (
	"strings"
	"testing"

	"sheaf/text/chunk"
)

// TestBlockLines: a block has its own lines.
func TestBlockLines(t *testing.T) {
	const text = "# A ^head\n" + // 1
		"Intro.\n\nTwo lines\nof egret. ^abc\n\n" + // 2-6
		"- one ^one\n- two\n  goes on ^two\n  - inner ^inner\n    more\n- three\n\n" + // 7-13
		"| a | b |\n|---|---|\n| 1 | 2 |\n\n^tab\n\n" + // 14-19
		"> A quote\n> of two ^quote\n\n" + // 20-22
		"```\nx ^code\n```\n^code\n\n" + // 23-27
		"Last ^last" // 28
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		for name, want := range map[string][2]int{"head": {1, 1}, "abc": {4, 5}, "one": {7, 7}, "two": {8, 11}, "inner": {10, 11}, "tab": {14, 18}, "quote": {20, 21}, "code": {23, 26}, "last": {28, 28}} {
			first, last, ok := chunk.BlockLines(strings.ReplaceAll(text, "\n", ending), name)
			if got := [2]int{first, last}; !ok || got != want {
				t.Errorf("%q: the lines of ^%s are %v, %v, want %v", ending, name, got, ok, want)
			}
		}
	}
	for _, name := range []string{"none", "ab", "bc", ""} {
		if first, last, ok := chunk.BlockLines(text, name); ok {
			t.Errorf("there is a block %q in the lines %d to %d", name, first, last)
		}
	}
}

// TestBlockAt: a place is in the smallest block around it.
func TestBlockAt(t *testing.T) {
	const text = "# A\n\nFree.\n\nTwo lines\nof egret. ^abc\n\n- one ^one\n- two\n  goes on ^two\n  - inner ^inner\n    more\n- three\n\n" +
		"| a | b |\n|---|---|\n| cell | 2 |\n\n^tab\n\n> A quote\n> of it ^quote\n\nx^2 and y ^3 or\n\n```\ncode ^code\n```\n"
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(text, "\n", ending)
		for word, want := range map[string]string{"Free": "", "Two": "abc", "egret": "abc", "one ": "one", "goes": "two", "inner ": "inner", "more": "inner",
			"three": "", "cell": "tab", "A quote": "quote", "and y": "", "code ": ""} {
			if got := chunk.BlockAt(text, strings.Index(text, word)); got != want {
				t.Errorf("%q: %q is in block %q, want %q", ending, word, got, want)
			}
		}
	}
	if got := chunk.BlockAt("a ^b", 100); got != "" {
		t.Errorf("behind the end: %q", got)
	}
}
