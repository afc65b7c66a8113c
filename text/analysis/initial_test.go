package analysis_test

import (
	"math/rand/v2"
	"testing"

	"sheaf/text/analysis"
)

// TestTermsKeepBeginning checks made-up words of each language, also with common endings. No term has another
// beginning or is longer than its word.
func TestTermsKeepBeginning(t *testing.T) {
	endings := []string{"", "s", "ed", "ing", "ingly", "ational", "isation", "izer", "ement", "ung", "heid", "heden",
		"lijk", "amente", "ation", "eux", "logie", "ences",
		"aient", "issions", "mente", "ilor", "iilor", "ului", "ssa", "lla", "inen", "ban", "nek", "jainak", "erna", "arne",
		"erende", "lost", "y", "ies", "ied", "ying"}
	random := rand.New(rand.NewPCG(1, 2))
	told := 0
	for _, language := range append(analysis.Languages(), "", "xx") {
		a, err := analysis.New(analysis.Options{Language: language})
		if err != nil {
			t.Fatal(err)
		}
		for range 30_000 {
			word := make([]byte, 1+random.IntN(9))
			for i := range word {
				word[i] = "aeiouybcdghklmnrstvz"[random.IntN(20)]
			}
			raw := string(word) + endings[random.IntN(len(endings))]
			if random.IntN(8) == 0 {
				raw = string(raw[0]-'a'+'A') + raw[1:]
			}
			first := a.Initial(raw)
			if first == 0 {
				continue
			}
			told++
			for _, term := range a.Terms(nil, raw) {
				if term.Text[0] != first || len(term.Text) > len(raw) {
					t.Fatalf("language %q: %q has the term %q: Initial is %q", language, raw, term.Text, first)
				}
			}
		}
	}
	if told == 0 {
		t.Error("nothing was told")
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]byte{"": 0, "undo": 'u', "Undo": 'u', "getUser": 0, "USA": 0, "v2": 0, "l'homme": 0,
		"rate-limit": 0, "été": 0, "naïve": 0, "#tag": 0, "C": 'c', "C++": 0, "7": 0} {
		if got := a.Initial(raw); got != want {
			t.Errorf("Initial(%q) is %q, want %q", raw, got, want)
		}
	}
}
