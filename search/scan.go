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

// Scanner finds the candidates of a query in the files themselves. It is safe
// for concurrent use.
type Scanner interface {
	// Scan looks for the queries, terms and words of req in files, and makes
	// of the best of them a store that answers req.Words, and requests by
	// vector, for as long as the query lasts.
	Scan(ctx context.Context, req ScanRequest) (*Scanned, error)
}

// ScanRequest says what is looked for, and how much of it.
type ScanRequest struct {
	// Queries are looked for as a whole and word by word: the person's own
	// and, when it was expanded, others. Terms are looked for as they are.
	// They decide what is a candidate and nothing else.
	Queries, Terms []string
	// Words are what will be scored; nil for none.
	Words sheaf.TextQuery
	// Answering are what words will be asked, when Words leave something out: a file
	// that holds it, and of which none of them finds a chunk, takes no place among
	// the candidates. None says that every file may answer.
	Answering []store.TextRequest
	// Filter bounds what may be a candidate; nil is no bound. Visible says
	// which documents there are for who asks: of others nothing is read or
	// counted; nil is all.
	Filter  sheaf.Filter
	Visible func(doc sheaf.ID) bool
	// Shown is what a file must pass as it is now for WhyNot to tell of it; nil
	// is no bound.
	Shown sheaf.Filter
	// HideComments says that comments are no text for who asks.
	HideComments bool
	// MaxFiles is the most candidates; ChunkChars is the most characters of a
	// chunk; MemoryBytes bounds what cut files and the index take together.
	MaxFiles    int
	ChunkChars  int
	MemoryBytes int64
	// Vectors asks for the vectors of chunks, of the first MaxVectors.
	Vectors    bool
	MaxVectors int
	// ListValues is the most values of one property that are searched.
	ListValues int
	// FrontmatterDepth is how deep values of frontmatter are searched: 1 and less leaves
	// out what lies in lists and maps within a property.
	FrontmatterDepth int
}

// Scanned is what a scan found.
type Scanned struct {
	Backend store.Backend
	Facts   rank.Facts
	// Text is the indexed text of a chunk.
	Text func(id sheaf.ID) (string, error)
	// Catalog makes a catalog of the named candidates, of all when none is
	// named.
	Catalog func(docs ...sheaf.ID) (*catalog.View, error)
	// Files is how many files were looked at, Matched how many hold some of
	// what was looked for, Candidates how many of those are in the store, with
	// Chunks chunks.
	Files, Matched, Candidates, Chunks int
	// Bytes is about how much memory all this takes.
	Bytes int64
	// Notes and Warnings are for the result, Took are the steps.
	Notes, Warnings []string
	Took            []Timing
	// WhyNot says why a document is not among the candidates; "" when it is. One
	// of which there is no file, or none that may be told of, is
	// sheaf.ErrNotFound.
	WhyNot func(doc sheaf.ID) (string, error)
}

// scan finds the candidates of the query when the profile wants them from the
// files, and searches them from then on.
func (r *run) scan(ctx context.Context, plan *profile.Plan) error {
	if plan.Scan == nil {
		return nil
	}
	words := r.query.Words
	if words == nil && (r.opt.Order != nil || len(r.opt.Facets) > 0) {
		words = everything
	}
	req := ScanRequest{
		Queries: append([]string{r.query.Text}, r.expansion.Queries...), Terms: append(r.expansion.Terms, r.opt.Terms...),
		Words: words, Answering: r.answering(plan), Filter: r.query.Filter, MaxFiles: plan.Scan.Files,
		ChunkChars: plan.Scan.ChunkChars, MemoryBytes: plan.Scan.MemoryBytes, Vectors: r.vector != nil,
		MaxVectors: plan.Scan.MaxVectors, ListValues: plan.Scan.ListValues, FrontmatterDepth: plan.Scan.FrontmatterDepth,
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
	// A copy, so that a searcher may be used by several searches at once.
	s := *r.searcher
	s.Backend, s.Facts, s.Text = scanned.Backend, scanned.Facts, scanned.Text
	r.searcher, r.stats.searcher, r.facts, r.result.Scanned = &s, &s, newFacts(scanned.Facts), scanned
	return nil
}

// answering are the requests one of which finds each chunk that may be an answer; nil
// when words leave nothing out, or when any chunk may be one.
func (r *run) answering(plan *profile.Plan) []store.TextRequest {
	if !leavesOut(r.query.Words) {
		return nil
	}
	out := []store.TextRequest{*r.matches(plan).Text}
	for _, ph := range []*profile.Phase{plan.Candidates, &plan.Main} {
		if ph == nil {
			continue
		}
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

// leavesOut reports whether a query forbids something.
func leavesOut(q sheaf.TextQuery) bool {
	switch q := q.(type) {
	case sheaf.Boost:
		return leavesOut(q.Query)
	case sheaf.Bool:
		return len(q.MustNot) > 0 || slices.ContainsFunc(q.Must, leavesOut) || slices.ContainsFunc(q.Should, leavesOut)
	}
	return false
}
