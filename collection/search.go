package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/internal/arena"
	"sheaf/internal/fold"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// Search answers a query. It returns the first page of the answer.
func (r *Reader) Search(ctx context.Context, q SearchRequest) (*Answer, error) {
	parsed, p, err := r.prepare(ctx, &q)
	if err != nil {
		return nil, err
	}
	a, steps, err := r.answer(ctx, &q, parsed, p)
	if err != nil {
		return nil, err
	}
	return r.page(ctx, a, 0, q.Limit, steps)
}

// answer searches with a request that was checked and parsed. The answer may come from the cache, or from a concurrent
// request with the same question. took has the timings of this call only.
func (r *Reader) answer(
	ctx context.Context, q *SearchRequest, parsed sheaf.Query, p loadedProfile,
) (a *answer, took []search.Timing, err error) {
	defer func() { r.c.noteDamage(err) }()
	now, start := r.c.now(), time.Now()
	var calibration *search.Calibration
	if read := r.c.o.Confidence; read != nil {
		calibration = read(p.profile)
	}
	compute := func(key answerKey) (*answer, error) {
		s := r.Searcher(ctx)
		s.Now = func() time.Time { return now }
		s.Confidence = func(*profile.Profile) *search.Calibration { return calibration }
		result, err := s.Search(ctx, parsed, p.profile, r.options(q, p))
		if err != nil {
			return nil, err
		}
		took = result.Took
		if err := r.Err(); err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		return r.newAnswer(key, q, parsed, result)
	}
	cache := r.c.answers
	if cache.off || !r.versioned || p.profile.Scans() {
		cache.counts[passed].Add(1)
		a, err = compute(randomKey())
		return a, took, err
	}
	key := r.key(q, parsed, p, calibration, now)
	a, from, err := cache.get(key, func() (a *answer, toShare bool, err error) {
		if a, err = compute(key); err != nil {
			return nil, false, err
		}
		whole := !a.result.Degraded && len(a.result.Warnings) == 0 && !a.result.Short
		// Another process may have written to a store without snapshots.
		if at, versioned := stampOf(r.view, r.guard.store); whole && versioned && at == r.state {
			cache.put(a, false)
		} else {
			a.key = randomKey()
		}
		return a, whole, nil
	})
	switch from {
	case found:
		took = []search.Timing{{Step: "cache", Duration: time.Since(start)}}
	case shared:
		took = []search.Timing{{Step: "cache: wait", Duration: time.Since(start)}}
	}
	return a, took, err
}

// key returns a hash of all values that determine the answer. The filter of parsed has absolute dates, also for words
// such as "today".
func (r *Reader) key(
	q *SearchRequest, parsed sheaf.Query, p loadedProfile, calibration *search.Calibration, now time.Time,
) answerKey {
	request, minute, confidence := *q, int64(0), search.Calibration{}
	request.Limit, request.like = 0, nil // one answer serves pages of any length; like is in parsed
	if p.plan.Dated() {
		minute = now.Unix() // ages change
	}
	if calibration != nil {
		confidence = *calibration
	}
	return keyOf(request, parsed, p.profile.Digest(), minute, confidence, r.guard.visibleTo, r.guard.filter, r.state)
}

func (r *Reader) options(q *SearchRequest, p loadedProfile) search.Options {
	o := search.Options{Parameters: q.Parameters, Plan: p.plan, Terms: q.Terms, Explain: q.Explain, Count: q.Count}
	for _, name := range q.Facets {
		o.Facets = append(o.Facets, fold.Text(name))
	}
	if column, descending := strings.CutPrefix(q.Sort, "-"); column != "" {
		o.Order = &store.Order{Column: fold.Text(column), Descending: descending}
	}
	if local := r.c.o.Local; local != nil {
		o.Scope = local.Scope
	}
	return o
}

// newAnswer makes an answer for the cache from the result of a search. It leaves out data that later pages do not
// need, such as the long text of a document's query.
func (r *Reader) newAnswer(
	key answerKey, q *SearchRequest, parsed sheaf.Query, result *search.Result,
) (*answer, error) {
	var docs documents // nil: the documents of the catalog
	if result.Scanned != nil && len(result.Hits) > 0 {
		ids := make([]sheaf.ID, len(result.Hits))
		for i := range result.Hits {
			ids[i] = result.Hits[i].Doc
		}
		view, err := result.Scanned.Catalog(ids...)
		if err != nil {
			return nil, err
		}
		docs = scannedFiles{view}
	}
	request, own := *q, *result
	request.like, parsed.Text = nil, ""
	own.Scanned, own.Took, own.Trace, own.Expansion = nil, nil, nil, nil
	own.Hits = make([]search.Hit, len(result.Hits))
	texts := arena.NewTexts(4 << 10)
	for i := range own.Hits {
		own.Hits[i] = ownHit(result.Hits[i], texts)
	}
	a := &answer{
		key: key, request: request, query: parsed, result: &own, documents: docs, state: r.state,
		visible: r.guard.visibleTo,
	}
	if r.c.o.Local != nil {
		a.scanned = result.Scanned
	}
	return a, nil
}

