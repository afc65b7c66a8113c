package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
)

// functionWords do not count as content. English and German are enough for the current sources.
var functionWords = wordSet(`a about above after all also an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further had has have having he her
hers him his how i if in into is it its itself just may me might more most must my no nor not now of off on once
only or other our out over own per same shall she should so some such than that the their them then there these
they this those through to too under until up upon us very via was we were what when where whether which while who
whom why will with within without would you your yours s t don re ll ve m d
der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war wird werden wie was wer wo
wann warum mit von zu zur zum im in auf für bei aus nach über unter durch als auch so man sie er es ich wir ihr kann
können soll muss dieser diese dieses`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー'
}

// words returns the words of a text in lower case. Chinese and Japanese text gives pairs of
// neighboring characters.
func words(s string) []string {
	var out []string
	var word, run []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = word[:0]
		}
		if len(run) == 1 {
			out = append(out, string(run))
		}
		for i := 1; i < len(run); i++ {
			out = append(out, string(run[i-1:i+1]))
		}
		run = run[:0]
	}
	for _, r := range strings.ToLower(s) {
		switch {
		case isUnspaced(r):
			if len(word) > 0 {
				flush()
			}
			run = append(run, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if len(run) > 0 {
				flush()
			}
			word = append(word, r)
		case r == '\'' || r == '’':
			// "doesn't" is one word
		default:
			flush()
		}
	}
	flush()
	return out
}

// content returns the words that have a meaning: no function words, no single letters, and no bare
// numbers.
func content(s string) []string {
	var out []string
	for _, w := range words(s) {
		if functionWords[w] || len(w) < 2 || strings.Trim(w, "0123456789") == "" {
			continue
		}
		out = append(out, w)
	}
	return out
}

// weight counts content words. Four Chinese or Japanese characters count as two words.
func weight(s string) int {
	n, run := 0, 0
	for _, w := range content(s) {
		if r := []rune(w); isUnspaced(r[0]) {
			run++
		} else {
			n++
		}
	}
	return n + (run+1)/2
}

func longUnspaced(s string) bool {
	n := 0
	for _, r := range s {
		if isUnspaced(r) {
			if n++; n >= 10 {
				return true
			}
		}
	}
	return false
}

// stem removes common English endings, so that "editing" and "edit" are equal.
func stem(w string) string {
	for _, ending := range []string{"ing", "ies", "ed", "es", "s"} {
		if cut, ok := strings.CutSuffix(w, ending); ok && len(cut) >= 3 {
			return cut
		}
	}
	return w
}

func stems(s string) []string {
	list := content(s)
	if len(list) == 0 {
		list = words(s)
	}
	for i, w := range list {
		list[i] = stem(w)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// classOf says how many words of a query are in the names of its answer. The result is one of these:
//   - title: a name has the same words
//   - overlap: a name has at least half of the query's words
//   - low: a name has a word of the query, but no name has half of them
//   - none: no name has a word of the query
func classOf(query string, names ...string) string {
	q := stems(query)
	held := 0
	for _, name := range names {
		n := stems(name)
		if slices.Equal(q, n) {
			return "title"
		}
		shared := 0
		for _, w := range q {
			if slices.Contains(n, w) {
				shared++
			}
		}
		held = max(held, shared)
	}
	switch {
	case held == 0:
		return "none"
	case 2*held >= len(q):
		return "overlap"
	}
	return "low"
}

// key makes texts comparable: lower case, no markup, no punctuation at the ends.
func key(s string) string {
	return strings.ToLower(strings.TrimFunc(plain(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}))
}

// order returns a number that looks random and depends only on the text.
func order(text string) uint64 {
	sum := sha256.Sum256([]byte("sheaf collect 1\x00" + text))
	return binary.BigEndian.Uint64(sum[:])
}

// sample returns at most n items in an order that looks random, but is the same on every run.
func sample[T any](items []T, n int, name func(T) string) []T {
	type ordered struct {
		item  T
		order uint64
		name  string
	}
	list := make([]ordered, len(items))
	for i, item := range items {
		list[i] = ordered{item, order(name(item)), name(item)}
	}
	slices.SortFunc(list, func(a, b ordered) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
	})
	out := make([]T, 0, min(n, len(list)))
	for _, o := range list[:min(n, len(list))] {
		out = append(out, o.item)
	}
	return out
}
