package search

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/internal/fold"
)

// longestName is the largest number of characters in a property name that is searched.
const longestName = 60

// byProperty repeats the search for a single word that no text has. The new search looks for documents with a property
// of this name. byProperty returns the new run, or r if there was no new run or the new run found nothing.
func (r *run) byProperty(ctx context.Context) (*run, error) {
	q := r.asked
	word, plain := q.Words.(sheaf.Match)
	name := fold.Text(strings.TrimSpace(word.Text))
	if !plain || word.Field != "" || r.opt.Order != nil || r.followed.Scan != nil || r.result.Degraded ||
		name == "" || utf8.RuneCountInString(name) > longestName || strings.ContainsAny(name, " \t\"") {
		return r, nil
	}
	w, err := r.stats.worth(ctx, r.query.Words)
	if err != nil || w == nil {
		return r, nil
	}
	for _, p := range w.parts {
		if p.chunks > 0 {
			return r, nil
		}
	}
	asked := q.Filter
	q.Text, q.Words = "", everything
	for _, name := range append([]string{name}, r.propertiesBelow(name)...) {
		q.Filter = sheaf.Both(asked, sheaf.Exists{Column: sheaf.PropertyColumn(name)})
		next, err := r.searchInstead(ctx, q)
		if err != nil {
			return r, err
		}
		if next != r {
			next.result.Unmet = append(next.result.Unmet,
				fmt.Sprintf("no text has the word %q; these have a property of that name: %s:*", short(word.Text), short(name)))
			return next, nil
		}
	}
	return r, nil
}

// mostBelow is the largest number of nested properties that the search tries. The search ignores rarer properties.
const mostBelow = 3

// propertiesBelow returns the nested properties that have name as one part of their own name, most frequent first. For
// example, spec.replicas has the parts spec and replicas.
func (r *run) propertiesBelow(name string) (below []string) {
	facts, ok := r.searcher.Facts.(interface {
		Properties() ([]catalog.Counted, error)
	})
	if !ok {
		return nil
	}
	counted, err := facts.Properties()
	if err != nil {
		return nil // the search continues without them
	}
	for _, p := range counted {
		if path := fold.Text(p.Name); path != name && strings.Contains("."+path+".", "."+name+".") && len(below) < mostBelow {
			below = append(below, p.Name)
		}
	}
	return below
}

// searchInstead searches with the query q and returns the new run. If the new run fails or finds nothing, searchInstead
// returns r.
func (r *run) searchInstead(ctx context.Context, q sheaf.Query) (*run, error) {
	next := r.searcher.newRun(q, r.opt, r.followed)
	if err := next.follow(ctx); err != nil {
		return r, canceled(ctx)
	}
	if len(next.result.Hits) == 0 {
		return r, nil
	}
	return next, nil
}
