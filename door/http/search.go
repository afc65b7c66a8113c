package http

import (
	"context"
	"strings"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
)

// RankedFields choose how a search ranks. The query of a URL cannot give Parameters; only a body can.
type RankedFields struct {
	Filter  string   `json:"filter" query:"filter" pattern:"@query" doc:"Filters only, as in tag:howto."`
	Created string   `json:"created" query:"created" pattern:"@period" example:"2024-05..2024-08" doc:"@created"`
	Updated string   `json:"updated" query:"updated" pattern:"@period" example:"2024-05.." doc:"@updated"`
	Sets    []string `json:"sets" query:"sets" maxItems:"100" unique:"true" pattern:"@line" doc:"@sets"`
	Profile string   `json:"profile" query:"profile" maxLength:"100" pattern:"@line" doc:"Default: the collection's own."`
	Limit   int      `json:"limit" query:"limit" min:"1" max:"100" doc:"Results per page; default: the profile's limit."`
	Window  int      `json:"window" query:"window" min:"1" max:"1000" default:"20" doc:"Most results, all pages together."`

	Parameters map[string]Setting `json:"parameters" maxItems:"100" doc:"By name, as GET /v1/profiles lists them."`
}

// AnswerFields choose what an answer contains.
type AnswerFields struct {
	RankedFields
	Explain bool     `json:"explain" query:"explain" doc:"Also explain the score of each result."`
	Facets  []string `json:"facets" query:"facets" maxItems:"10" unique:"true" pattern:"@facet" doc:"@facets"`
	Sort    string   `json:"sort" query:"sort" pattern:"@sort" doc:"date, path or prop.NAME; - descends."`
	Count   bool     `json:"count" query:"count" doc:"Also count the matching chunks; without a query only with sort."`
}

// SearchFields are the fields of a search.
type SearchFields struct {
	Query string `json:"query" query:"query" pattern:"@query" example:"undo a commit" doc:"The query."`
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
	return collection.SearchRequest{Filter: f.Filter,
		Selection: collection.Selection{Created: f.Created, Updated: f.Updated, Sets: f.Sets},
		Profile:   f.Profile, Parameters: settings(f.Parameters), Limit: f.Limit, Window: f.Window}
}

// SearchBody holds the fields of a search whose answer has pages.
type SearchBody struct {
	SearchFields
	Cursor string `json:"cursor" query:"cursor" pattern:"@cursor" doc:"next from the previous answer."`
}

type searchGet struct {
	Where
	SearchBody
}

// search returns one page of results. With a cursor, it returns the page of the cursor. With an id, it searches for
// passages similar to the chunk id. Otherwise it searches for the query of q.
func (c *call) search(ctx context.Context, cursor string, id sheaf.ID, q collection.SearchRequest) (
	a *collection.Answer, err error) {
	switch {
	case cursor != "":
		q.Text += string(id)
		a, err = c.reader.Page(ctx, cursor, q)
	case id != "":
		a, err = c.reader.Similar(ctx, id, q)
	default:
		a, err = c.reader.Search(ctx, q)
	}
	if err == nil {
		c.timings = a.Timings
		c.logFailures(a.Failures)
	}
	return a, err
}

// logFailures logs the parts of a search that failed although the search was answered.
func (c *call) logFailures(failures []string) {
	if len(failures) > 0 {
		c.api.o.Log.Warn("search degraded", "warnings", strings.Join(failures, "; "))
	}
}

// headerName returns a step's name for the header Server-Timing, with dashes for all but letters and digits.
func headerName(step string) string {
	return strings.Join(strings.FieldsFunc(step, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}), "-")
}

type chunkGet struct {
	Where
	ID sheaf.ID `path:"id" maxLength:"4096" doc:"The ID, percent-encoded; / may stay." example:"notes:guides/git.md#undo"`

	OwnBody   bool `query:"body" doc:"Leave out the text under sub-headings."`
	Neighbors int  `query:"neighbors" min:"0" max:"50" doc:"How many chunks before and after it to add."`
}

// SimilarBody asks for passages that are similar to a chunk.
type SimilarBody struct {
	AnswerFields
	Cursor string   `json:"cursor" query:"cursor" pattern:"@cursor" doc:"next from the previous answer."`
	ID     sheaf.ID `json:"id" query:"id" required:"true" pattern:"@id" doc:"The chunk or document."`
}

type similarGet struct {
	Where
	SimilarBody
}

// ExplainBody asks how the results of a search came about.
type ExplainBody struct {
	SearchFields
	Brief bool `json:"brief" doc:"No snippets or arithmetic; of each step only the results and its best five hits."`
}

// RankedBody holds the fields of a ranking.
type RankedBody struct {
	Query string `json:"query" pattern:"@query" example:"undo a commit" doc:"The query."`
	RankedFields
}

func (b *RankedBody) request() collection.SearchRequest {
	q := b.RankedFields.request()
	q.Text = b.Query
	return q
}

