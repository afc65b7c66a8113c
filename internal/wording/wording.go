package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Clean makes text safe for a terminal. Control characters become spaces, marks that change the
// writing direction disappear, and bytes that are not UTF-8 become U+FFFD.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069:
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// CleanLines does what [Clean] does, but keeps line breaks and tabs.
func CleanLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		fields := strings.Split(line, "\t")
		for j := range fields {
			fields[j] = Clean(fields[j])
		}
		lines[i] = strings.Join(fields, "\t")
	}
	return strings.Join(lines, "\n")
}

// Bytes writes a number of bytes for people: "812 B", "3.4 MB".
func Bytes(n int64) string {
	value, unit := float64(n), 0
	for value >= 999.5 && unit < 4 {
		value, unit = value/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %cB", value, "kMGT"[unit-1])
	}
	return fmt.Sprintf("%.0f %cB", value, "kMGT"[unit-1])
}

// Count writes a whole number for people, in groups of three: "12,345".
func Count(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural returns n with its noun: "1 file", "12,345 files". The parameter one is the singular, many is the plural.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}
