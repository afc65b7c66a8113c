package wording

import (
	"testing"

	"sheaf/internal/check"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain – größe":            "plain – größe",
		"\x1b]0;owned\x07 x":       " ]0;owned  x",
		"a\u202eb":                 "ab",
		"a\x9bb":                   "a\uFFFDb",
		"a\u009b31mb":              "a 31mb",
		"two\nlines\tand\x00a nul": "two lines and a nul",
	} {
		check.Equal(t, Clean(in), want, "Clean(%q)", in)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 32_400_000: "32 MB", 9_949_000: "9.9 MB",
		999_600: "1.0 MB"} {
		check.Equal(t, Bytes(n), want, "Bytes(%d)", n)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		check.Equal(t, Count(n), want, "Count(%d)", n)
	}
}
