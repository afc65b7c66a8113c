package http

import (
	"context"
	"strings"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// RankedFields choose the ranking of any search. Parameters come only in bodies.
type RankedFields struct {
	Filter     string             `json:"filter" query:"filter" maxLength:"1000" pattern:"@query" doc:"More of the query language that holds filters only, as in tag:howto path:guides/ prop.status:done."`
	Created    string             `json:"created" query:"created" maxLength:"100" pattern:"@line" example:"2024-05..2024-08" doc:"Only documents created in this window, START..END; both days are included, and either may be missing. Documents without the property created pass."`
	Updated    string             `json:"updated" query:"updated" maxLength:"100" pattern:"@line" example:"2024-05.." doc:"Only documents updated in this window, START..END, by their properties updated, modified and lastmod. Documents without these are taken to be 90 days old: they pass a window that starts before that and has no end."`
	Sets       []string           `json:"sets" query:"sets" maxItems:"100" unique:"true" maxLength:"1000" pattern:"@line" doc:"Only documents of any of these sets. They narrow what is found, and never widen it."`
	Profile    string             `json:"profile" query:"profile" maxLength:"100" pattern:"@line" doc:"The ranking profile; the collection's own when it is left out."`
	Limit      int                `json:"limit" query:"limit" min:"1" max:"100" doc:"How many results a page has; left out, as many as the profile says: 20 for tree, 30 for tiered, 10 for the others."`
	Window     int                `json:"window" query:"window" min:"1" max:"1000" default:"20" doc:"How many results all pages have together at most; never below limit, and with explain never above 200. The ranking is made for the window, so that pages do not move against each other."`
	Parameters map[string]Setting `json:"parameters" maxItems:"100" doc:"By name, as GET /v1/profiles lists them."`
}

// AnswerFields choose the content of an answer.
type AnswerFields struct {
	RankedFields
	Explain bool     `json:"explain" query:"explain" doc:"Say of every result how its score came about."`
	Facets  []string `json:"facets" query:"facets" maxItems:"10" unique:"true" maxLength:"100" pattern:"@facet" doc:"Columns by whose values everything that matches the words and filters is counted, without a query all that the filter lets through."`
	Sort    string   `json:"sort" query:"sort" maxLength:"100" pattern:"@sort" doc:"Put everything that matches in the order of a column instead of ranking it: date, path or prop.NAME, with a dash before it for the largest first. A query of nothing matches everything then."`
	Count   bool     `json:"count" query:"count" doc:"Say how many chunks match, exactly; without a query none, unless sort is given."`
}

// SearchFields are the fields of a search.
type SearchFields struct {
	Query string `json:"query" query:"query" maxLength:"1000" pattern:"@query" example:"undo a commit" doc:"What to look for, in the query language. Filters in it without words list what they let through; without a query nothing is found."`
	AnswerFields
}

func (f *SearchFields) request() collection.SearchRequest {
	q := f.AnswerFields.request()
	q.Text = f.Query
	return q
}

func (f *AnswerFields) request() collection.SearchRequest {
	q := f.RankedFields.request()
	q.Explain, q.Facets, q.Sort, q.Count = f.Explain, f.Facets, f.Sort, f.Count
	return q
}

func (f *RankedFields) request() collection.SearchRequest {
	return collection.SearchRequest{Filter: f.Filter, Created: f.Created, Updated: f.Updated, Sets: f.Sets,
		Profile: f.Profile, Parameters: settings(f.Parameters), Limit: f.Limit, Window: f.Window}
}

// SearchBody has the fields of a search whose answer has pages.
type SearchBody struct {
	SearchFields
	Cursor string `json:"cursor" query:"cursor" maxLength:"22" pattern:"@cursor" doc:"The next of an earlier answer: its other pages. What is given too of query, filter, profile and sort must be that answer's; all else is ignored."`
}

type searchGet struct {
	Where
	SearchBody
}

type searchPost struct {
	Where
	Body SearchBody
}

// search returns an answer, or another page of one: of passages similar to id, or of the query of q without id.
func (c *call) search(ctx context.Context, r *collection.Reader, cursor string, id sheaf.ID,
	q collection.SearchRequest) (a *collection.Answer, err error) {
	switch {
	case cursor != "":
		q.Text += string(id)
		a, err = r.Page(ctx, cursor, q)
	case id != "":
		a, err = r.Similar(ctx, id, q)
	default:
		a, err = r.Search(ctx, q)
	}
	if err == nil {
		c.timings = a.Timings
		c.degraded(a.Failures)
	}
	return a, err
}

// degraded logs the failed parts of a search that was answered.
func (c *call) degraded(failures []string) {
	if len(failures) > 0 {
		c.api.o.Log.Warn("search degraded", "warnings", strings.Join(failures, "; "))
	}
}

// appendHeaderName appends a name. It replaces every run of characters that a header name cannot have by a dash, and
// drops dashes at the ends.
func appendHeaderName(b []byte, step string) []byte {
	from := len(b)
	for i := range len(step) {
		switch c := step[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
			b = append(b, c)
		case len(b) > from && b[len(b)-1] != '-':
			b = append(b, '-')
		}
	}
	if len(b) > from && b[len(b)-1] == '-' {
		b = b[:len(b)-1]
	}
	return b
}

type chunkGet struct {
	Where
	ID        sheaf.ID `path:"id" maxLength:"4096" doc:"The chunk's identifier, percent-encoded; a slash may stand as it is." example:"notes:guides/git.md#undo"`
	OwnBody   bool     `query:"body" doc:"Leave out what lies under sub-headings."`
	Neighbors int      `query:"neighbors" min:"0" max:"50" doc:"Also so many chunks before and after."`
}

// SimilarBody asks for passages similar to a chunk.
type SimilarBody struct {
	AnswerFields
	Cursor string   `json:"cursor" query:"cursor" maxLength:"22" pattern:"@cursor" doc:"The next of an earlier answer for the same id: its other pages. What is given too of filter, profile and sort must be that answer's; all else is ignored."`
	ID     sheaf.ID `json:"id" query:"id" required:"true" minLength:"1" maxLength:"4096" doc:"The chunk or document for which to find similar ones."`
}

type similarGet struct {
	Where
	SimilarBody
}

type similarPost struct {
	Where
	Body SimilarBody
}

// ExplainBody asks how results came about.
type ExplainBody struct {
	SearchFields
	Brief bool `json:"brief" doc:"Only what a drawing of the steps needs: no snippets and no arithmetic, and of every step only the hits that are results, or among the best five of a step, with their ranks."`
}

type explainPost struct {
	Where
	Body ExplainBody
}

// RankedBody has the fields of a ranking.
type RankedBody struct {
	Query string `json:"query" maxLength:"1000" pattern:"@query" example:"undo a commit" doc:"What to look for, in the query language. Filters in it without words list what they let through; without a query nothing is found."`
	RankedFields
}

func (b *RankedBody) request() collection.SearchRequest {
	q := b.RankedFields.request()
	q.Text = b.Query
	return q
}

// AbsenceBody asks why a chunk is not among the results of a search.
type AbsenceBody struct {
	RankedBody
	ID sheaf.ID `json:"id" required:"true" minLength:"1" maxLength:"4096" doc:"The chunk or document that is missed."`
}

type absencePost struct {
	Where
	Body AbsenceBody
}

// ChangesBody asks what moves when parameters change.
type ChangesBody struct {
	RankedBody
	Change map[string]Setting `json:"change" required:"true" maxItems:"100" doc:"By name, see GET /v1/profiles."`
}

type changesPost struct {
	Where
	Body ChangesBody
}

// Moves are the results of a search that move.
type Moves struct {
	Moves []collection.Move `json:"moves" doc:"Those of the second answer in its order, then those that went away."`
}

func searchRoutes() []*route {
	const about = "Finds passages by words and by meaning. total.value is the number of results that paging shows, " +
		"exactly; it is gte when a larger window may show others, or the answer is degraded. Pages belong to one ranking " +
		"of one generation of the index: nothing is shown twice or lost while the index changes."
	return []*route{
		reading(endpoint{at: "GET /v1/search", id: "search", summary: "Search", about: about,
			scope: access.ScopeSearch, others: []int{422}},
			func(ctx context.Context, c *call, r *collection.Reader, in *searchGet) (*collection.Answer, error) {
				return c.search(ctx, r, in.Cursor, "", in.request())
			}),
		reading(endpoint{at: "POST /v1/search", id: "searchPost",
			example: `{"query": "undo a commit", "limit": 5, "parameters": {"meaning": 0.3}, "facets": ["tag"]}`,
			summary: "Search, with parameters of the profile", about: about, scope: access.ScopeSearch, others: []int{422}},
			func(ctx context.Context, c *call, r *collection.Reader, in *searchPost) (*collection.Answer, error) {
				return c.search(ctx, r, in.Body.Cursor, "", in.Body.request())
			}),
		reading(endpoint{at: "GET /v1/chunks/{id}", id: "chunk", summary: "Read a chunk or a document",
			scope: access.ScopeSearch,
			about: "What does not exist and what the caller may not see are answered alike."},
			func(ctx context.Context, _ *call, r *collection.Reader, in *chunkGet) (*collection.Part, error) {
				return r.Get(ctx, in.ID, collection.GetOptions{Body: in.OwnBody, Neighbors: in.Neighbors})
			}),
		reading(endpoint{at: "GET /v1/similar", id: "similar", summary: "Find passages like one",
			scope: access.ScopeSearch, others: []int{422},
			about: "Finds passages of other documents: by the words that are frequent in this one and rare elsewhere, and " +
				"by meaning."},
			func(ctx context.Context, c *call, r *collection.Reader, in *similarGet) (*collection.Answer, error) {
				return c.search(ctx, r, in.Cursor, in.ID, in.request())
			}),
		reading(endpoint{at: "POST /v1/similar", id: "similarPost", example: `{"id": "notes:guides/git.md", ` +
			`"limit": 5}`, summary: "Find passages like one, with parameters of the profile", scope: access.ScopeSearch,
			others: []int{422}},
			func(ctx context.Context, c *call, r *collection.Reader, in *similarPost) (*collection.Answer, error) {
				return c.search(ctx, r, in.Body.Cursor, in.Body.ID, in.Body.request())
			}),
		reading(endpoint{at: "POST /v1/explain", id: "explain", example: `{"query": "undo a commit"}`,
			summary: "Say how results came about", scope: access.ScopeSearch, others: []int{422},
			about: "The answer to a search with the ranking after every step of the profile and the arithmetic of every score."},
			func(ctx context.Context, c *call, r *collection.Reader, in *explainPost) (*collection.Explanation, error) {
				q := in.Body.request()
				q.Brief = in.Body.Brief
				e, err := r.Explain(ctx, q)
				if err == nil {
					c.timings = e.Timings
					c.degraded(e.Failures)
				}
				return e, err
			}),
		reading(endpoint{at: "POST /v1/explain/absence", id: "explainAbsence",
			example: `{"query": "undo a commit", "id": "notes:guides/git.md"}`, summary: "Say why a chunk is not among " +
				"the results", scope: access.ScopeSearch, others: []int{422}},
			func(ctx context.Context, _ *call, r *collection.Reader, in *absencePost) (*collection.Absence, error) {
				return r.WhyNot(ctx, in.Body.request(), in.Body.ID)
			}),
		reading(endpoint{at: "POST /v1/explain/changes", id: "explainChanges",
			example: `{"query": "undo a commit", "change": {"meaning": 0}}`, summary: "Say which results move when " +
				"parameters change", scope: access.ScopeSearch, others: []int{422}},
			func(ctx context.Context, _ *call, r *collection.Reader, in *changesPost) (*Moves, error) {
				moves, err := r.WhatIf(ctx, in.Body.request(), settings(in.Body.Change))
				return &Moves{moves}, err
			}),
	}
}
