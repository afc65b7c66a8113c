package analysis_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
)

// TestWordsAreUnicodes compares raw words with the word boundaries of UAX #29 as
// uniseg finds them, on random text without what we cut otherwise on purpose:
// fractions and superscripts (x² is a word), Hebrew with its apostrophes,
// identifiers and scripts without spaces.
func TestWordsAreUnicodes(t *testing.T) {
	alphabet := []rune("aZ9 éßñ Жя Σς عر हिक ँ\u0301-!?()\t\nªº'’")
	a := analyzer(t, "")
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 8))
		var b strings.Builder
		var last rune
		for range r.IntN(12) {
			next := alphabet[r.IntN(len(alphabet))]
			if unicode.IsMark(next) && (last == '\'' || last == '’' || unicode.IsDigit(last)) {
				continue // a mark on a digit or an apostrophe
			}
			b.WriteRune(next)
			last = next
		}
		text := b.String()
		var want []string
		for rest, state := text, -1; rest != ""; {
			var word string
			word, rest, state = uniseg.FirstWordInString(rest, state)
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
				want = append(want, word)
			}
		}
		var got []string
		a.Words(text, func(start, end int) bool {
			if word := text[start:end]; strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
				got = append(got, word)
			}
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q: words %q, Unicode's are %q", seed, text, got, want)
		}
	}
}
