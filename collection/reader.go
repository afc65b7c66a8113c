package collection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/query"
)

// Reader is a collection at one moment as one caller may see it. It is safe for
// concurrent use until it is closed. What its methods return outlives it and must not be
// changed: answers share parts, such as Parameters, with others.
type Reader struct {
	c     *Collection
	grant access.Grant
	view  *catalog.View
	guard *guard
	// at is the state of the index; told is false when the store does not tell
	// its own.
	at   stamp
	told bool
	// pinned is the store held still, nil for one that does not.
	pinned store.Backend
	done   func() // tells the collection that it is closed
}

// Close ends the use of the reader.
func (r *Reader) Close() {
	if r.pinned != nil {
		_ = r.pinned.Close() // it was only read
	}
	r.c.seen(r.Err())
	r.view.Close()
	r.done()
}

// Collection is what the reader reads.
func (r *Reader) Collection() *Collection { return r.c }

// Generation is that of the catalog's snapshot.
func (r *Reader) Generation() uint64 { return r.view.Generation() }

// Err is the first fault of the catalog that a lookup met, or nil.
func (r *Reader) Err() error { return r.view.Err() }

// Limits of a request.
const (
	// MaxLimit is the most results of one page, MaxWindow of all pages.
	MaxLimit  = 100
	MaxWindow = 1000
	// MaxExplained is the most results of all pages together that have the arithmetic of
	// their scores, which takes some kilobytes for each word of the query.
	MaxExplained = 200
	// DefaultLimit and DefaultWindow are those of a request that names none.
	DefaultLimit  = 10
	DefaultWindow = 20
	// MaxQueryBytes bounds the text of a query, MaxFacets how many facets it
	// may ask for.
	MaxQueryBytes = 4096
	MaxFacets     = 10
)

// SearchRequest is a query with what is wanted of its answer.
type SearchRequest struct {
	// Text is the query, in the query language.
	Text string
	// Filter is more of the query language that holds filters only; "" for
	// none.
	Filter string
	// Created and Updated are windows of time, START..END, and Sets the sets of documents
	// that the query is narrowed to: see query.CreatedIn, query.UpdatedIn and query.InSets.
	Created, Updated string
	Sets             []string
	// Profile names the ranking; "" is the collection's default.
	Profile    string
	Parameters map[string]string
	// Limit is how many results a page has; 0 is what the profile says, or
	// DefaultLimit where it says nothing. Window is how
	// many all pages have together, 0 is DefaultWindow; it is never below
	// Limit, and with Explain never above MaxExplained. The ranking is made for the window, so that pages do not move
	// against each other.
	Limit  int
	Window int
	// Explain gives every result the arithmetic of its score.
	Explain bool
	// Facets name columns by whose values everything that matches is counted:
	// "tag", "folder", "tree", "ext", or "prop.NAME".
	Facets []string
	// Sort puts everything that matches in the order of a column instead of
	// ranking it: "date", "path" or "prop.NAME", with a dash before it for the
	// largest first.
	Sort string
	// Count asks for the exact number of chunks with words of the query, in the fields of the profile.
	Count bool
	// Plain leaves snippets out.
	Plain bool
	// Brief has [Reader.Explain] say only what a drawing of the steps needs: no
	// snippets and no arithmetic, and of every step only the hits that are results,
	// or among the best five of a step.
	Brief bool

	// like is the query that Similar made, label what it shows.
	like  *sheaf.Query
	label string
}

func (q *SearchRequest) normalize(p *profile.Profile) error {
	if q.Limit == 0 {
		q.Limit = min(usualLimit(p, q.Parameters), MaxLimit)
	}
	if q.Window == 0 {
		q.Window = max(DefaultWindow, q.Limit)
	}
	switch {
	case q.Limit < 1 || q.Limit > MaxLimit:
		return fieldError("limit", "%d: must be within 1..%d", q.Limit, MaxLimit)
	case q.Window < 1 || q.Window > MaxWindow:
		return fieldError("window", "%d: must be within 1..%d", q.Window, MaxWindow)
	case len(q.Text) > MaxQueryBytes:
		return fieldError("query", "it has %d bytes: must have at most %d", len(q.Text), MaxQueryBytes)
	case len(q.Facets) > MaxFacets:
		return fieldError("facets", "%d facets: must be at most %d", len(q.Facets), MaxFacets)
	}
	q.Window = max(q.Window, q.Limit)
	if q.Explain {
		q.Window = min(q.Window, MaxExplained)
	}
	if _, err := order(q.Sort); err != nil {
		return err
	}
	return validFacets(q.Facets)
}

