package collection

import (
	"time"

	"sheaf"
	"sheaf/search"
	"sheaf/store"
)

// Answer is a page of the results of a query.
type Answer struct {
	Query      string             `json:"query" doc:"The query of the request."`
	Profile    string             `json:"profile" doc:"The ranking profile."`
	Parameters map[string]string  `json:"parameters" doc:"The parameters of the profile, with their values."`
	Results    []Result           `json:"results" doc:"The results of this page, best first."`
	Total      Total              `json:"total" doc:"How many results there are on all pages."`
	Matches    *int               `json:"matches,omitempty" doc:"The exact number of matching chunks; with count only."`
	Facets     map[string][]Facet `json:"facets,omitempty" doc:"For each facet, its values in the matching chunks."`
	Next       string             `json:"next,omitempty" doc:"The cursor of the next page; absent on the last one."`
	Generation uint64             `json:"generation" doc:"The generation of the index; all pages have the same."`
	Answerable *bool              `json:"answerable,omitempty" doc:"Whether a result likely answers; absent when unknown."`
	Degraded   bool               `json:"degraded" doc:"Whether a part of the ranking failed; the others answered."`
	Warnings   []string           `json:"warnings" doc:"Why the answer may be wrong, incomplete or out of date."`
	Notes      []string           `json:"notes" doc:"How Sheaf read the query; filter values that do not exist."`

	// Timings are the durations of the steps, in the order in which the steps ended. Only the first page of an answer
	// has the steps of the ranking.
	Timings []search.Timing `json:"-"`
	// Failures say why the answer is degraded. Only log them: they may hold details that callers must not see.
	Failures []string `json:"-"`
	// Details are for commands of a person on this machine. They are nil if [Options.Local] is nil.
	Details *Details `json:"-"`
}

// Details are data about an answer that only commands show, such as the way the query was read.
type Details struct {
	Read   []string // how the query was read; Notes of the [Answer] begins with these texts
	Unmet  []string // why nothing was found; Notes of the [Answer] ends with these texts
	Found  int      // number of different chunks that the branches found
	Facets []store.Facet
	Files  int               // number of scanned files
	Trace  []search.Snapshot // the ranking after each step, for Explain
}

// Total is a number of results. It also says whether the number is exact or there may be more.
type Total struct {
	Value    int    `json:"value" doc:"The exact number of results on all pages."`
	Relation string `json:"relation" enum:"eq,gte" doc:"eq: there are no other results. gte: there may be more."`
}

// Facet is a value of a field, with the number of chunks that have the value.
type Facet struct {
	Value string `json:"value" doc:"The value."`
	Count int    `json:"count" doc:"The number of chunks that have it."`
}

// Span is a range of a text from Start to End; the position End is not part of the range.
type Span struct {
	Start int `json:"start" doc:"The first byte."`
	End   int `json:"end" doc:"The byte after the last."`
}

func spanOf(s sheaf.Span) Span { return Span{s.Start, s.End} }

// Result is one document or chunk in an answer, with its rank and score.
type Result struct {
	Rank         int            `json:"rank" doc:"The rank among the results, from 1."`
	ID           sheaf.ID       `json:"id" doc:"The chunk's identifier."`
	Doc          sheaf.ID       `json:"doc" doc:"The document's identifier."`
	Path         string         `json:"path" doc:"The document's path in its tree."`
	File         string         `json:"file,omitempty" doc:"The file; only for callers who may see everything."`
	Title        string         `json:"title" doc:"The chunk's title."`
	Breadcrumb   string         `json:"breadcrumb" doc:"The titles from the document down."`
	Hierarchy    []string       `json:"hierarchy" doc:"The titles of the breadcrumb, one by one."`
	Span         Span           `json:"span" doc:"The range of the result in the document, in bytes."`
	Line         int            `json:"line" doc:"The line of the first match, from 1; 1 without a snippet."`
	Block        sheaf.ID       `json:"block,omitempty" doc:"The ID of the named block (^name) that has the line."`
	Score        float64        `json:"score" doc:"Orders the results; it does not say how sure the answer is."`
	Confidence   *float64       `json:"confidence,omitempty" doc:"The probability, 0 to 1, that this result is right."`
	Level        search.Level   `json:"confidence_level,omitempty" enum:"high,medium,low,none" doc:"The confidence range."`
	Snippet      string         `json:"snippet" doc:"The part of the text that best shows the match."`
	Matches      []Span         `json:"matches" doc:"The ranges of the snippet that match, in bytes."`
	Tags         []string       `json:"tags" doc:"The tags of the chunk and of its document."`
	Date         *time.Time     `json:"date,omitempty" doc:"The document's date."`
	Legs         []Leg          `json:"legs" doc:"The rank and score in each branch of the ranking."`
	Constituents []Constituent  `json:"constituents,omitempty" doc:"The chunks that the result combines, best first."`
	Stale        bool           `json:"stale,omitempty" doc:"Whether the file changed or is unreadable: no snippet."`
	Summary      []sheaf.Reason `json:"summary,omitempty" doc:"Why the result has this score; with explain only."`

	Explanation *sheaf.Explanation `json:"explanation,omitempty" doc:"How the score was computed; with explain only."`
	// Scanned means that a search without an index cut this result from a file. Its ID is valid for this ranking only.
	Scanned bool `json:"-"`
	// Unread is the error of reading the text of the result. Only commands show it.
	Unread error `json:"-"`
	// Signals explain the score of a scanned result. Only commands show them.
	Signals *search.Signals `json:"-"`
}

// Leg is the rank and score that one branch of the profile gave to a result.
type Leg struct {
	Branch string  `json:"branch" doc:"The name of the branch."`
	Rank   *int    `json:"rank" doc:"The rank in this branch, from 1; null when not found."`
	Score  float64 `json:"score" doc:"The raw score in this branch; 0 when not found."`
}

// Constituent is a chunk that a stage joined with other chunks into one result.
type Constituent struct {
	ID    sheaf.ID `json:"id" doc:"The chunk's identifier."`
	Title string   `json:"title" doc:"The chunk's title."`
	Span  Span     `json:"span" doc:"The chunk's range in the document, in bytes."`
	Score float64  `json:"score" doc:"The chunk's own score."`
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
