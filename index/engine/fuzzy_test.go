package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// editDistance returns the optimal string alignment distance, by its definition.
func editDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// TestLevenshtein walks sorted dictionaries as a query does, with the skips of the automaton. It
// compares the result with the distance of each term.
func TestLevenshtein(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	letters := []rune("abcé猫")
	randomWord := func(most int) string {
		word := make([]rune, rng.IntN(most+1))
		for i := range word {
			word[i] = letters[min(rng.IntN(len(letters)), rng.IntN(len(letters)))]
		}
		return string(word)
	}
	for round := range 300 {
		var terms []string
		for range 300 {
			terms = append(terms, randomWord(9))
		}
		slices.Sort(terms)
		terms = slices.Compact(terms)
		word, most, same := randomWord(7), 1+round%2, round%5/2
		got := map[string]float64{}
		a := newLevenshtein(word, most, same)
		for i := 0; i < len(terms); {
			weight, skip, done := a.accept([]byte(terms[i]))
			if weight > 0 {
				got[terms[i]] = weight
			}
			if done {
				break
			}
			if i++; skip != nil {
				for i < len(terms) && terms[i] < string(skip) {
					i++
				}
			}
		}
		for _, term := range terms {
			want := 0.0
			begin := string([]rune(word)[:min(same, len([]rune(word)))])
			if d := editDistance([]rune(term), []rune(word)); d <= most && strings.HasPrefix(term, begin) {
				want = 1 / float64(1+d)
			}
			must.Equal(t, got[term], want,
				"round %d: weight of %q against %q within %d, %d the same", round, term, word, most, same)
		}
	}
}

// TestLevenshteinSkips checks that a walk of a dictionary of all words of five letters looks at few
// rejected words.
func TestLevenshteinSkips(t *testing.T) {
	const letters = "abcdefghijkl"
	var terms []string
	var add func(begin string)
	add = func(begin string) {
		if len(begin) == 5 {
			terms = append(terms, begin)
			return
		}
		for _, c := range letters {
			add(begin + string(c))
		}
	}
	add("")
	for _, c := range []struct{ most, same, looks int }{{1, 0, 400}, {1, 1, 250}, {2, 1, 4000}} {
		a, looks := newLevenshtein("feedcab", c.most, c.same), 0
		for i := 0; i < len(terms); looks++ {
			_, skip, done := a.accept([]byte(terms[i]))
			if done {
				break
			}
			if i++; skip != nil {
				n, _ := slices.BinarySearch(terms[i:], string(skip))
				i += n
			}
		}
		check.That(t, looks <= c.looks,
			"within %d edits and with %d letters the same, a walk looks at %d terms of %d, want at most %d", c.most, c.same,
			looks, len(terms), c.looks)
	}
}

// FuzzLevenshtein checks that no words and no order of terms make the automaton panic.
func FuzzLevenshtein(f *testing.F) {
	f.Add("word", "wrod", "worlds", 2, 1)
	f.Fuzz(func(t *testing.T, word, first, second string, most, same int) {
		if word == "" || most < 0 || same < 0 {
			return
		}
		a := newLevenshtein(word, most, same)
		for _, term := range []string{first, second, first} {
			weight, _, _ := a.accept([]byte(term))
			must.That(t, weight >= 0 && weight <= 1, "%q weighs %v", term, weight)
		}
	})
}