// FieldError says what is the matter with one field of a request: that it is wrong,
// which is sheaf.ErrInvalid, names what there is not, sheaf.ErrNotFound, asks for what the
// caller may not do, ErrForbidden, or is a condition that does not hold, ErrPrecondition.
type FieldError struct {
	// Field is its name; one within another is chunks/0/slug.
	Field string
	// Change is in which of the changes that were to be written it is, from 0.
	Change int
	Err    error
}

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives the fault, with its category.
func (e *FieldError) Unwrap() error { return e.Err }

// invalid is an error that is sheaf.ErrInvalid too, and says so in no word.
type invalid struct{ error }

func (e invalid) Unwrap() []error { return []error{sheaf.ErrInvalid, e.error} }

// conflict is an error that is ErrConflict too, and says so in no word.
type conflict struct{ error }

func (e conflict) Unwrap() []error { return []error{ErrConflict, sheaf.ErrInvalid, e.error} }

// conflictError says that what a field says conflicts with another part of the
// request, or with what there is.
func conflictError(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: conflict{fmt.Errorf(format, args...)}}
}

func fieldError(field, format string, args ...any) error {
	return inField(field, fmt.Errorf(format, args...))
}

// forbidden says what a field asks for that the caller may not do.
func forbidden(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: fmt.Errorf("%w: "+format, append([]any{ErrForbidden}, args...)...)}
}

// unmet says which condition of a change to a document does not hold.
func unmet(field, format string, args ...any) error {
	return &FieldError{Field: field, Err: fmt.Errorf("%w: "+format, append([]any{ErrPrecondition}, args...)...)}
}

// inField says in which field an error of invalid input lies; others stay.
func inField(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{Field: field, Err: invalid{err}}
}

// inParameters says in which parameter of a profile an error lies.
func inParameters(err error) error { return inNamed("parameters", err) }

// inNamed says in which of the parameters or settings that a field holds an error lies.
func inNamed(field string, err error) error {
	var wrong *profile.ParameterError
	if errors.As(err, &wrong) {
		field += "/" + pointerEscapes.Replace(wrong.Name)
	}
	return inSettings(field, err)
}

// inSettings says in which field settings are wrong, or conflict with each other.
func inSettings(field string, err error) error {
	if errors.Is(err, profile.ErrTogether) {
		return &FieldError{Field: field, Err: conflict{err}}
	}
	return inField(field, err)
}

// pointerEscapes writes a name as one step of a JSON pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// maxNames is how many names of properties a query may ask for without "prop."
// when documents are kept from the caller: each may cost a look into the store.
const maxNames = 4

// nameTime is how long such a look may take.
const nameTime = 3 * time.Second

// read reads a query, in which names before a colon are those of properties that the caller
// may use: those that only hidden documents have are no names to a caller from whom they
// are kept.
func (r *Reader) read(ctx context.Context, text string) (parsed sheaf.Query, err error) {
	o := query.Options{Now: r.c.now()}
	if r.guard.filter == nil {
		if !strings.Contains(text, ":") {
			return query.Parse(text, o), nil
		}
		o.Spellings = r.view.Spellings // for others it would tell of folders that are kept from them
		if counted, err := r.view.Properties(); err == nil {
			for _, p := range counted {
				o.Properties = append(o.Properties, p.Name)
			}
		}
		return query.Parse(text, o), nil
	}
	looked := 0
	o.Look = func(name string) (is, known bool) {
		if looked == maxNames || err != nil {
			return false, false
		}
		looked++
		is, err = r.hasProperty(ctx, name)
		return is, true
	}
	parsed = query.Parse(text, o)
	return parsed, err
}

// hasProperty reports whether a document that the caller sees has a property. That is
// remembered as answers are. A look into the store that fails is an error: the name
// would become a word, and what it was to leave out would be shown.
func (r *Reader) hasProperty(ctx context.Context, name string) (bool, error) {
	remember := r.c.cache != nil && r.told
	var key cacheKey
	if remember {
		key = keyOf("property", name, r.grant.Fingerprint(), r.guard.filter, r.guard.viewer)
		if has, ok := r.c.cache.get(r.at, key).(bool); ok {
			return has, nil
		}
	}
	var seen int
	err := inTurn(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, nameTime)
		defer cancel()
		req := store.Request{Limit: 1, Filter: sheaf.Exists{Column: sheaf.PropertyColumn(name)}, Text: everyField(sheaf.Bool{})}
		var err error
		if seen, err = r.guard.Count(ctx, req); !errors.Is(err, sheaf.ErrUnsupported) {
			return unsure(name, err)
		}
		hits, err := r.guard.Retrieve(ctx, req)
		seen = len(hits)
		return unsure(name, err)
	})
	if errors.Is(err, sheaf.ErrInvalid) { // the store can have no such name
		seen, err = 0, nil
	}
	if err != nil {
		return false, err
	}
	if remember {
		r.c.cache.put(r.at, key, seen > 0, 0)
	}
	return seen > 0, nil
}

