package collection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/internal/wording"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/chunk"
	"sheaf/text/query"
)

// These are limits and defaults of a search request.
const (
	// MaxLimit limits the results on one page. MaxWindow limits the results on all pages together.
	MaxLimit  = 100
	MaxWindow = 1000
	// MaxExplained limits the results with explanations on all pages. An explanation takes kilobytes for each word.
	MaxExplained = 200
	// DefaultLimit and DefaultWindow are for requests that set no limit or no window.
	DefaultLimit  = 10
	DefaultWindow = 20
	// MaxQueryBytes limits the text of a query. MaxFacets limits the facets of a request.
	MaxQueryBytes = 4096
	MaxFacets     = 10
)

// SearchRequest is a query with the options of its answer.
type SearchRequest struct {
	// Text is the query, in the query language.
	Text string
	// Filter adds filters to the query, in the query language. "" adds none.
	Filter string
	Selection
	// Profile is the name of the ranking profile. "" is the default of the collection.
	Profile    string
	Parameters map[string]string
	// Window is the number of results on all pages together; 0 is DefaultWindow. With Explain, it is at most
	// MaxExplained. A search ranks the whole window at once, so no result moves from page to page.
	Window int
	// Limit is the number of results on a page, at most Window. 0 is the number of the profile, or DefaultLimit.
	Limit int
	// Explain adds to every result how its score was computed.
	Explain bool
	// Facets names columns: "tag", "folder", "tree", "ext", or "prop.NAME". The answer counts each value's matches.
	Facets []string
	// Sort orders matches by a column, not by rank: "date", "path" or "prop.NAME". With a dash in front, the largest is
	// first.
	Sort string
	// Terms are words that are added to the query. They score like words of the query.
	Terms []string
	// Count asks for the exact number of chunks that contain words of the query, in the fields of the profile.
	Count bool
	// Plain omits snippets from the results.
	Plain bool
	// Brief limits [Reader.Explain] to the needs of a drawing: no snippets and no arithmetic. The steps have only the
	// results, and the five best hits of each step.
	Brief bool

	// Label replaces the query in answers of Similar and Context; "" is the identifier or the file name.
	Label string

	like *sheaf.Query // set by Similar
}

// Selection says which documents may be in the results. A document must match every field of the Selection that is set:
// see query.CreatedIn, query.UpdatedIn and query.InSets.
type Selection struct {
	// Created and Updated are periods, START..END.
	Created, Updated string
	// Sets are sets of documents. The document is in at least one of them.
	Sets []string
}

// normalize replaces zero numbers by defaults. It checks the request, unless a person on this machine made it.
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
	column := strings.TrimPrefix(q.Sort, "-")
	if q.Sort != "" && !slices.Contains(orderColumns, column) && !isProperty(column) {
		return fieldError("sort", "%q: must be one of %s or prop.NAME, with a dash before it for the largest first",
			q.Sort, strings.Join(orderColumns, ", "))
	}
	for i, name := range q.Facets {
		if !slices.Contains(facetColumns, name) && !isProperty(name) {
			return fieldError("facets", "%q: must be one of %s or prop.NAME", name, strings.Join(facetColumns, ", "))
		}
		if slices.Contains(q.Facets[:i], name) {
			return fieldError("facets", "%q appears twice", name)
		}
	}
	most, err := p.MostWanted(q.Parameters) // the maximum number of results on all pages
	if err != nil {
		return inParameters(err)
	}
	q.Window = min(q.Window, most)
	return nil
}

// maxNames limits the lookups for one query of a restricted caller. Each name before a colon may be a property, and the
// lookup may need a request to the store.
const maxNames = 4

// nameTime limits the time for looking up one name.
const nameTime = 3 * time.Second