// page returns one page of an answer: limit results, beginning at result number from. steps are the timings of the
// search. For later pages, steps is nil.
func (r *Reader) page(ctx context.Context, a *answer, from, limit int, steps []search.Timing) (*Answer, error) {
	result, start := a.result, time.Now()
	n := len(result.Hits)
	to := min(from+limit, n)
	out := &Answer{
		Query: cmp.Or(a.request.Label, a.request.Text), Profile: result.Profile, Parameters: result.Parameters,
		Results: make([]Result, 0, max(to-from, 0)), Total: Total{Value: n, Relation: "eq"}, Matches: result.Matches,
		Facets: shownFacets(a.request.Facets, result.Facets), Generation: a.state.generation,
		Answerable: result.Answerable,
		Degraded:   result.Degraded, Warnings: orEmpty(r.publicTexts(result, result.Warnings)),
		Notes: orEmpty(r.publicTexts(result, slices.Concat(result.Notes, result.Unmet))),
	}
	if result.Degraded {
		out.Failures = result.Warnings
	}
	out.Warnings = append(out.Warnings, r.outdatedWarning()...)
	if r.c.o.Local != nil {
		out.Details = &Details{Read: a.query.Notes, Unmet: result.Unmet, Found: result.Total, Facets: result.Facets}
		if a.scanned != nil {
			out.Details.Files = a.scanned.Files
		}
	}
	if out.Parameters == nil {
		out.Parameters = map[string]string{}
	}
	if n >= a.request.Window || result.More || result.Degraded {
		out.Total.Relation = "gte"
	}
	s := pageMaker{Reader: r, ctx: ctx, answer: a, texts: map[sheaf.ID]textOf{}}
	stale := 0
	for i := from; i < to; i++ {
		shown, ok := s.show(i)
		if !ok {
			continue // removed since the first page
		}
		if shown.Stale && out.Details == nil {
			stale++
		}
		if errors.Is(shown.Unread, sheaf.ErrCorrupt) {
			return nil, fmt.Errorf("read index: %w", shown.Unread)
		}
		out.Results = append(out.Results, *shown)
	}
	if err := r.Err(); err != nil { // an error while showing results
		return nil, fmt.Errorf("read index: %w", err)
	}
	if stale > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf(
			"%d of the results changed since they were indexed, or cannot be read: they have no snippet", stale))
	}
	if to < n {
		r.c.answers.put(a, true)
		out.Next = r.cursorOf(a, to, limit)
	}
	out.Timings = append(slices.Clone(steps), search.Timing{Step: "show", Duration: time.Since(start)})
	return out, nil
}

// Searcher returns the searcher for this caller. Do not close the reader before the last search ends.
func (r *Reader) Searcher(ctx context.Context) *search.Searcher {
	o := &r.c.o
	s := &search.Searcher{
		Backend: r.guard, Store: o.Store, Shared: o.Distant && r.guard.filter == nil, Facts: r.guard,
		Embed: o.Embed, Analyzer: o.Analyzer, Confidence: o.Confidence, Now: r.c.now,
		Text: search.TextOf(r.guard, r.guard.text),
	}
	if _, counts := r.guard.store.(store.Counter); !counts { // the search works without counts
		s.Backend = plainGuard{r.guard, r.guard, r.guard}
	}
	if embed := r.c.o.Embed; embed != nil && r.c.o.Model == nil {
		s.Embed = func(ctx context.Context, texts []string) ([][]float32, error) {
			vectors, err := embed(ctx, texts)
			return vectors, fromRemote(err)
		}
	}
	if local := r.c.o.Local; local != nil {
		s.Expander = local.Expander
	}
	if reranker := r.c.o.Rerank; reranker != nil {
		s.Rerank = reranker.Rerank
	}
	if r.c.o.Scanner != nil {
		s.Scanner = visibleFiles{r.c.o.Scanner, r.guard}
	}
	if r.c.o.Model != nil {
		s.SetModel(r.c.o.Model, r.c.o.Analyzer, r.guard.Chunks(ctx))
	}
	return s
}

// rarityOf returns a function that computes the idf of a word. chunks is the number of all chunks, and counter counts
// the chunks with the word. If counter fails, the idf is 1. If no chunk has the word, the idf is 0.
func rarityOf(ctx context.Context, counter store.Counter, chunks int) func(word string) float64 {
	return func(word string) float64 {
		n, err := counter.Count(ctx, withWord(word))
		if err != nil {
			return 1
		}
		if n == 0 {
			return 0
		}
		return search.IDF(n, chunks)
	}
}

// withWord returns a request for the chunks that contain a word.
func withWord(word string) store.Request {
	return store.Request{Limit: 1, Text: search.AnyField(sheaf.Match{Text: word})}
}

// outdatedWarning returns a warning while the first indexing runs, or if the last search for changed files was
// incomplete. The warning gives the reason only to an unrestricted caller with the scope admin.
func (r *Reader) outdatedWarning() []string {
	w := r.c.watching.Load()
	switch {
	case r.c.filling():
		return []string{"the folder is indexed for the first time: what is not indexed yet is not found"}
	case w == nil || w.stale == nil:
		return nil
	case r.guard.filter != nil, !maySeeDetails(&r.grant):
		return []string{"the index could not be updated; results come from the last indexing run"}
	}
	return []string{fmt.Sprintf("the index could not be updated (%v); results come from the last indexing run", w.stale)}
}

// Finite returns f, or 0 if JSON cannot represent f.
func Finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
