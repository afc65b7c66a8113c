package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// Words that are looked for by their spelling have at least minAlike characters: of
// shorter ones too many others are an edit away. From farAlike on two edits are allowed,
// and of one query at most maxAlike are looked for so.
const (
	minAlike = 4
	farAlike = 8
	maxAlike = 8
)

// respelt is a query of which the words that nothing holds stand for words that are
// spelt alike, and which these are; none when all are held, or too short. Only
// words of which any may be found are taken: who writes a phrase, a mark or a field
// means what they wrote.
func (r *run) respelt(ctx context.Context, q sheaf.TextQuery) (sheaf.TextQuery, []string) {
	if r.searcher.Analyzer == nil {
		return nil, nil
	}
	w, err := r.worth(ctx)
	if err != nil || w == nil {
		return nil, nil
	}
	nowhere := map[string]bool{}
	for _, p := range w.parts {
		if m, ok := p.query.(sheaf.Match); ok && p.chunks == 0 && m.Field == "" {
			nowhere[p.text] = true
		}
	}
	s := speller{run: r, nowhere: nowhere}
	words := s.of(q)
	return words, s.words
}

// speller writes a query anew.
type speller struct {
	*run
	nowhere map[string]bool
	words   []string // that were taken
}

func (s *speller) of(q sheaf.TextQuery) sheaf.TextQuery {
	switch q := q.(type) {
	case sheaf.Match:
		if q.Field == "" {
			return s.match(q.Text)
		}
	case sheaf.Boost:
		q.Query = s.of(q.Query)
		return q
	case sheaf.Bool:
		q.Should = slices.Clone(q.Should)
		for i := range q.Should {
			q.Should[i] = s.of(q.Should[i])
		}
		return q
	}
	return q
}

// match takes the words out of a text that nothing holds, and asks for words that are
// spelt alike. What is left stays beside them even when it is empty: meaning is then
// no more bound to what words find than before.
func (s *speller) match(text string) sheaf.TextQuery {
	_, tokens := s.tokens(text)
	rest, at := strings.Builder{}, 0
	either := sheaf.Bool{Should: []sheaf.TextQuery{nil}}
	for i, t := range tokens {
		word := text[t.Start:t.End]
		apart := (i == 0 || tokens[i-1].End <= t.Start) && (i == len(tokens)-1 || t.End <= tokens[i+1].Start)
		if !apart || !s.nowhere[word] || !spelt(word) || len(s.words) == maxAlike {
			continue
		}
		distance := 1
		if utf8.RuneCountInString(word) >= farAlike {
			distance = 2
		}
		either.Should = append(either.Should, sheaf.Fuzzy{Text: word, Distance: distance})
		if !slices.Contains(s.words, word) {
			s.words = append(s.words, word)
		}
		rest.WriteString(text[at:t.Start])
		at = t.End
	}
	if at == 0 {
		return sheaf.Match{Text: text}
	}
	rest.WriteString(text[at:])
	either.Should[0] = sheaf.Match{Text: rest.String()}
	return either
}

// spelt reports whether a word is letters alone, and long enough.
func spelt(word string) bool {
	return utf8.RuneCountInString(word) >= minAlike && !strings.ContainsFunc(word, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.Is(unicode.M, c) })
}

// spelling answers a query once more, with words that are spelt alike for those that
// nothing holds, when nothing found is likely to answer it. What was found stands when
// that finds nothing by words, or cannot be done.
func (s *Searcher) spelling(ctx context.Context, r *run, q sheaf.Query, opt Options) *run {
	if answerable := r.result.Answerable; answerable == nil || *answerable || r.result.Degraded || opt.Order != nil || r.profile.Scans() {
		return r
	}
	words, alike := r.respelt(ctx, q.Words)
	if len(alike) == 0 {
		return r
	}
	q.Words = words
	opt.Room = nil // the first answer has it
	again, err := s.once(ctx, q, r.profile, opt, true)
	if err != nil || again.result.Degraded || !again.byWords() {
		if err == nil {
			again.facts.release()
		}
		return r
	}
	for i, word := range alike {
		alike[i] = fmt.Sprintf("%q", word)
	}
	again.note("nothing here has %s: words that are spelt alike were searched", strings.Join(alike, ", "))
	again.result.Words = words
	again.result.Took = append(r.result.Took, again.result.Took...)
	r.facts.release()
	return again
}

// byWords reports whether any answer has words of the query.
func (r *run) byWords() bool {
	return slices.ContainsFunc(r.result.Hits, func(h Hit) bool { return h.Evidence != nil && h.Evidence.Words > 0 })
}
