package search

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/suggest"
	"sheaf/store"
)

const (
	// mostMisspelt is the largest number of words of a query that are checked for typing errors, with a request each.
	mostMisspelt = 3
	// leastMisspelt is the smallest number of letters in a word that may have one typing error. mostEdited is the smallest
	// number of letters in a word that may have two.
	leastMisspelt, mostEdited = 4, 6
	// mostSimilar is the largest number of chunks that are read to find the word that the user meant.
	mostSimilar = 3
)

// For each word of the query that no chunk has, misspelt adds a message with similar words to Result.Unmet. It takes
// longer than most searches.
func (r *run) misspelt(ctx context.Context) {
	if r.query.Words == nil || r.opt.Order != nil {
		return
	}
	w, err := r.stats.worth(ctx, r.query.Words)
	if r.short(err); err != nil || w == nil {
		return
	}
	looked := 0
	for _, p := range w.parts {
		_, plain := p.query.(sheaf.Match)
		if !plain || p.chunks > 0 || !mayBeMisspelt(p.text) || r.stats.isCompound(p.text) {
			continue
		}
		if looked++; looked > mostMisspelt {
			return
		}
		r.misspeltWord(ctx, p.text)
	}
}

// mayBeMisspelt reports whether a word may have a typing error: it has enough letters, and its script has spaces.
func mayBeMisspelt(word string) bool {
	return utf8.RuneCountInString(word) >= leastMisspelt && !strings.ContainsFunc(word, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsMark(c) ||
			unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
				unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}

// misspeltWord adds a message to Result.Unmet if chunks have words similar to word. It looks for words with two errors
// only if no chunk has a word with one error.
func (r *run) misspeltWord(ctx context.Context, word string) {
	hits := r.misspeltAt(ctx, word, 1)
	if len(hits) == 0 && utf8.RuneCountInString(word) >= mostEdited {
		hits = r.misspeltAt(ctx, word, 2)
	}
	if len(hits) == 0 {
		return
	}
	said := fmt.Sprintf("nothing has the word %q", short(word))
	if near := suggest.Nearest(word, r.wordsOf(hits)); near != "" {
		r.result.Unmet = append(r.result.Unmet, fmt.Sprintf("%s; did you mean %q?", said, near))
		return
	}
	r.result.Unmet = append(r.result.Unmet, fmt.Sprintf("%s; to find words like it: %s~", said, word))
}

// misspeltAt returns hits that have a word at most edits typing errors away from word. After an error, it returns none.
func (r *run) misspeltAt(ctx context.Context, word string, edits int) sheaf.Ranking {
	like := sheaf.Fuzzy{Text: word, Distance: edits, Same: 1} // the first letter of a word is seldom misspelt
	hits, err := r.searcher.Backend.Retrieve(ctx, store.Request{Limit: mostSimilar,
		Filter: sheaf.Both(r.opt.Scope, r.query.Filter), Text: AnyField(like)})
	r.short(err)
	if err != nil {
		return nil
	}
	return hits
}

// wordsOf returns the words of the titles, tags and texts of hits.
func (r *run) wordsOf(hits sheaf.Ranking) []string {
	var words []string
	between := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) }
	add := func(text string) { words = append(words, strings.FieldsFunc(text, between)...) }
	for _, h := range hits {
		if c, ok := Part(r.facts, h.ID); ok {
			add(strings.Join(c.Hierarchy, " "))
			add(strings.Join(c.Tags, " "))
		}
		if r.searcher.Text == nil {
			continue
		}
		if text, err := r.searcher.Text(h.ID); err == nil {
			add(text)
		}
	}
	return words
}
