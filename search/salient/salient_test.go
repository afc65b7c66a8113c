package salient_test

import (
	"errors"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search/salient"
	"sheaf/text/analysis"
)

func words(t *testing.T, text salient.Text, df map[string]int) []string {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	query := must.Get(salient.Query(a, text, salient.Collection{Size: 1000, Count: func(word string) (int, error) {
		return df[strings.ToLower(word)], nil
	}}))
	var out []string
	last := 1.0
	if query == nil {
		return nil
	}
	for _, part := range query.(sheaf.Bool).Should {
		b := part.(sheaf.Boost)
		check.That(t, b.Factor <= last && b.Factor > 0, "factor %v after %v", b.Factor, last)
		last = b.Factor
		out = append(out, b.Query.(sheaf.Match).Text)
	}
	return out
}

func TestFrequentHereAndRareElsewhere(t *testing.T) {
	text := salient.Text{Body: "The rebase moves commits. A rebase is the way to move them; file by file, file after " +
		"file. 2024 x"}
	got := words(t, text, map[string]int{"the": 990, "rebase": 5, "moves": 300, "commits": 50, "file": 900, "way": 500,
		"2024": 1})
	check.Equal(t, strings.Join(got, " "), "rebase commits moves way file", "words")
}

func TestTitlesCountMore(t *testing.T) {
	text := salient.Text{Body: "alpha beta", Titles: []string{"Beta"}}
	check.Equal(t, strings.Join(words(t, text, map[string]int{"alpha": 10, "beta": 10}), " "), "Beta alpha", "words")
}

func TestTextWithoutSalientWords(t *testing.T) {
	for _, body := range []string{"", "the of and", "1 2 3", "unknown words only"} {
		got := words(t, salient.Text{Body: body}, nil)
		check.That(t, got == nil, "%q: got %q", body, got)
	}
}

func TestFaultIsReported(t *testing.T) {
	a, err := analysis.New(analysis.Options{})
	must.Do(t, err)
	fault := errors.New("no answer")
	_, err = salient.Query(a, salient.Text{Body: "something"},
		salient.Collection{Size: 1, Count: func(string) (int, error) { return 0, fault }})
	check.Is(t, err, fault, "words")
}
