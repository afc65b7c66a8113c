package collection

import (
	"time"

	"sheaf"
	"sheaf/search"
	"sheaf/store"
)

// Answer is a page of the results of a query.
type Answer struct {
	Query      string             `json:"query" doc:"The query, as it was asked."`
	Profile    string             `json:"profile" doc:"The ranking profile that ordered the results."`
	Parameters map[string]string  `json:"parameters" doc:"The profile's parameters in force."`
	Results    []Result           `json:"results" doc:"The results of this page, best first."`
	Total      Total              `json:"total" doc:"How many results there are on all pages."`
	Matches    *int               `json:"matches,omitempty" doc:"How many chunks hold words of the query, in the fields in which the profile looks for them, and pass its filter, exactly; only when count was asked for, and not when time ran out before."`
	Facets     map[string][]Facet `json:"facets,omitempty" doc:"For each facet asked for, its values with the number of chunks, of all that match, that have them."`
	Next       string             `json:"next,omitempty" doc:"The cursor of the next page; absent on the last one."`
	Generation uint64             `json:"generation" doc:"The generation of the index that all pages of this query show."`
	Answerable *bool              `json:"answerable,omitempty" doc:"Whether a result is likely to answer the query; absent when the server has no calibration for the profile, and for filters alone."`
	Degraded   bool               `json:"degraded" doc:"Whether a part of the ranking failed and the others answer."`
	Warnings   []string           `json:"warnings" doc:"What makes the answer another than it would be: a part of the ranking that failed, an index that could not be brought up to date, files that changed."`
	Notes      []string           `json:"notes" doc:"How the query was read where that may surprise; when nothing is found, which values of its filter nothing has, and which there are."`

	// Timings are the times of the steps, in the order in which they ended. Only the first page has
	// the steps of the ranking.
	Timings []search.Timing `json:"-"`
	// Failures say why the answer is degraded. They are for the log and may hold details that callers must not see.
	Failures []string `json:"-"`
	// Details are for the command; nil for other callers.
	Details *Details `json:"-"`
}

// Details are shown by commands only.
type Details struct {
	Read   []string // how the query was read; the first of the notes
	Unmet  []string // why nothing was found; the last of the notes
	Found  int      // number of different chunks that the branches found
	Facets []store.Facet
	Files  int               // number of scanned files
	Trace  []search.Snapshot // for Explain
}

// Total is a number of results and whether there may be more.
type Total struct {
	Value    int    `json:"value" doc:"The number of results that paging through this query shows, exactly."`
	Relation string `json:"relation" enum:"eq,gte" doc:"eq: there are no others; gte: the window was filled, the profile retrieved or kept as many as it may for this window, or the answer is degraded, so others may match."`
}

// Facet is a value with the number of chunks that have it.
type Facet struct {
	Value string `json:"value" doc:"The value."`
	Count int    `json:"count" doc:"The number of chunks that have it."`
}

// Span is a half-open range.
type Span struct {
	Start int `json:"start" doc:"The first byte."`
	End   int `json:"end" doc:"The byte after the last."`
}

func spanOf(s sheaf.Span) Span { return Span{s.Start, s.End} }

// Result is one answer to a query.
type Result struct {
	Rank         int                `json:"rank" doc:"The place among the results, from 1."`
	ID           sheaf.ID           `json:"id" doc:"The chunk's identifier."`
	Doc          sheaf.ID           `json:"doc" doc:"The document's identifier."`
	Path         string             `json:"path" doc:"The document's path in its tree."`
	File         string             `json:"file,omitempty" doc:"The file on the server, for callers from whom nothing is kept."`
	Title        string             `json:"title" doc:"The chunk's title."`
	Breadcrumb   string             `json:"breadcrumb" doc:"The titles from the document down."`
	Hierarchy    []string           `json:"hierarchy" doc:"The titles of the breadcrumb, one by one."`
	Span         Span               `json:"span" doc:"Everything that the result is, in bytes of the document."`
	Line         int                `json:"line" doc:"The line of the snippet's first match, from 1; 1 where there is no snippet."`
	Block        sheaf.ID           `json:"block,omitempty" doc:"The block, marked ^name, that the line is in, as get takes it; absent where the match is in none with a name."`
	Score        float64            `json:"score" doc:"What the results are ordered by; it does not say how sure the answer is."`
	Confidence   *float64           `json:"confidence,omitempty" doc:"The probability that this result is right, 0 to 1; absent when the server has no calibration for the profile."`
	Level        search.Level       `json:"confidence_level,omitempty" enum:"high,medium,low,none" doc:"The range of the confidence: high is at least 0.85, medium 0.60 to 0.85, low 0.30 to 0.60, none below 0.30."`
	Snippet      string             `json:"snippet" doc:"The part of the text that shows best why it was found."`
	Matches      []Span             `json:"matches" doc:"The ranges of the snippet, in bytes, that match words of the query."`
	Tags         []string           `json:"tags" doc:"The tags of the chunk and of its document."`
	Date         *time.Time         `json:"date,omitempty" doc:"The document's date."`
	Legs         []Leg              `json:"legs" doc:"The place in every branch of the ranking."`
	Constituents []Constituent      `json:"constituents,omitempty" doc:"The chunks that the result stands for, best first."`
	Stale        bool               `json:"stale,omitempty" doc:"Whether the file has changed since it was indexed, or cannot be read, so that there is no snippet."`
	Summary      []sheaf.Reason     `json:"summary,omitempty" doc:"Why it has its score; only with explain."`
	Explanation  *sheaf.Explanation `json:"explanation,omitempty" doc:"How the score came about; only when explain was asked for."`
	// Scanned means that the result was cut from a file, without an index. Its ID is valid for this ranking only.
	Scanned bool `json:"-"`
	// Unread says why there is no snippet. Signals explain a scanned result in the names of the tiered search
	// specification. Only commands show both.
	Unread  error           `json:"-"`
	Signals *search.Signals `json:"-"`
}

// Leg is the place of a result in one branch.
type Leg struct {
	Branch string  `json:"branch" doc:"The branch's name."`
	Rank   *int    `json:"rank" doc:"Its rank there, from 1; null when the branch did not find it."`
	Score  float64 `json:"score" doc:"Its raw score there; 0 when the branch did not find it."`
}

// Constituent is a chunk that was joined into a result.
type Constituent struct {
	ID    sheaf.ID `json:"id" doc:"The chunk's identifier."`
	Title string   `json:"title" doc:"Its title."`
	Span  Span     `json:"span" doc:"Its range of the document, in bytes."`
	Score float64  `json:"score" doc:"Its own score."`
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