// read parses a query. A name before a colon means a property only if the caller may see a document with this property.
func (r *Reader) read(ctx context.Context, text string) (parsed sheaf.Query, err error) {
	o := query.Options{Now: r.c.now()}
	if r.guard.filter == nil {
		if !strings.Contains(text, ":") {
			return query.Parse(text, o), nil
		}
		o.Spellings = r.view.Spellings // for other callers, spellings would reveal hidden folders
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

// hasProperty reports whether a visible document has a property. If the request to the store fails, hasProperty returns
// an error. With false instead, the caller would search for the name as a word.
func (r *Reader) hasProperty(ctx context.Context, name string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	has := sheaf.Exists{Column: sheaf.PropertyColumn(name)}
	req := store.Request{Limit: 1, Filter: has, Text: search.AnyField(sheaf.Bool{})}
	seen, err := r.guard.Count(ctx, req)
	if errors.Is(err, sheaf.ErrUnsupported) {
		var hits sheaf.Ranking
		hits, err = r.guard.Retrieve(ctx, req)
		seen = len(hits)
	}
	if errors.Is(err, sheaf.ErrInvalid) { // the store cannot have this name
		return false, nil
	}
	if err == nil {
		return seen > 0, nil
	}
	return false, fmt.Errorf("%w: cannot look up whether %q is a property (write prop.%s: to skip that): %w",
		sheaf.ErrUnavailable, name, name, err)
}

// prepare checks a request. It returns the parsed query, and the profile with its parameters.
func (r *Reader) prepare(ctx context.Context, q *SearchRequest) (sheaf.Query, loadedProfile, error) {
	p, err := r.c.load(q.Profile)
	local := r.c.o.Local != nil
	switch {
	case err != nil && local: // the person did not name the profile in the request
		return sheaf.Query{}, p, err
	case err != nil:
		return sheaf.Query{}, p, inField("profile", err)
	}
	if err := q.normalize(p.profile, local); err != nil {
		return sheaf.Query{}, p, err
	}
	if p.plan.Limit != q.Window || len(q.Parameters) > 0 {
		if p.plan, err = p.profile.Plan(q.Window, q.Parameters); err != nil {
			return sheaf.Query{}, p, inParameters(err)
		}
	}
	var parsed sheaf.Query
	if q.like != nil {
		parsed = *q.like
	} else if parsed, err = r.read(ctx, q.Text); err != nil {
		return parsed, p, err
	}
	parsed.Limit = q.Window
	filter, err := access.Filter(q.Filter)
	if err != nil {
		return parsed, p, inField("filter", err)
	}
	created, err := query.CreatedIn(q.Created, r.c.now())
	if err != nil {
		return parsed, p, inField("created", err)
	}
	updated, err := query.UpdatedIn(q.Updated, r.c.now())
	if err != nil {
		return parsed, p, inField("updated", err)
	}
	sets, err := query.InSets(q.Sets)
	if err != nil {
		return parsed, p, inField("sets", err)
	}
	parsed.Filter = sheaf.Both(sheaf.Both(sheaf.Both(parsed.Filter, filter), created), sheaf.Both(updated, sets))
	if local {
		parsed.Filter = sheaf.Both(parsed.Filter, r.c.o.Local.Scope)
	}
	if !filtersDate(parsed.Filter) && strings.TrimPrefix(q.Sort, "-") != sheaf.ColumnDate {
		return parsed, p, nil
	}
	note, err := r.unreadDates()
	if note != "" {
		parsed.Notes = append(parsed.Notes, note)
	}
	return parsed, p, err
}

// facetColumns are the columns whose values a request can count. orderColumns are the columns by which it can sort.
// "prop.NAME" is allowed for both.
var (
	facetColumns = []string{sheaf.ColumnTag, sheaf.ColumnFolder, sheaf.ColumnTree, query.ColumnExtension}
	orderColumns = []string{sheaf.ColumnDate, sheaf.ColumnPath}
)

func isProperty(name string) bool { return strings.HasPrefix(name, "prop.") && name != "prop." }

// shownFacets renames the columns in the store's counts to the names that the caller used.
func shownFacets(names []string, counted []store.Facet) map[string][]Facet {
	if len(names) == 0 {
		return nil
	}
	out := make(map[string][]Facet, len(names))
	for i, f := range counted {
		list := make([]Facet, len(f.Values))
		for j, v := range f.Values {
			list[j] = Facet{v.Value.String(), v.Chunks}
		}
		out[names[i]] = list
	}
	return out
}

// unreadDates returns a note if a date of some visible documents cannot be parsed, else "". Such a document has another
// date, for example the date of its file.
func (r *Reader) unreadDates() (string, error) {
	warned, err := r.view.Warned()
	if err != nil {
		return "", err
	}
	var unread []sheaf.ID
	for _, id := range warned {
		if o := r.guard.Outline(id); o == nil || o.Date.Source == 0 || o.Date.Source == sheaf.DateFrontmatter {
			continue
		}
		doc, _ := r.guard.Document(id)
		if slices.ContainsFunc(doc.Warnings, func(w sheaf.Warning) bool {
			return strings.Contains(w.Message, chunk.UnreadDate)
		}) {
			unread = append(unread, id)
		}
	}
	if len(unread) == 0 {
		return "", nil
	}
	return wording.Plural(len(unread), "document has a date", "documents have dates") + " that cannot be read, such as " +
		string(unread[0]) + ": sheaf takes the date from the name or the time of the file", nil
}

// filtersDate reports whether a filter uses the dates of documents.
func filtersDate(f sheaf.Filter) bool {
	switch f := f.(type) {
	case sheaf.And:
		return slices.ContainsFunc(f, filtersDate)
	case sheaf.Or:
		return slices.ContainsFunc(f, filtersDate)
	case sheaf.Not:
		return filtersDate(f.Filter)
	case sheaf.Range:
		return f.Column == sheaf.ColumnDate
	case sheaf.In:
		return f.Column == sheaf.ColumnDate
	}
	return false
}
