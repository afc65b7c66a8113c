package fold_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheaf/internal/check"
	"sheaf/internal/fold"
)

func TestText(t *testing.T) {
	for _, c := range [][2]string{{"Ann B", "ann b"}, {"CAF\u00c9", "caf\u00e9"}, {"CAFE\u0301", "caf\u00e9"}, {"", ""},
		{"Schiff\u00adfahrt", "schifffahrt"}, {"Ann\u00a0Lee", "ann lee"},
		{"e\u00ad\u0301", "\u00e9"}, {"2020\u201111", "2020-11"},
		{"op\u200ben\ufeff", "open"}, {"\u200eAnn\u202fLee\u200f", "ann lee"}, {"\u2068Ann\u2069", "ann"},
		{"\u2764\ufe0f", "\u2764"},
		{"日本", "日本"}, {"か\u3099", "が"}} {
		check.Equal(t, fold.Text(c[0]), c[1], "%q", c[0])
	}
}

// TestTextOfEveryLetter checks that composed and decomposed letters fold to the same text, once and twice.
func TestTextOfEveryLetter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		s := "x" + string(r)
		folded := fold.Text(s)
		check.Equal(t, fold.Text(norm.NFD.String(s)), folded, "%U, and decomposed", r)
		check.Equal(t, fold.Text(folded), folded, "%U, folded twice", r)
	}
}

func TestSpellings(t *testing.T) {
	for _, c := range [][]string{{"plain"}, {"日本"}, {"caf\u00e9", "cafe\u0301"}, {"\uf900", "\u8c48"},
		{"cafe\u0301", "caf\u00e9"}, {"\u00e9e\u0301", "\u00e9\u00e9", "e\u0301e\u0301"}} {
		check.List(t, fold.Spellings(c[0]), c, "%q", c[0])
	}
}