// unsure says that nobody knows whether there is a property of a name.
func unsure(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: whether %q is a property could not be looked up (prop.%s: asks for one without that): %w", sheaf.ErrUnavailable, name, name, err)
}

// parse reads the query as this caller may mean it.
func (r *Reader) parse(ctx context.Context, q *SearchRequest) (sheaf.Query, error) {
	var parsed sheaf.Query
	if q.like != nil {
		parsed = *q.like
	} else {
		var err error
		if parsed, err = r.read(ctx, q.Text); err != nil {
			return parsed, err
		}
	}
	parsed.Limit = q.Window
	filter, err := access.Filter(q.Filter)
	if err != nil {
		return parsed, inField("filter", err)
	}
	parsed.Filter = both(parsed.Filter, filter)
	created, err := query.CreatedIn(q.Created, r.c.now())
	if err != nil {
		return parsed, inField("created", err)
	}
	updated, err := query.UpdatedIn(q.Updated, r.c.now())
	if err != nil {
		return parsed, inField("updated", err)
	}
	sets, err := query.InSets(q.Sets)
	if err != nil {
		return parsed, inField("sets", err)
	}
	parsed.Filter = both(both(parsed.Filter, created), both(updated, sets))
	return parsed, nil
}

// both joins two filters, either of which may be nil.
func both(a, b sheaf.Filter) sheaf.Filter {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return sheaf.And{a, b}
}

func (r *Reader) searcher(ctx context.Context) *search.Searcher {
	o := &r.c.o
	s := &search.Searcher{
		Backend: r.guard.searched(), Store: o.Store, Shared: o.Distant && r.guard.filter == nil, Facts: r.guard,
		Embed: o.Embed, Analyzer: o.Analyzer, Confidence: o.Confidence, Now: r.c.now,
		Text: search.TextOf(r.guard, r.guard.text),
	}
	if embed := r.c.o.Embed; embed != nil && r.c.o.Model == nil {
		s.Embed = func(ctx context.Context, text string) ([]float32, error) {
			return elsewhere(ctx, func() ([]float32, error) {
				vector, err := embed(ctx, text)
				return vector, fromBehind(err)
			})
		}
	}
	if reranker := r.c.o.Rerank; reranker != nil {
		s.Rerank = func(ctx context.Context, query string, texts []string) ([]float64, error) {
			return elsewhere(ctx, func() ([]float64, error) { return reranker.Rerank(ctx, query, texts) })
		}
	}
	if r.c.o.Scanner != nil {
		s.Scanner = visibleFiles{r.c.o.Scanner, r.guard}
	}
	if r.c.o.Model != nil {
		s.SetModel(r.c.o.Model, r.c.o.Analyzer, r.guard.Chunks(ctx))
	}
	return s
}

// prepare reads a request: its query, its profile, its parameters.
func (r *Reader) prepare(ctx context.Context, q *SearchRequest) (sheaf.Query, loadedProfile, error) {
	p, err := r.c.load(q.Profile)
	if err != nil {
		return sheaf.Query{}, p, inField("profile", err)
	}
	if err := q.normalize(p.profile); err != nil {
		return sheaf.Query{}, p, err
	}
	if err := q.boundWindow(p.profile); err != nil {
		return sheaf.Query{}, p, inParameters(err)
	}
	if _, err := p.profile.Plan(q.Window, q.Parameters); err != nil {
		return sheaf.Query{}, p, inParameters(err)
	}
	parsed, err := r.parse(ctx, q)
	return parsed, p, err
}

// boundWindow bounds the window by what the profile lets be wanted: a window is the
// most that all pages have.
func (q *SearchRequest) boundWindow(p *profile.Profile) error {
	most, err := p.MostWanted(q.Parameters)
	q.Window = min(q.Window, most)
	return err
}

// Search answers a query with its first page.
func (r *Reader) Search(ctx context.Context, q SearchRequest) (*Answer, error) {
	parsed, p, err := r.prepare(ctx, &q)
	if err != nil {
		return nil, err
	}
	found, hits, steps, err := r.rank(ctx, &q, parsed, p)
	if err != nil {
		return nil, err
	}
	k := r.paged(q, parsed, found)
	k.facets = shownFacets(q.Facets, found.result.Facets)
	return r.page(ctx, k, hits, 0, q.Limit, steps)
}

