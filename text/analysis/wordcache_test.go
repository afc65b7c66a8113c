package analysis_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// TestCacheChangesNoTerms checks that words have the same terms in several goroutines as in a new analyzer.
func TestCacheChangesNoTerms(t *testing.T) {
	parts := []string{"Get", "get", "users", "die", "Häuser", "mangée", "x1", "'s", "’s", "l'homme", "_", "UTF", "8", "-",
		"\u0300", "\u00ad", "\u200d", "a", "b", "c"}
	for _, o := range []analysis.Options{{Language: "en"}, {Language: "de", StopWords: true}, {Language: "fr"}, {}} {
		a, err := analysis.New(o)
		must.Do(t, err)
		var wg sync.WaitGroup
		for seed := range uint64(3) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(seed, 6))
				for range 1_500 {
					word := ""
					for range 1 + random.IntN(4) {
						word += parts[random.IntN(len(parts))]
					}
					fresh, err := analysis.New(o)
					if got, want := a.Terms(nil, word), fresh.Terms(nil, word); err != nil || !slices.Equal(got, want) {
						t.Errorf("%s: %q has %v, want %v, %v", a.Name(), word, got, want, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestTermsKeepBeginning checks Initial with made-up words of each language: one term besides forms, and none longer.
func TestTermsKeepBeginning(t *testing.T) {
	must.Whole(t, "it analyzes megabytes in one goroutine")
	endings := []string{"", "s", "ed", "ing", "ingly", "ational", "isation", "izer", "ement", "ung", "heid", "heden",
		"lijk", "amente", "ation", "eux", "logie", "ences", "aient", "issions", "mente", "ilor", "iilor", "ului", "ssa",
		"lla", "inen", "ban", "nek", "jainak", "erna", "arne", "erende", "lost", "y", "ies", "ied", "ying"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, language := range append(analysis.Languages(), "", "xx") {
		a := analyzer(t, language)
		for range 30_000 {
			word := make([]byte, 1+random.IntN(9))
			for i := range word {
				word[i] = "aeiouybcdghklmnrstvz"[random.IntN(20)]
			}
			raw := string(word) + endings[random.IntN(len(endings))]
			first, known := a.Initial(raw), 0
			for _, term := range a.Terms(nil, raw) {
				if !term.Form {
					known++
				}
				must.That(t, first == 0 || term.Text[0] == first && len(term.Text) <= len(raw) && term.Offset <= 0 && known <= 1,
					"language %q: %q has the term %+v: Initial is %q", language, raw, term, first)
			}
		}
	}
	for raw, want := range map[string]byte{"": 0, "undo": 'u', "Undo": 'u', "getUser": 0, "USA": 0, "v2": 0, "l'homme": 0,
		"rate-limit": 0, "été": 0, "naïve": 0, "#tag": 0, "C": 'c', "C++": 0, "7": 0} {
		check.Equal(t, analyzer(t, "en").Initial(raw), want, "Initial(%q)", raw)
	}
}

// TestScreenPassesEveryTerm makes words of each language at random, with capitals, digits and marks. The screen for a
// term of a word must let this word pass.
func TestScreenPassesEveryTerm(t *testing.T) {
	parts := []string{"ability", "ably", "using", "relational", "generalization", "communism", "skis", "early", "idly",
		"gently", "chevaux", "yeux", "analogie", "naciones", "haciendo", "leyendo", "die", "dying", "skies", "happy", "yes",
		"say", "boys", "Get", "Item", "HTTP", "USA", "iPhone", "ipv6", "4K", "E2E", "utf", "8", "1,000", "u.s.a", "c++", "C#",
		"#", "_", "-", "-\n", ".", "@", "'s", "'", "l'", "ing", "ly",
		" ", "\n", ". ", ", ", "(", "heden", "ement", "ï", "ß", "İ", "\u00ad", "一", "🐘", "\u0301",
		"новый", "Ёж", "и\u0306", "λόγος", "ﬁ", "٣", "ﾊﾞ", "データ", "＃ｅ", "”",
		strings.Repeat("x", 254), strings.Repeat("Q", 200) + "-\n"}
	letters := "aeiouybcdghklmnrstvzAEYBT"
	random := rand.New(rand.NewPCG(5, 6))
	for _, language := range append(analysis.Languages(), "", "xx") {
		a := analyzer(t, language)
		for range 4_000 {
			text := ""
			for range 1 + random.IntN(6) {
				if random.IntN(2) == 0 {
					text += parts[random.IntN(len(parts))]
					continue
				}
				for range 1 + random.IntN(6) {
					text += string(letters[random.IntN(len(letters))])
				}
			}
			all := spans(a.Words, text)
			for _, w := range all {
				for _, term := range a.Terms(nil, text[w[0]:w[1]]) {
					kept := spans(a.Screen([]string{"zq", term.Text}).Words, text)
					if !slices.Contains(kept, w) {
						t.Fatalf("language %q: the screen for the term %q excludes the word %q", language,
							term.Text, text[w[0]:w[1]])
					}
					for _, k := range kept {
						if !slices.Contains(all, k) {
							t.Fatalf("language %q: %q is no word of %q", language, text[k[0]:k[1]], text)
						}
					}
				}
			}
		}
	}
}

// TestScreenExcludes checks that a screen excludes words that begin otherwise.
func TestScreenExcludes(t *testing.T) {
	s := analyzer(t, "en").Screen([]string{"commit", "item", "4k", "fly"})
	for word, want := range map[string]bool{"commit": true, "Committing": true, "recommend": false, "become": false,
		"committee": true, "come": false, "Get-ChildItem": true, "Get-Content": false, "Get-Commit": true, "4K": true,
		"K4": false, "__": false, "_commit_": true, "flies": true, "flows": true, "fast": false, "çö": true} {
		text := "a " + word + " z"
		check.Equal(t, slices.Contains(spans(s.Words, text), [2]int{2, 2 + len(word)}), want, "the screen keeps %q", word)
	}
	check.Equal(t, len(spans(analyzer(t, "en").Screen([]string{""}).Words, "word")), 1,
		"words with an empty beginning")
}

// spans returns the ranges that the function words yields for a text.
func spans(words func(string, func(start, end int) bool), text string) (list [][2]int) {
	words(text, func(start, end int) bool {
		list = append(list, [2]int{start, end})
		return true
	})
	return list
}
