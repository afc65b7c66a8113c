package search

import (
	"context"

	"sheaf"
)

// The index joins a word that a line end hyphenates, at the positions of its first and second part. A phrase that
// starts or ends with the word matches. A phrase with the word in its middle matches only when the phrase repeats the
// word.

// maxHyphenated limits the number of words in a phrase for which the search tries hyphenated words.
const maxHyphenated = 12

// retryHyphenated repeats the search for a phrase that found nothing. The new search also finds documents in which a
// line end hyphenates one of the phrase's inner words. Only plain phrases of 3 to maxHyphenated words are repeated.
// retryHyphenated returns the new run, or r if there was no new run or the new run found nothing.
func (r *run) retryHyphenated(ctx context.Context) (*run, error) {
	q := r.asked
	phrase, ok := q.Words.(sheaf.Phrase)
	if !ok || phrase.Slop > 0 || len(r.result.Hits) > 0 || r.result.Degraded || r.opt.Order != nil ||
		r.followed.Scan != nil || r.searcher.Analyzer == nil {
		return r, nil
	}
	var words []sheaf.Span
	r.searcher.Analyzer.Words(phrase.Text, func(start, end int) bool {
		words = append(words, sheaf.Span{Start: start, End: end})
		return len(words) <= maxHyphenated
	})
	if len(words) < 3 || len(words) > maxHyphenated {
		return r, nil
	}
	var any sheaf.Bool
	for _, w := range words[1 : len(words)-1] {
		twice := phrase
		twice.Text = phrase.Text[:w.End] + " " + phrase.Text[w.Start:]
		any.Should = append(any.Should, twice)
	}
	q.Words = any
	return r.searchInstead(ctx, q)
}
