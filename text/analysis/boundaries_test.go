package analysis_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"

	"sheaf/internal/must"
)

// alphabets lists, for each script, letters and the marks that may follow them.
var alphabets = []string{
	"abcdefghijklmnopqrstuvwxyzABCXYZ", "àéîõüçñßøåœÀÉÑŁđıİſ", "e\u0301o\u0308n\u0303", "αβγδέώςΑΩ", "абвгдёйыЯЖ",
	"и\u0306е\u0308",
	"אבגדהוש\u05B8\u05BC", "العربية\u064E\u0651ىةأ", "कखगघि\u094D\u093Eी\u200C", "தமிழ்", "აბგდ", "աբգև", "ሀለሐመ", "가",
	"0123456789", "٠١٢٣", "१२३", "ab\u00ADcd", "نمی\u200Cخواهم",
}

// between lists characters that separate words. Joiners can also be inside a word.
var between = []string{" ", "  ", "\n", "\t", "! ", "?", "(", ")", " — ", "–", "…", "“", "”", "/", "\\", "=", "*", "`",
	"~", "€", "😀", "👩\u200D💻", "→", "|", "<", "[", "\u00A0", "\u2028"}

// cutWord matches a place where UAX #29 ends a word and Words does not.
var cutWord = regexp.MustCompile("\u00AD+\n")

// TestWordBoundaries compares raw words with uniseg's implementation of UAX #29, on text without
// identifiers.
func TestWordBoundaries(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 29))
	a := analyzer(t, "")
	for range 20_000 {
		text := cutWord.ReplaceAllString(randomProse(r), "\n")
		var got []string
		a.Words(text, func(start, end int) bool {
			if word := text[start:end]; !isRun(word) && strings.ContainsFunc(word, isLetterOrDigit) { // skips emoji
				got = append(got, text[start:end])
			}
			return true
		})
		want := segments(text)
		must.Equal(t, strings.Join(got, "|"), strings.Join(want, "|"),
			"seed %d: %q", seed, text)
	}
}

func randomProse(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		letters := []rune(alphabets[r.IntN(len(alphabets))])
		digits := unicode.IsDigit(letters[0])
		part := func() {
			b.WriteRune(letters[0]) // never a mark
			for range r.IntN(6) {
				b.WriteRune(letters[r.IntN(len(letters))])
			}
		}
		part()
		switch {
		case r.IntN(4) > 0:
		case digits:
			b.WriteString([]string{",", ".", "'"}[r.IntN(3)])
			part()
		default:
			b.WriteString([]string{"'", ".", "’", "·", "‘"}[r.IntN(5)])
			part()
		}
		b.WriteString(between[r.IntN(len(between))])
	}
	return b.String()
}

// segments returns the segments of uniseg that hold a letter or a digit.
func segments(text string) []string {
	var out []string
	state := -1
	for text != "" {
		var word string
		word, text, state = uniseg.FirstWordInString(text, state)
		if !isRun(word) && strings.ContainsFunc(word, isLetterOrDigit) {
			out = append(out, word)
		}
	}
	return out
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isRun reports whether the script of a word gives pairs of characters.
func isRun(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Hangul, unicode.Han) })
}
