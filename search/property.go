package search

import (
	"context"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/backend"
	"sheaf/internal/fold"
	"sheaf/profile"
)

// longestName is how many characters the name of a property has at most that is looked for.
const longestName = 60

// byProperty is the search, or one for what has a property of the name that the query is, where no
// text has that word and nothing else is likely to answer. q and asked are as they were before
// the search changed its own.
func (r *run) byProperty(ctx, retrieval context.Context, q sheaf.Query, asked profile.Asked) (*run, error) {
	word, plain := q.Words.(sheaf.Match)
	likely := len(r.result.Hits) > 0 && (r.result.Answerable == nil || *r.result.Answerable)
	name := fold.Text(strings.TrimSpace(word.Text))
	if !plain || word.Field != "" || likely || r.opt.Order != nil || r.followed.Scan != nil || r.result.Degraded ||
		name == "" || utf8.RuneCountInString(name) > longestName || strings.ContainsAny(name, " \t\"") {
		return r, nil
	}
	w, err := r.worth(retrieval)
	if err != nil || w == nil {
		return r, nil
	}
	for _, p := range w.parts {
		if p.chunks > 0 {
			return r, nil
		}
	}
	var has sheaf.Filter = sheaf.Exists{Column: sheaf.PropertyColumn(name)}
	if q.Filter != nil {
		has = sheaf.And{q.Filter, has}
	}
	filter := has
	if r.opt.Scope != nil {
		filter = sheaf.And{r.opt.Scope, has}
	}
	text := backend.TextRequest{Query: everything, Fields: everyField, K1: backend.DefaultK1, B: backend.DefaultB}
	hits, err := r.searcher.Backend.Retrieve(retrieval, backend.Request{Limit: 1, Filter: filter, Text: &text})
	if err != nil || len(hits) == 0 { // a store may have no such name
		return r, nil
	}
	q.Text, q.Words, q.Filter = "", everything, has
	opt := r.opt
	opt.Room = nil
	next := r.searcher.newRun(q, asked, opt, r.followed)
	if err := next.follow(ctx, retrieval); err != nil {
		return r, ctx.Err()
	}
	next.note("no text has the word %q; these have a property of that name: %s:*", short(name), short(name))
	r.facts.release()
	return next, nil
}
