package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

// TestExpansionsFindRawWords checks that prefix and fuzzy queries find raw words, before stemming.
func TestExpansionsFindRawWords(t *testing.T) {
	words := strings.Fields("running authentication authorities naïve Ångström getUserName HTTPServer2 snake_case_name " +
		"v1.2.3 node.js Get-ChildItem well-known C++17 C# " +
		"user@host.org #tag/sub 東京都庁 ภาษาไทย 한국어 Häuser Straße l'homme John's 1,000,000 U.S.A. utf-8 2024-05-01 Ёлки " +
		"الكِتابُ हिन्दी שָׁלוֹם k8s x86_64 ﬁle ＡＢＣ １２ ｶﾞｲﾄﾞ")
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 4))
	for _, language := range []string{"", "en", "de", "fr", "ru", "ar"} {
		a := storetest.Analyzer(t, language)
		for range 150 {
			text := words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]
			st := memory.New(a)
			must.Do(t, st.Write(context.Background(), store.Batch{Chunks: []store.Chunk{
				{ID: "t:a", Doc: "t:a", Fields: []store.Field{{Name: sheaf.FieldBody, Text: text}}}}}))
			a.Words(text, func(start, end int) bool {
				for _, q := range []sheaf.TextQuery{
					sheaf.Prefix{Text: beginning(r, text[start:end])},
					sheaf.Prefix{Text: strings.ToUpper(text[start:end])},
					sheaf.Fuzzy{Text: text[start:end], Distance: 1},
				} {
					n := must.Get(st.Count(context.Background(), store.Request{Limit: 1, Text: &store.TextRequest{Query: q,
						Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}}))
					check.Equal(t, n, 1, "seed %d, language %q: %#v does not find %q", seed, language, q, text)
				}
				return true
			})
		}
	}
}

// TestExpansionsAreExplainedAlike checks that an explanation always names the same one of equally
// good words for a prefix.
func TestExpansionsAreExplainedAlike(t *testing.T) {
	st := open(t).(*memory.Backend)
	must.Do(t, st.Write(t.Context(), store.Batch{Chunks: []store.Chunk{{ID: "t:a", Doc: "t:a",
		Fields: []store.Field{{Name: sheaf.FieldBody, Text: "chara charb charc chard chare charf"}}}}}))
	for range 20 {
		out := must.Get(st.Explain(t.Context(), store.Request{Limit: 1,
			Text: &store.TextRequest{Query: sheaf.Prefix{Text: "char"},
				Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}}, []sheaf.ID{"t:a"}))
		got := fmt.Sprintf("%+v", *out[0])
		must.That(t, strings.Contains(got, `"chara"`), "%v", got)
	}
}

// beginning returns a random beginning of a word, and never splits a character from its marks.
func beginning(r *rand.Rand, word string) string {
	letters := []rune(word)
	n := 1 + r.IntN(len(letters))
	for n < len(letters) && (unicode.IsMark(letters[n]) || letters[n] == 'ﾞ') {
		n++
	}
	if n == 1 && !unicode.IsLetter(letters[0]) && !unicode.IsDigit(letters[0]) && len(letters) > 1 {
		n = 2 // '#' alone is not a word
	}
	return string(letters[:n])
}
