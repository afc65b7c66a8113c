// Package company answers the question "what does this collection mean by a word
// that the model does not know?": what the words that it keeps occurring with mean.
// Where k8s stands beside kubernetes and cluster again and again, a query for k8s
// gets their vectors beside that of its letters. Passages keep the vectors that
// they have, so nothing is indexed again. Its main function is [Learn].
//
// The measure is pointwise mutual information, lowered for rare words (Church and
// Hanks: Word Association Norms, Mutual Information, and Lexicography, 1990;
// Pantel and Lin: Discovering Word Senses from Text, 2002).
package company

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numbers of learning.
const (
	// window is how many words in a row count as together, those of one window
	// after the other.
	window = 24
	// minWindows is in how many windows a word must stand to be learned, and
	// minTogether in how many of them with another.
	minWindows  = 3
	minTogether = 3
	// maxShare is the share of windows above which a word, when it stands in
	// more than usual ones, is one that stands with every word.
	maxShare = 0.05
	usual    = 20
	// minBound is the least normalized mutual information, 0 for words that
	// meet by chance and 1 for words that are never apart.
	minBound = 0.35
	// maxFriends is how many words a word is read as, maxWords how many words
	// are learned, the most frequent ones.
	maxFriends = 3
	maxWords   = 20_000
)

// Friend is a word that another one is read as.
type Friend struct {
	Word string `json:"word"`
	// Share is how much of the meaning it gives; those of a word sum to 1.
	Share float64 `json:"share"`
	// Together is in how many windows both stand, and Where the document with
	// most of them.
	Together int    `json:"together"`
	Where    string `json:"where"`
}

// Words are the learned words, small letters, with what they are read as, the
// strongest first.
type Words map[string][]Friend

// Source is what is learned from.
type Source struct {
	// Texts are the texts of the collection, each with the name of its
	// document. It is run through twice.
	Texts iter.Seq2[string, string]
	// Split calls yield for the words of a text.
	Split func(text string, yield func(start, end int) bool)
	// Known is the share of a word, small letters, that the model knows; a word
	// is known when it is 1.
	Known func(word string) float64
}

// Learn learns the words of a collection that the model does not know. Time is
// linear in the text, memory in the number of its different words and of pairs of
// an unknown and a known word.
func Learn(s Source) Words {
	l := learner{Source: s, ids: map[string]int32{}}
	l.count()
	l.choose()
	l.pair()
	return l.words()
}

type learner struct {
	Source
	ids     map[string]int32
	names   []string
	counts  []int32 // windows by word
	role    []role
	windows int
	pairs   map[[2]int32]*meeting // unknown, known
}

type role uint8

const (
	ignored role = iota
	unknown
	known
)

// meeting is how often two words met, and where most.
type meeting struct {
	count int32
	// here is the count in the document that is read now, most the largest one
	// and where its name.
	here, most     int32
	current, where string
}

// each runs through the windows of all texts; the words of one are different.
func (l *learner) each(visit func(where string, ids []int32)) {
	var ids []int32
	for where, text := range l.Texts {
		n := 0
		l.Split(text, func(start, end int) bool {
			word := text[start:end]
			if n++; n > window {
				visit(where, ids)
				ids, n = ids[:0], 1
			}
			if id := l.id(word); id >= 0 && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			return true
		})
		visit(where, ids)
		ids = ids[:0]
	}
}

// id is the number of a word, -1 for one that cannot mean anything.
func (l *learner) id(raw string) int32 {
	word := plain(raw)
	if id, ok := l.ids[word]; ok {
		return id
	}
	if l.role != nil || len(word) > 40 || utf8.RuneCountInString(word) < 2 || !strings.ContainsFunc(word, unicode.IsLetter) {
		return -1
	}
	id := int32(len(l.names))
	word = strings.Clone(word)
	l.ids[word] = id
	l.names, l.counts = append(l.names, word), append(l.counts, 0)
	return id
}

func (l *learner) count() {
	l.each(func(_ string, ids []int32) {
		l.windows++
		for _, id := range ids {
			l.counts[id]++
		}
	})
}

// choose says which words are learned and which may explain them.
func (l *learner) choose() {
	l.role = make([]role, len(l.names))
	var wanted []int32
	for id, n := range l.counts {
		switch {
		case n < minWindows || float64(n) > max(usual, maxShare*float64(l.windows)):
		case l.Known(l.names[id]) == 1:
			if len(l.names[id]) > 2 {
				l.role[id] = known
			}
		default:
			wanted = append(wanted, int32(id))
		}
	}
	slices.SortFunc(wanted, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.counts[b], l.counts[a]), cmp.Compare(l.names[a], l.names[b]))
	})
	for _, id := range wanted[:min(len(wanted), maxWords)] {
		l.role[id] = unknown
	}
}

func (l *learner) pair() {
	l.pairs = map[[2]int32]*meeting{}
	l.each(func(where string, ids []int32) {
		for _, a := range ids {
			if l.role[a] != unknown {
				continue
			}
			for _, b := range ids {
				if l.role[b] == known {
					l.meet(a, b, where)
				}
			}
		}
	})
}

func (l *learner) meet(a, b int32, where string) {
	key := [2]int32{a, b}
	m := l.pairs[key]
	if m == nil {
		m = &meeting{}
		l.pairs[key] = m
	}
	m.count++
	if m.current != where {
		m.current, m.here = where, 0
	}
	if m.here++; m.here > m.most {
		m.most, m.where = m.here, where
	}
}

// bound is how strongly two words that stand in a and b windows of n, together in
// t of them, are bound: normalized mutual information, lowered where little was
// seen.
func bound(t, a, b, n float64) float64 {
	p := t / n
	if p >= 1 {
		return 0
	}
	information := math.Log(p/(a/n*b/n)) / -math.Log(p)
	least := min(a, b)
	return information * t / (t + 1) * least / (least + 1)
}

// words are the strongest friends of every word that has any.
func (l *learner) words() Words {
	out := Words{}
	for key, m := range l.pairs {
		if m.count < minTogether {
			continue
		}
		strength := bound(float64(m.count), float64(l.counts[key[0]]), float64(l.counts[key[1]]), float64(l.windows))
		if strength < minBound {
			continue
		}
		name := l.names[key[0]]
		out[name] = append(out[name], Friend{Word: l.names[key[1]], Share: strength, Together: int(m.count), Where: m.where})
	}
	for name, friends := range out {
		slices.SortFunc(friends, func(a, b Friend) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Word, b.Word)) })
		friends = slices.Clip(friends[:min(len(friends), maxFriends)])
		sum := 0.0
		for _, f := range friends {
			sum += f.Share
		}
		for i := range friends {
			friends[i].Share /= sum
		}
		out[name] = friends
	}
	return out
}
