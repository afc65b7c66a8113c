package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestLetters checks that texts of any bytes survive encoding, with letters made for any other text.
func TestLetters(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	random := func(n int) []byte {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(rng.IntN(1 + rng.IntN(256)))
		}
		return text
	}
	for round := range 200 {
		var counts [256]int
		count(&counts, random(rng.IntN(2000)))
		l := newLetters(&counts)
		for range 50 {
			text := random(rng.IntN(40))
			data := l.append([]byte("before"), string(text))
			got, ok := l.appendText([]byte("dst"), data[6:])
			must.That(t, ok && string(got) == "dst"+string(text), "round %d, letters %+v: %q came back as %q, %v", round,
				l.order, text, got, ok)
		}
	}
}

// TestLettersAreChosen checks that frequent bytes take fewer units than others.
func TestLettersAreChosen(t *testing.T) {
	var counts [256]int
	for i := range counts {
		counts[i] = 1 << max(0, 20-i/8)
	}
	l := newLetters(&counts)
	one, two, three := len(l.append(nil, "\x00\x01\x02\x03")), len(l.append(nil, "\x20\x21\x22\x23")),
		len(l.append(nil, "\xfc\xfd\xfe\xff"))
	check.That(t, one == 2 && two == 4 && three == 6, "four bytes take %d, %d and %d", one, two, three)
}

// TestLettersWithoutAll checks that units without a meaning are a fault.
func TestLettersWithoutAll(t *testing.T) {
	l := makeLetters(1, []byte("ab"))
	for data, want := range map[string]string{"": "", "\x10": "ab", "\xf1": "b", "\x1f\x06": "aa"} {
		text, ok := l.appendText(nil, []byte(data))
		check.That(t, ok && string(text) == want, "%x is %q, %v", data, text, ok)
	}
	for _, data := range [][]byte{{0x02}, {0x0e}, {0xe0}, {0x0f}} {
		text, ok := l.appendText(nil, data)
		check.That(t, !ok, "%x is %q", data, text)
	}
}

// TestDocumentedLetters checks the worked example of doc/formats/segment.md.
func TestDocumentedLetters(t *testing.T) {
	l := makeLetters(1, []byte("etaoinshrdlucm.-"))
	check.Equal(t, fmt.Sprintf("%x", l.append(nil, "team-7")), "01d21e7ff3", "the example")
}
