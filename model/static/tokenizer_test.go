package static

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

func vocabulary(t testing.TB) *Vocabulary {
	t.Helper()
	file := must.Get(os.ReadFile("testdata/vocab.txt"))
	v := must.Get(ParseVocabulary(file))
	return v
}

// encodings returns texts with the output of the reference tokenizer.
func encodings(t *testing.T) [][2]any {
	t.Helper()
	raw := must.Get(os.ReadFile("testdata/encodings.json"))
	var cases [][2]any
	must.Do(t, json.Unmarshal(raw, &cases))
	must.That(t, len(cases) >= 500, "only %d cases", len(cases))
	return cases
}

// TestEqualsReference checks the tokenizer against the reference on texts in many scripts, words
// made of pieces, and random characters.
func TestEqualsReference(t *testing.T) {
	cases := encodings(t)
	tokenizer := newTokenizer(vocabulary(t))
	for _, c := range cases {
		text := c[0].(string)
		want := []int32{}
		for _, id := range c[1].([]any) {
			want = append(want, int32(id.(float64)))
		}
		check.List(t, tokenizer.Encode([]int32{}, text), want, "pieces of %q", text)
	}
}

// TestEveryCharacter checks each code point outside ASCII between two letters: dropped, a space, a word, or a letter.
func TestEveryCharacter(t *testing.T) {
	f := must.Get(os.Open("testdata/characters.txt"))
	defer f.Close()
	v := vocabulary(t)
	tokenizer := newTokenizer(v)
	encode := func(s string) []int32 { return tokenizer.Encode(nil, s) }
	gone, space := encode("ab"), encode("a b")
	a, b := encode("a")[0], encode("b")[0]
	checked := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var first, last rune
		var want string
		must.Get(fmt.Sscanf(lines.Text(), "%x %x %s", &first, &last, &want))
		for c := first; c <= last; c++ {
			if c >= 0xD800 && c < 0xE000 {
				continue
			}
			checked++
			ids := encode("a" + string(c) + "b")
			got := "letter"
			switch {
			case slices.Equal(ids, gone):
				got = "gone"
			case slices.Equal(ids, space):
				got = "space"
			case len(ids) > 2 && ids[0] == a && ids[len(ids)-1] == b:
				got = "split"
			}
			check.Equal(t, got, want, "class of %U", c)
		}
	}
	must.That(t, checked >= 1_000_000, "only %d characters checked", checked)
}

func TestVocabularyErrors(t *testing.T) {
	for file, say := range map[string]string{
		"a\nb\n":            "no [UNK]",
		"[UNK]\n\nb\n":      "line 2 is empty",
		"[UNK]\na\nb\na\n":  "stands on line 2",
		"":                  "line 1 is empty",
		"[UNK]\n##a\n##a\n": "stands on line 2",
	} {
		if _, err := ParseVocabulary([]byte(file)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("ParseVocabulary(%q) = %v, want an error with %q", file, err, say)
		}
	}
}

// checkEncode checks that a text has the same existing pieces each time, and two texts have both texts' pieces. again
// encodes like encode.
func checkEncode(t *testing.T, encode, again func(dst []int32, text string) []int32, pieces int, text string) {
	t.Helper()
	ids := encode(nil, text)
	for _, id := range ids {
		must.That(t, id >= 0 && int(id) < pieces, "piece %d does not exist", id)
	}
	must.That(t, slices.Equal(ids, again(nil, text)), "the same text gave other pieces")
	if both := encode(nil, text+" "+text); !slices.Equal(both, append(slices.Clone(ids), ids...)) {
		t.Fatal("two texts with a space between them are not the pieces of both")
	}
}