func everyField(words sheaf.TextQuery) *store.TextRequest {
	fields := make([]store.FieldWeight, len(sheaf.Fields))
	for i, f := range sheaf.Fields {
		fields[i] = store.FieldWeight{Name: f, Weight: 1}
	}
	// With BM25F, which has one frequency for all fields, stores can count a
	// word without looking at what it matches.
	return &store.TextRequest{Query: words, Fields: fields, Combine: store.CombineBM25F, K1: store.DefaultK1, B: store.DefaultB}
}

// frequency is the number of chunks with a word, among those that the caller
// sees.
func (r *Reader) frequency(ctx context.Context, word string) (int, error) {
	if n, known := r.guard.words.get(r.guard.at, r.guard.wordKey(word)); known {
		return n, nil
	}
	return r.guard.Count(ctx, store.Request{Limit: 1, Text: everyField(sheaf.Match{Text: word})})
}

// rarity tells snippets how rare a word is, by its idf among what the caller
// sees. guessed becomes true when that failed this time.
func (r *Reader) rarity(ctx context.Context, guessed *bool) func(word string) float64 {
	size := float64(r.guard.Chunks(ctx))
	return func(word string) float64 {
		n, err := r.frequency(ctx, word)
		if err != nil {
			*guessed = *guessed || !errors.Is(err, sheaf.ErrUnsupported)
			return 1
		}
		df := float64(n)
		return math.Log(1 + (max(size, df)-df+0.5)/(df+0.5))
	}
}

// page is the results of a ranking from one on, as they are shown, with the times of the
// steps in which the ranking was made for it: further pages are cut from one that was. found
// are its hits, none when it is packed only, and are released with the answer.
func (r *Reader) page(ctx context.Context, k *kept, found foundHits, from, limit int, steps []search.Timing) (*Answer, error) {
	result, hits, start := k.result, k.len(), time.Now()
	room := openRoom()
	room.found = found
	a := &room.answer
	*a = Answer{room: room, Query: k.request.Text, Profile: result.Profile, Parameters: result.Parameters, Results: room.results, Generation: k.generation,
		Answerable: result.Answerable, Degraded: result.Degraded, Warnings: orEmpty(r.toldOf(result, result.Warnings)), Notes: orEmpty(r.toldOf(result, slices.Concat(result.Notes, result.Unmet))), Facets: k.facets, Matches: result.Matches,
		Total: Total{Value: hits, Relation: "eq"}}
	a.Timings = append(room.timings, steps...)
	if result.Degraded {
		a.Failures = result.Warnings
	}
	a.Warnings = append(a.Warnings, r.outdated()...)
	if k.request.label != "" {
		a.Query = k.request.label
	}
	if a.Parameters == nil {
		a.Parameters = map[string]string{}
	}
	if hits >= k.request.Window || result.More || result.Degraded {
		a.Total.Relation = "gte"
	}
	to, stale := min(from+limit, hits), 0
	a.Results = slices.Grow(a.Results, max(to-from, 0))
	s := showing{Reader: r, ctx: ctx, ranking: k, left: max(to-from, 0), answerRoom: room}
	for i := from; i < to; i++ {
		shown, ok := s.show(i)
		if !ok {
			continue // it was taken away since the first page
		}
		if shown.Stale {
			stale++
		}
		a.Results = append(a.Results, shown)
	}
	if bytes := k.shown.add(hits, s.made); bytes > 0 && r.c.cache != nil {
		r.c.cache.grow(k.ranked.key, k.ranked, bytes)
	}
	if err := r.Err(); err != nil { // of what is shown of the results
		return nil, fmt.Errorf("read index: %w", err)
	}
	if stale > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d of the results changed since they were indexed, or cannot be read: they have no snippet", stale))
	}
	if to < hits {
		k.pack()
		a.Next = r.c.rankings.keep(k, to, limit)
	}
	a.Timings = append(a.Timings, search.Timing{Step: "show", Duration: time.Since(start)})
	return a, nil
}

// outdated says, when the last look for changed files failed, or looked at nothing of a folder,
// that what is shown is older, and during the first one that there will be more; callers from whom something is
// kept, or who lack the scope admin, are not told why.
func (r *Reader) outdated() []string {
	w := r.c.watching.Load()
	switch {
	case r.c.filling():
		return []string{"the folder is indexed for the first time: what is not indexed yet is not found"}
	case w == nil || w.Stale == nil:
		return nil
	case r.guard.filter != nil, !tells(&r.grant):
		return []string{"the index could not be updated; results come from the last indexing run"}
	}
	return []string{fmt.Sprintf("the index could not be updated (%v); results come from the last indexing run", w.Stale)}
}

// Finite replaces numbers that JSON cannot write by 0.
func Finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