// AbsenceBody asks why a chunk is not among the results of a search, or at which rank it is.
type AbsenceBody struct {
	RankedBody
	ID sheaf.ID `json:"id" required:"true" pattern:"@id" doc:"The missing chunk or document."`
}

// ChangesBody asks which results move if parameters change.
type ChangesBody struct {
	RankedBody
	Change map[string]Setting `json:"change" required:"true" maxItems:"100" doc:"By name, as GET /v1/profiles lists them."`
}

// Moves lists the results of a search that move.
type Moves struct {
	Moves []collection.Move `json:"moves" doc:"The new results that moved, in order, then the results that disappeared."`
}

func searchRoutes() []*route {
	const about = "Finds passages by words and by meaning. query has words and filters in the query language. Filters " +
		"without words list what passes them, and an empty query finds nothing unless sort is given. total.value is the " +
		"exact number of results on all pages. total.relation is gte when a larger window may show others, or the answer " +
		"is degraded. All pages belong to one ranking: while the index changes, no page repeats or loses a result. With " +
		"cursor, a query, filter, profile or sort must be as before, and all else is ignored."
	return []*route{
		reading(endpoint{route: "GET /v1/search", id: "search", summary: "Search", about: about,
			scope: access.ScopeSearch, statuses: []int{422}},
			func(ctx context.Context, c *call, in *searchGet) (*collection.Answer, error) {
				return c.search(ctx, in.Cursor, "", in.request())
			}),
		reading(endpoint{route: "POST /v1/search", id: "searchPost",
			example: `{"query": "undo a commit", "limit": 5, "parameters": {"meaning": 0.3}, "facets": ["tag"]}`,
			summary: "Search, with parameters of the profile", about: about, scope: access.ScopeSearch,
			statuses: []int{422}},
			func(ctx context.Context, c *call, in *posted[SearchBody]) (*collection.Answer, error) {
				return c.search(ctx, in.Body.Cursor, "", in.Body.request())
			}),
		reading(endpoint{route: "GET /v1/chunks/{id}", id: "chunk", summary: "Read a chunk or a document",
			scope: access.ScopeSearch,
			about: "What does not exist and what the caller may not see are answered alike."},
			func(ctx context.Context, c *call, in *chunkGet) (*collection.Part, error) {
				return c.reader.Get(ctx, in.ID, collection.GetOptions{Body: in.OwnBody, Neighbors: in.Neighbors})
			}),
		reading(endpoint{route: "GET /v1/similar", id: "similar", summary: "Find passages like one",
			scope: access.ScopeSearch, statuses: []int{422},
			about: "Finds passages of other documents: by the words that are frequent in this one and rare elsewhere, and " +
				"by meaning."},
			func(ctx context.Context, c *call, in *similarGet) (*collection.Answer, error) {
				return c.search(ctx, in.Cursor, in.ID, in.request())
			}),
		reading(endpoint{route: "POST /v1/similar", id: "similarPost", example: `{"id": "notes:guides/git.md", ` +
			`"limit": 5}`, summary: "Find passages like one, with parameters of the profile", scope: access.ScopeSearch,
			statuses: []int{422}},
			func(ctx context.Context, c *call, in *posted[SimilarBody]) (*collection.Answer, error) {
				return c.search(ctx, in.Body.Cursor, in.Body.ID, in.Body.request())
			}),
		reading(endpoint{route: "POST /v1/explain", id: "explain", example: `{"query": "undo a commit"}`,
			summary: "Say how results came about", scope: access.ScopeSearch, statuses: []int{422},
			about: "The answer to a search with the ranking after every step of the profile and the arithmetic of every score."},
			func(ctx context.Context, c *call, in *posted[ExplainBody]) (*collection.Explanation, error) {
				q := in.Body.request()
				q.Brief = in.Body.Brief
				e, err := c.reader.Explain(ctx, q)
				if err == nil {
					c.timings = e.Timings
					c.logFailures(e.Failures)
				}
				return e, err
			}),
		reading(endpoint{route: "POST /v1/explain/absence", id: "explainAbsence",
			example: `{"query": "undo a commit", "id": "notes:guides/git.md"}`, summary: "Say why a chunk is not among " +
				"the results", scope: access.ScopeSearch, statuses: []int{422}},
			func(ctx context.Context, c *call, in *posted[AbsenceBody]) (*collection.Absence, error) {
				return c.reader.WhyNot(ctx, in.Body.request(), in.Body.ID)
			}),
		reading(endpoint{route: "POST /v1/explain/changes", id: "explainChanges",
			example: `{"query": "undo a commit", "change": {"meaning": 0}}`, summary: "Say which results move when " +
				"parameters change", scope: access.ScopeSearch, statuses: []int{422}},
			func(ctx context.Context, c *call, in *posted[ChangesBody]) (*Moves, error) {
				moves, err := c.reader.WhatIf(ctx, in.Body.request(), settings(in.Body.Change))
				return &Moves{moves}, err
			}),
	}
}
