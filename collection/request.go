package collection

import (
	"context"
	"errors"
	"fmt"
	"sheaf"
	"sheaf/collection/access"
	"sheaf/profile"
	"sheaf/store"
	"sheaf/text/query"
	"strings"
	"time"
)

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
	// Terms are more words that score like those of the query.
	Terms []string
	// Count asks for the exact number of chunks with words of the query, in the fields of the profile.
	Count bool
	// Plain leaves snippets out.
	Plain bool
	// Brief has [Reader.Explain] say only what a drawing of the steps needs: no
	// snippets and no arithmetic, and of every step only the hits that are results,
	// or among the best five of a step.
	Brief bool

	// Label is what the answer shows as the query of Similar and Context; "" is the identifier or the name.
	Label string

	like *sheaf.Query // that Similar made
}

// normalize sets the numbers that the request leaves out. It checks the request, unless a person on this machine asks.
func (q *SearchRequest) normalize(p *profile.Profile, local bool) error {
	if q.Limit == 0 {
		q.Limit = min(usualLimit(p, q.Parameters), MaxLimit)
	}
	if q.Window == 0 {
		q.Window = max(DefaultWindow, q.Limit)
	}
	if local {
		return nil
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
	if err := validSort(q.Sort); err != nil {
		return err
	}
	if err := validFacets(q.Facets); err != nil {
		return err
	}
	most, err := p.MostWanted(q.Parameters) // a window is the most that all pages have
	q.Window = min(q.Window, most)
	return inParameters(err)
}

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
		if local := r.c.o.Local; local != nil {
			o.Spellings = local.Spellings
		}
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

// hasProperty reports whether a document that the caller sees has a property. A look into the store that fails is an
// error: the name would become a word, and what it was to leave out would be shown.
func (r *Reader) hasProperty(ctx context.Context, name string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	has := sheaf.Exists{Column: sheaf.PropertyColumn(name)}
	req := store.Request{Limit: 1, Filter: has, Text: everyField(sheaf.Bool{})}
	seen, err := r.guard.Count(ctx, req)
	if errors.Is(err, sheaf.ErrUnsupported) {
		var hits sheaf.Ranking
		hits, err = r.guard.Retrieve(ctx, req)
		seen = len(hits)
	}
	if errors.Is(err, sheaf.ErrInvalid) { // the store can have no such name
		return false, nil
	}
	return seen > 0, unsure(name, err)
}

// unsure returns the error of a property that could not be looked up.
func unsure(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: whether %q is a property could not be looked up (prop.%s: asks for one without that): %w",
		sheaf.ErrUnavailable, name, name, err)
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
	if local := r.c.o.Local; local != nil {
		parsed.Filter = both(parsed.Filter, local.Scope)
	}
	return parsed, nil
}

// both joins two filters. Each may be nil.
func both(a, b sheaf.Filter) sheaf.Filter {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return sheaf.And{a, b}
}

// prepare reads a request: its query, its profile, its parameters.
func (r *Reader) prepare(ctx context.Context, q *SearchRequest) (sheaf.Query, loadedProfile, error) {
	p, err := r.c.load(q.Profile)
	local := r.c.o.Local != nil
	switch {
	case err != nil && local: // the person did not name it in the request
		return sheaf.Query{}, p, err
	case err != nil:
		return sheaf.Query{}, p, inField("profile", err)
	}
	if err := q.normalize(p.profile, local); err != nil {
		return sheaf.Query{}, p, err
	}
	if p.plan, err = p.profile.Plan(q.Window, q.Parameters); err != nil {
		return sheaf.Query{}, p, inParameters(err)
	}
	parsed, err := r.parse(ctx, q)
	return parsed, p, err
}
