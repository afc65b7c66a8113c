package static

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// pieces returns the result of Pieces as text between bars; empty ranges show as "".
func pieces(t *tokenizer, text string) string {
	var out []string
	t.Pieces(text, func(start, end int) bool {
		out = append(out, text[start:end])
		return true
	})
	return strings.Join(out, "|")
}

// TestPieces checks that ranges refer to the original text when text is folded or dropped.
func TestPieces(t *testing.T) {
	tokenizer := newTokenizer(vocabulary(t))
	for text, want := range map[string]string{
		"":                              "",
		" \t\n":                         "",
		"The Cat":                       "The|Cat",
		"embeddings, tokenizer!":        "em|bed|ding|s|,|token|izer|!",
		"getUserName":                   "get|User|Name",
		"Caf\u00e9 cafe\u0301.":         "Café|cafe\u0301|.",
		"\u00c5ngstr\u00f6m":            "Ång|ström",
		"\u4e2d\u6587, a\u4e2d":         "中|文|,|a|中",
		"\u4e2d\U000E0100\u6587":        "中\U000E0100|文",
		"co\u00adoperate":               "co\u00adoperate",
		"a\x00b":                        "a\x00b",
		"x\xff y":                       "x|y",
		"\ud55c\uad6d":                  "한|||국||",
		strings.Repeat("a", 101) + " b": strings.Repeat("a", 101) + "|b",
		"\u0130stanbul":                 "İstanbul",
		"1.2\u00bd":                     "1|.|2|½",
	} {
		check.Equal(t, pieces(tokenizer, text), want, "%q", text)
	}
	n := 0
	tokenizer.Pieces("one two three", func(_, _ int) bool { n++; return n < 2 })
	check.That(t, n == 2 && pieces(tokenizer, "one two three") == "one|two|three",
		"%d pieces were yielded until yield stopped", n)
}

// checkPieces compares Pieces with Encode: one range per number, in order, at whole characters.
// Between ranges is only text that Encode drops. other is a tokenizer of the same vocabulary.
func checkPieces(t *testing.T, tokenizer, other *tokenizer, text string) {
	t.Helper()
	last, count := 0, 0
	tokenizer.Pieces(text, func(start, end int) bool {
		must.That(t, start >= last && end >= start && end <= len(text),
			"piece %d is [%d, %d) of %d bytes, the one before ends at %d: %q", count, start, end, len(text), last,
			around(text, start))
		for _, at := range []int{start, end} {
			if at < len(text) && !utf8.RuneStart(text[at]) && utf8.ValidString(text) {
				t.Fatalf("piece %d is [%d, %d), which is inside a character: %q", count, start, end, around(text, start))
			}
		}
		if between := text[last:start]; len(other.Encode(nil, between)) > 0 {
			t.Fatalf("%q, before piece %d, is in no piece: %q", around(between, 0), count, around(text, start))
		}
		last = end
		count++
		return true
	})
	rest := text[last:]
	must.That(t, len(other.Encode(nil, rest)) == 0, "%q at the end is in no piece", around(rest, 0))
	want := len(other.Encode(nil, text))
	must.That(t, count == want, "%d ranges and %d pieces: %q", count, want, around(text, 0))
}

// around returns the text around a position.
func around(text string, at int) string {
	return text[max(0, min(at, len(text))-40):min(len(text), at+80)]
}

// TestPiecesEqualEncode checks the texts of the reference tokenizer, each alone and all in one
// text, which has several blocks.
func TestPiecesEqualEncode(t *testing.T) {
	cases := encodings(t)
	v := vocabulary(t)
	tokenizer, other := newTokenizer(v), newTokenizer(v)
	var all strings.Builder
	for _, c := range cases {
		checkPieces(t, tokenizer, other, c[0].(string))
		all.WriteString(c[0].(string))
	}
	must.That(t, all.Len() >= 2*16<<10, "only %d bytes", all.Len())
	checkPieces(t, tokenizer, other, all.String())
	checkPieces(t, tokenizer, other, strings.Repeat("\u4e2d", 20_000)+"\u0301 "+strings.Repeat("x", 40_000)+
		strings.Repeat("\uac00", 20_000)+"!")
}

func FuzzPieces(f *testing.F) {
	for _, s := range []string{"Hello, w\u00f6rld \u4e2d\u6587 \xff\xfe", "e\u0301\u0323x\u0302",
		"\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab", "a\u00adb\u200dc\x00d", strings.Repeat("x", 150),
		strings.Repeat("x", 300), "\U0001f469\u200d\U0001f4bb \u2764\ufe0f 1\ufe0f\u20e3",
		"\u0e01\u0e33 \u1f82\ufb03 \U0001d165\U0001d16e"} {
		f.Add(s)
	}
	v := vocabulary(f)
	tokenizer, other := newTokenizer(v), newTokenizer(v)
	f.Fuzz(func(t *testing.T, text string) {
		checkPieces(t, tokenizer, other, text)
		checkEncode(t, tokenizer.Encode, other.Encode, v.Len(), text)
	})
}
