package search

import (
	"context"

	"sheaf"
)

// A word that a hyphen cuts at the end of a line stands at two places of its text, joined: at
// those of its first and its last part. So a phrase finds it at the phrase's begin and end, and
// one that goes on on both sides finds it only where it says the word twice.

// mostBroken is how many words a phrase has at most in which such words are looked for.
const mostBroken = 12

// broken is the search, or, where that found nothing for a phrase, one for the phrase with one
// word within it cut at the end of a line. q is as it was before the search
// changed its own.
func (r *run) broken(ctx, retrieval context.Context, q sheaf.Query) (*run, error) {
	phrase, ok := q.Words.(sheaf.Phrase)
	if !ok || phrase.Slop > 0 || len(r.result.Hits) > 0 || r.result.Degraded || r.opt.Order != nil ||
		r.followed.Scan != nil || r.searcher.Analyzer == nil {
		return r, nil
	}
	var words []sheaf.Span
	r.searcher.Analyzer.Words(phrase.Text, func(start, end int) bool {
		words = append(words, sheaf.Span{Start: start, End: end})
		return len(words) <= mostBroken
	})
	if len(words) < 3 || len(words) > mostBroken {
		return r, nil
	}
	var any sheaf.Bool
	for _, w := range words[1 : len(words)-1] {
		twice := phrase
		twice.Text = phrase.Text[:w.End] + " " + phrase.Text[w.Start:]
		any.Should = append(any.Should, twice)
	}
	q.Words = any
	return r.instead(ctx, retrieval, q)
}
