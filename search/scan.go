package search

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
)

// Scanner finds the candidates of a query in files, without an index. It is safe for concurrent use.
type Scanner interface {
	// Scan searches files for the queries, terms and words of req. It puts the best candidates into
	// a store, which answers req.Words and requests by vector while the query runs.
	Scan(ctx context.Context, req ScanRequest) (*Scanned, error)
}

// ScanRequest says what to search for, and how much.
type ScanRequest struct {
	// Queries are the original query and its expansions. The scan looks for each query as a whole, and for the words of
	// each query. Terms are the important words of the query, and additional words from the caller. The scan looks for
	// each term as a whole. Queries and Terms decide which files are candidates, but do not change scores.
	Queries, Terms []string
	// Words is the query that gives scores. If it is nil, no words score.
	Words sheaf.TextQuery
	// Answering is set only if Words forbids some words. Each chunk that may be an answer matches at least one of these
	// requests. A file with a forbidden word is a candidate only if one of its chunks matches a request. If Answering is
	// empty, forbidden words exclude no file.
	Answering []store.TextRequest
	// Filter limits the candidates. Visible reports whether the caller may see a document; the scan does not read or count
	// other documents. For both, nil means no limit.
	Filter  sheaf.Filter
	Visible func(doc sheaf.ID) bool
	// Shown limits [Scanned.WhyNot], which describes a file only if the file matches this filter. nil means no limit.
	Shown sheaf.Filter
	// HideComments says that the caller may not see comments.
	HideComments bool
	// Limits bounds the candidates, their chunks and the memory. Vectors asks for vectors of the best candidates.
	Limits  profile.Scan
	Vectors bool
}

// Scanned is the result of a scan.
type Scanned struct {
	Backend store.Backend
	Facts   rank.Facts
	// Text returns the indexed text of a chunk.
	Text func(id sheaf.ID) (string, error)
	// Catalog returns a catalog of the candidates in docs, or of all candidates if docs is empty.
	Catalog func(docs ...sheaf.ID) (*catalog.View, error)
	ScanCounts
	// Notes and Warnings are for the result of the search. Took has the duration of each step.
	Notes, Warnings []string
	Took            []Timing
	// WhyNot returns the reason why a document is not a candidate, or "" if the document is a candidate. It returns
	// sheaf.ErrNotFound for a file that does not exist or that the caller may not see.
	WhyNot func(doc sheaf.ID) (string, error)
}

// ScanCounts counts what a scan examined.
type ScanCounts struct {
	// Files is the number of files that the scan examined. Matched is the number of these files that have one of the texts
	// to search for. Candidates is the number of matched files in the store, and Chunks is the number of their chunks.
	Files, Matched, Candidates, Chunks int
}

// scan finds candidates in files. The search then uses these candidates instead of a store.
func (r *run) scan(ctx context.Context, plan *profile.Plan) error {
	words := r.query.Words
	if words == nil && (r.opt.Order != nil || len(r.opt.Facets) > 0) {
		words = everything
	}
	req := ScanRequest{
		Queries: append([]string{r.query.Text}, r.expansion.Queries...),
		Terms:   slices.Concat(r.expansion.Terms, r.opt.Terms),
		Words:   words, Answering: r.answering(plan), Filter: r.query.Filter, Limits: *plan.Scan,
		Vectors: r.vector != nil,
	}
	scanned, err := r.searcher.Scanner.Scan(ctx, req)
	if err != nil {
		return err
	}
	for _, t := range scanned.Took {
		r.result.Took = append(r.result.Took, Timing{"scan: " + t.Step, t.Duration})
	}
	for _, n := range scanned.Notes {
		r.note("%s", n)
	}
	for _, w := range scanned.Warnings {
		r.warn("%s", w)
	}
	// a copy, because several searches may share a searcher
	s := *r.searcher
	s.Backend, s.Facts, s.Text = scanned.Backend, scanned.Facts, scanned.Text
	r.searcher, r.stats.searcher, r.facts, r.result.Scanned = &s, &s, scanned.Facts, scanned
	return nil
}

// answering returns requests for chunks that may be an answer; each such chunk matches at least one request. If the
// query has no forbidden words, or if any chunk may be an answer, it returns nil.
func (r *run) answering(plan *profile.Plan) []store.TextRequest {
	if len(sheaf.Forbidden(r.query.Words)) == 0 {
		return nil
	}
	out := []store.TextRequest{*r.matches(plan).Text}
	for _, ph := range phases(plan) {
		for i := range ph.Branches {
			b := &ph.Branches[i]
			switch {
			case b.Text != nil:
				out = append(out, *textRequest(b.Text, r.query.Words))
			case b.Weight > 0 && r.vector != nil:
				condition := required(r.query.Words)
				if condition == nil {
					return nil
				}
				out = append(out, requirement(condition))
			}
		}
	}
	return out
}
