package wording

import "testing"

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain – größe":            "plain – größe",
		"\x1b]0;owned\x07 x":       " ]0;owned  x",
		"a\u202eb":                 "ab",
		"a\x9bb":                   "a\uFFFDb",
		"a\u009b31mb":              "a 31mb",
		"two\nlines\tand\x00a nul": "two lines and a nul",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 32_400_000: "32 MB", 9_949_000: "9.9 MB",
		999_600: "1.0 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
