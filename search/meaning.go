package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/profile"
)

// meaning is the text of a query that is embedded; "" when it asks for nothing
// that could be: filters, names of folders and files, words that must not be found,
// marks alone.
func meaning(q sheaf.Query) string {
	if b, ok := q.Words.(sheaf.Bool); ok && len(b.Must)+len(b.Should) == 0 || inPaths(q.Words) {
		return ""
	}
	text := wording(q)
	if !strings.ContainsFunc(text, telling) {
		return ""
	}
	return text
}

// wording is what a query asks for in the words of who asks, without the marks of the query
// language and what must not be found.
func wording(q sheaf.Query) string {
	return cmp.Or(strings.TrimSpace(q.Meaning), strings.TrimSpace(q.Text))
}

// inPaths reports whether a query looks at nothing but the names of folders and files.
func inPaths(q sheaf.TextQuery) bool {
	elsewhere := func(part sheaf.TextQuery) bool { return !inPaths(part) }
	switch q := q.(type) {
	case sheaf.Match:
		return q.Field == sheaf.FieldPath
	case sheaf.Phrase:
		return q.Field == sheaf.FieldPath
	case sheaf.Bool:
		return len(q.Must)+len(q.Should) > 0 && !slices.ContainsFunc(q.Must, elsewhere) && !slices.ContainsFunc(q.Should, elsewhere)
	}
	return false
}

// telling reports whether a character may mean something by itself: a letter, a
// digit, or a sign beyond ASCII, such as a picture.
func telling(r rune) bool {
	return r >= 0x80 && !unicode.IsPunct(r) && !unicode.IsSpace(r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// asked is what a profile's expressions may know of q.
func (s *Searcher) asked(q sheaf.Query) profile.Asked {
	a := profile.Asked{Known: 1}
	if s.Known != nil {
		a.Known = min(1, max(0, s.Known(meaning(q))))
	}
	return a
}

// analyzed is a text as a query looks for it, and those of its tokens that are worth
// looking for when any may be found.
type analyzed struct {
	text            string
	tokens, telling []analysis.Token
}

// tokens are those of a text of the query: several steps ask for the same one. There is
// an analyzer.
func (r *run) tokens(text string) (tokens, telling []analysis.Token) {
	if r.analyzed == nil || r.analyzed.text != text {
		a, room := r.searcher.Analyzer, &r.facts.analyzed
		if r.analyzed != nil { // who asked for the first may look at it still
			room = &analyzed{}
		}
		tokens := a.AppendQueryTokens(room.tokens[:0], text)
		*room = analyzed{text, tokens, a.Telling(text, tokens)}
		r.analyzed = room
	}
	return r.analyzed.tokens, r.analyzed.telling
}

// tellingWords are the words of a text that are worth looking for.
func (r *run) tellingWords(text string) []string {
	_, telling := r.tokens(text)
	words := room(&r.facts.spoken, len(telling))
	for _, t := range telling {
		words = append(words, text[t.Start:t.End])
	}
	return words
}

// required is the part of a query of words that every hit must match; nil when
// words only add to the score. Hits of vectors have to match it too: who asks for
// a phrase, or forbids a word, means it.
func required(q sheaf.TextQuery) sheaf.TextQuery {
	switch q := q.(type) {
	case sheaf.Match:
		if q.Field == "" {
			return nil
		}
	case sheaf.Boost:
		return required(q.Query)
	case sheaf.Bool:
		out := sheaf.Bool{Must: q.Must, MustNot: q.MustNot}
		if len(q.Must) == 0 {
			for _, part := range q.Should {
				r := required(part)
				if r == nil {
					out.Should = nil
					break
				}
				out.Should = append(out.Should, r)
			}
		}
		if len(out.Must)+len(out.MustNot)+len(out.Should) == 0 {
			return nil
		}
		return out
	}
	return q
}

// requirement asks for what matches a condition, in whatever field.
func requirement(condition sheaf.TextQuery) backend.TextRequest {
	return backend.TextRequest{Query: condition, Fields: everyField, K1: backend.DefaultK1, B: backend.DefaultB}
}

// matching drops the hits that do not match what the query requires.
func matching(ctx context.Context, store backend.Backend, hits sheaf.Ranking, words sheaf.TextQuery) (sheaf.Ranking, error) {
	condition := required(words)
	if condition == nil || len(hits) == 0 {
		return hits, nil
	}
	text := requirement(condition)
	req := backend.Request{Limit: len(hits), Text: &text}
	for i := range hits {
		req.Within = append(req.Within, hits[i].ID)
	}
	found, err := store.Retrieve(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("match what the query requires: %w", err)
	}
	keep := make(map[sheaf.ID]bool, len(found))
	for i := range found {
		keep[found[i].ID] = true
	}
	out := make(sheaf.Ranking, 0, len(found))
	for _, h := range hits {
		if keep[h.ID] {
			out = append(out, h)
		}
	}
	return out, nil
}
