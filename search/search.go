// Package search answers a query. A [Searcher] runs a ranking profile on a store. The branches of the profile search in
// parallel under one deadline, by words or by vector. Stages change the ranking of each branch. The fusion joins these
// rankings, the legs, into one ranking, which further stages change. A profile may have two such phases; the second
// searches only what the first found. At the end, the Searcher looks up titles and paths of the hits.
//
// A branch that fails does not fail the search: the other branches answer, and the result says what is missing. The
// same query on the same index gives exactly the same result.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/internal/distinct"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Searcher runs profiles on one store. It is safe for concurrent use while its fields do not change.
type Searcher struct {
	// Backend finds chunks. Store is the name of Backend in warnings and errors; "" means "the store".
	Backend store.Backend
	Store   string
	// Facts know the documents. The search drops hits of documents that Facts do not know. If Facts are a snapshot of a
	// catalog, this snapshot must be as new as the store's state, or newer. If Facts have a method Err() error that
	// returns an error, the result is degraded.
	Facts rank.Facts
	// Shared says that other programs may write to the store. If the store then returns hits that Facts do not know, the
	// result has a note.
	Shared bool
	// Embed returns a vector for each text of a query, in order. A vector has unit length and the dimension of the index.
	// With an error, Embed may return the vectors of some texts, and nil for the others. When Embed is nil, no model is
	// configured and branches that need vectors are skipped. After SetModel, only SetEmbed may change Embed.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
	// Analyzer is the store's analyzer, which splits a query into terms. If it is nil, white space separates terms.
	Analyzer *analysis.Analyzer
	// Confidence returns the calibration for a profile. If the function is nil or returns nil, results have no confidence.
	// If a query changes parameters, the search does not call the function, because the calibration would not fit.
	Confidence func(p *profile.Profile) *Calibration
	localModel
	Models
	// Text returns the text of a chunk, for Rerank and for spelling suggestions: see [TextOf].
	Text func(id sheaf.ID) (string, error)
	// Scanner finds candidates in files, for profiles with a scan. These profiles do not need Backend and Facts.
	Scanner Scanner
	// Now returns the current time, from which ages are computed; nil is time.Now.
	Now func() time.Time
}

// Models are models that some profiles use besides the embedding model.
type Models struct {
	// Rerank returns a score for each text, higher for a better answer to the query. If it is nil, no such model is
	// configured, and profiles skip the stage rerank.
	Rerank func(ctx context.Context, query string, texts []string) ([]float64, error)
	// Expander finds other wordings of queries with a chat model. If it is nil, searches use only the query itself.
	Expander *Expander
}

// Options are the options of one search.
type Options struct {
	// Parameters set parameters of the profile. Plan, if not nil, is the profile's plan for these parameters and the
	// query's limit.
	Parameters map[string]string
	Plan       *profile.Plan
	// Terms are additional words from the caller. They score like the words of the query.
	Terms []string
	// Explain adds an explanation of its score to every hit.
	Explain bool
	// Evidence adds the evidence for confidence to every hit, even without a calibration.
	Evidence bool
	// Trace records the ranking after every step.
	Trace bool
	// Order, if not nil, sorts all chunks that match the words and filters by a column instead of by score. No branch or
	// stage runs. An empty query then matches every chunk.
	Order *store.Order
	// Facets are names of columns. The result counts their values over all chunks that match the words and filters.
	// Count asks for the number of these chunks.
	Facets []string
	Count  bool
	// Scope is a part of the query's filter that the user did not write, for example the current folder. Result.Unmet
	// describes what is missing within Scope.
	Scope sheaf.Filter
}

// Result is the answer to a query.
type Result struct {
	// Profile is the name of the profile. Parameters are the values of its parameters in this search.
	Profile    string
	Parameters map[string]string
	// Hits are the results, best first. There are at most as many as the query's limit.
	Hits []Hit
	// Total is the number of distinct chunks that the branches retrieved, before any stage dropped some. Branches
	// have limits, so more chunks may match.
	Total int
	// More says that a branch or a step reached its limit. A larger limit may find more.
	More bool
	// Facets are the counts of Options.Facets, each with at most 100 values.
	Facets []store.Facet
	// Matches is the number of chunks that the words and filters match, if Options.Count is set. It is nil for an empty
	// query without Options.Order.
	Matches *int
	// Answerable is false if no result is likely to answer the query: see [Calibration.Answerable]. It is nil without a
	// calibration, and for a query without words, such as a filter.
	Answerable *bool
	// Legs are the names of the fused branches, in the order of Hit.Legs.
	Legs []string
	// Expansion is what a chat model returned for the query. Scanned is the result of a scan. Each is nil if the
	// profile does not use it.
	Expansion *Expansion
	Scanned   *Scanned
	Report
}

// Report describes how a search ran.
type Report struct {
	// Degraded says that a step, such as a branch, failed and the search went on. Warnings say which step and why.
	Degraded bool
	Warnings []string
	// Notes are messages that report no fault, for example how the query was read or which branches were skipped.
	Notes []string
	// Short says that a part of the result is missing, for example an explanation, because an optional step failed. The
	// hits are not affected. If the search is repeated, this step may succeed.
	Short bool
	// Bare maps each warning or note that quotes an error to its public text: the same text without the error. Errors
	// may name machines, accounts and files.
	Bare map[string]string
	// Unmet explains an empty or unlikely answer. It lists filter values that no document has, with existing values
	// of the same property, tag, extension or path. It lists words that no chunk has, with similar words. It names a
	// property that was searched instead of a word. It names a store with documents that the facts do not know.
	Unmet []string
	// Took is the time of every step, in the order of the search.
	Took []Timing
	// Trace is the ranking after every step, if Options.Trace is set.
	Trace []Snapshot
}

// Timing is the duration of one step.
type Timing struct {
	Step     string
	Duration time.Duration
}

// Snapshot is the ranking after one step of the search.
type Snapshot struct {
	// Branch is the branch of the step, "" after the fusion.
	Branch string
	// First says that the step belongs to the first of two phases.
	First bool
	// Step is the stage in the syntax of profiles, or "retrieve" for the ranking that a branch retrieved.
	Step    string
	Ranking sheaf.Ranking
	// Notes are the notes that the search added between the previous snapshot and this one.
	Notes []string
}

// Hit is one result, with what a reader needs to know about it.
type Hit struct {
	Rank int // from 1
	Location
	// Score orders the hits. It is not a probability.
	Score float64
	// Confidence is the probability, within 0..1, that this result is right. It is nil without a calibration. Level is
	// Confidence in one word, or "". Evidence is the input for both.
	Confidence *float64
	Level      Level
	Evidence   *Evidence
	// Legs has the rank and the raw score of the hit in each branch, in the order of Result.Legs. If a branch did not
	// find the hit, Rank is 0.
	Legs []sheaf.Leg
	// ByMeaning says that a branch found the hit by meaning. Passage is then the number, from 0, of the passage that
	// matched best. For other hits, Passage is 0.
	Passage   int
	ByMeaning bool
	// Constituents are the chunks that were merged into this answer, best first.
	Constituents []Constituent
	Explanation  *sheaf.Explanation
}

// Location is the chunk or document of a hit, with its position.
type Location struct {
	ID    sheaf.ID
	Doc   sheaf.ID
	Title string
	// Hierarchy has the titles from the document down. Breadcrumb is these titles as one line for display.
	Hierarchy  []string
	Breadcrumb string
	// Path is the path of the document, relative to its tree's folder.
	Path string
	// Span covers the whole result, and Body the part before its sub-headings. Both are in bytes of the file.
	Span  sheaf.Span
	Body  sheaf.Span
	Depth int
	// Tags are the tags of the chunk and of its document.
	Tags []string
}

// Constituent is a chunk that was merged into an answer.
type Constituent struct {
	ID    sheaf.ID
	Title string
	Span  sheaf.Span
	Score float64
}

// Search answers q with profile p. It returns sheaf.ErrInvalid for wrong parameters, and sheaf.ErrUnsupported if the
// store or the searcher lacks what the profile needs. If every branch fails, the error wraps sheaf.ErrUnavailable and
// the errors of the branches. A canceled context ends the search with the context's error.
func (s *Searcher) Search(ctx context.Context, q sheaf.Query, p *profile.Profile, opt Options) (*Result, error) {
	r, err := s.run(ctx, q, p, opt)
	if err != nil {
		return nil, err
	}
	return r.result, nil
}

// run answers q and returns the state of the search after its end.
func (s *Searcher) run(ctx context.Context, q sheaf.Query, p *profile.Profile, opt Options) (*run, error) {
	if p == nil {
		return nil, sheaf.Invalidf("search: a profile is needed")
	}
	if (s.Backend == nil || s.Facts == nil) && !p.Scans() {
		return nil, sheaf.Invalidf("search: a store and facts about its documents are needed")
	}
	plan := opt.Plan
	if plan == nil {
		var err error
		if plan, err = p.Plan(q.Limit, opt.Parameters); err != nil {
			return nil, err
		}
	}
	if err := s.Check(plan); err != nil && (opt.Order == nil || plan.Scan != nil) { // an order needs no branches
		return nil, err
	}
	// Requests to models and stores end when a tenth of the time is left. So a late branch fails, and the answer still has
	// the results of the other branches.
	retrieval := ctx
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		retrieval, cancel = context.WithDeadline(ctx, end.Add(-time.Until(end)/10))
		defer cancel()
	}
	r := s.newRun(q, opt, plan)
	err := r.follow(retrieval)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	if !r.likely() {
		if r, err = r.byProperty(retrieval); err != nil {
			return nil, err
		}
		if r, err = r.retryHyphenated(retrieval); err != nil {
			return nil, err
		}
	}
	if opt.Count {
		if err := r.countMatches(ctx); err != nil {
			return nil, err
		}
	}
	if !r.likely() {
		r.unmet(retrieval)
		r.misspelt(retrieval)
	}
	return r, nil
}

// likely reports whether a result is likely to answer the query. A misspelled word may look like a foreign word, so no
// result is likely for a query that looks foreign.
func (r *run) likely() bool {
	foreign := r.judged != nil && r.judged.foreign
	return len(r.result.Hits) > 0 && !foreign && (r.result.Answerable == nil || *r.result.Answerable)
}

// canceled returns the error of ctx if the caller canceled the search. If only the time is over, it returns nil.
func canceled(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

func (s *Searcher) newRun(q sheaf.Query, opt Options, plan *profile.Plan) *run {
	r := &run{searcher: s, asked: q, query: q, opt: opt, followed: plan, stats: stats{searcher: s}}
	r.facts = nodeCache{s.Facts, map[sheaf.ID]*sheaf.Node{}}
	r.noted, r.result = len(q.Notes), &Result{
		Profile: plan.Profile.Name, Parameters: maps.Clone(plan.Values), Hits: []Hit{},
		Report: Report{Notes: slices.Clone(q.Notes)},
	}
	if err := plan.CheckLimit(q.Limit); err != nil && opt.Order == nil {
		why := strings.TrimPrefix(err.Error(), sheaf.ErrInvalid.Error()+": ")
		r.note("there can be fewer results than asked for: %s", why)
	}
	if s.Confidence == nil || meaning(q) == "" { // a query of filters alone needs no confidence
		return r
	}
	if len(opt.Parameters) > 0 { // the calibration does not fit changed parameters
		usual, err := plan.Profile.Plan(plan.Limit, nil)
		if err != nil || !maps.Equal(plan.Values, usual.Values) {
			return r
		}
	}
	r.confidence = s.Confidence(plan.Profile)
	return r
}

// run is the state of one search.
type run struct {
	searcher *Searcher
	// asked is the query of the caller. query is asked with the changes of a chat model and with the caller's extra words.
	asked, query sheaf.Query
	opt          Options
	followed     *profile.Plan
	facts        rank.Facts
	stats        stats
	report
	sense
	certainty
	// lookup is the request of the first branch that searches by words.
	lookup *store.Request
}

// report collects messages, and errors that do not end the search.
type report struct {
	result   *Result
	failures []error
	noted    int // how many of the result's notes the trace already has
	// refused has the hits with a forbidden word in their sub-sections. WhyNot names this reason.
	refused map[sheaf.ID]bool
	// windows has, by branch of the main phase, the number of hits that the branch itself retrieved. It is nil unless
	// Options.Trace is set.
	windows map[string]int
}

// sense has the vector of the query and what a search by meaning found.
type sense struct {
	expansion Expansion
	vector    []float32   // of the query
	invented  [][]float32 // of the texts that a model invented
	// similarity has the best cosine of each hit that a branch found by vector. It is nil before a branch answers.
	similarity map[sheaf.ID]float64
}

// certainty holds what the search needs to compute the confidence in its results.
type certainty struct {
	confidence *Calibration  // nil: no calibration
	judged     *judgingInput // nil when no evidence is wanted
}

// follow runs the plan of the search.
func (r *run) follow(ctx context.Context) error {
	plan := r.followed
	if plan.Expand != nil && strings.TrimSpace(r.query.Text) != "" {
		r.expand(ctx, plan)
	}
	if r.opt.Order == nil {
		if err := r.embed(ctx, plan); err != nil {
			return err
		}
	} else if m, ok := r.query.Words.(sheaf.Match); ok && strings.TrimSpace(m.Text) == "" {
		r.query.Words = nil
	}
	if len(r.expansion.Terms)+len(r.opt.Terms) > 0 {
		r.words()
	}
	if plan.Scan != nil {
		if err := r.scan(ctx, plan); err != nil {
			return err
		}
	}
	if len(r.opt.Facets) > 0 {
		if err := r.count(ctx, plan); err != nil {
			return err
		}
	}
	var ranking sheaf.Ranking
	var within []sheaf.ID
	var err error
	if r.opt.Order != nil {
		ranking, err = r.byColumn(ctx, plan)
	} else {
		if plan.Candidates != nil {
			if within, err = r.firstPhase(ctx, plan.Candidates); err != nil {
				return err
			}
		}
		ranking, err = r.phase(ctx, &plan.Main, lane{}, within)
	}
	if err != nil {
		return err
	}
	r.finish(ranking[:min(r.query.Limit, len(ranking))])
	if f, ok := r.searcher.Facts.(interface{ Err() error }); ok && f.Err() != nil {
		r.noteFailure("reading documents", fmt.Errorf("cannot read some documents: %w", f.Err()))
	}
	return nil
}

// firstPhase runs the first of two phases. It returns the IDs of its hits; the second phase searches only these chunks.
func (r *run) firstPhase(ctx context.Context, ph *profile.Phase) ([]sheaf.ID, error) {
	first, err := r.phase(ctx, ph, lane{first: true}, nil)
	if err != nil {
		return nil, err
	}
	if len(first) >= ph.Limit {
		first, r.result.More = first[:ph.Limit], true
	}
	r.trace(lane{first: true}, fmt.Sprintf("limit: %d", ph.Limit), first)
	within := []sheaf.ID{}
	for i := range first {
		within = append(within, first[i].ID)
	}
	return within, nil
}

// embed computes the vector of the query if a branch needs it.
func (r *run) embed(ctx context.Context, plan *profile.Plan) error {
	text := meaning(r.query)
	if !NeedsVectors(plan) || text == "" {
		return nil
	}
	if r.searcher.Embed == nil {
		r.note("searched by words only: no embedding model is in use")
		return nil
	}
	start := clock()
	vector, err := r.queryVector(ctx, text)
	r.took("embed", start)
	if canceled(ctx) != nil {
		return ctx.Err()
	}
	if err != nil {
		r.noteFailure("embedding the query", fmt.Errorf("embed the query: %w", err))
		return nil
	}
	if len(vector) == 0 {
		r.note("searched by words only: the model knows none of them")
		return nil
	}
	r.vector = vector
	if plan.Expand != nil && plan.Expand.Passage {
		r.embedInvented(ctx)
	}
	return canceled(ctx)
}

// embedInvented computes the vectors of the expansion (passage and other wordings) in one request to the model.
func (r *run) embedInvented(ctx context.Context) {
	texts := slices.Clone(r.expansion.Queries)
	if r.expansion.Passage != "" {
		texts = append(texts, r.expansion.Passage)
	}
	if len(texts) == 0 {
		return
	}
	vectors, err := r.searcher.vectorsOf(ctx, texts)
	r.invented = slices.DeleteFunc(vectors, func(v []float32) bool { return v == nil })
	if err != nil {
		r.noteFailure("embedding the expanded query", fmt.Errorf("embed the expanded query: %w", err))
	}
}

// note adds a note to the result, unless the result already has it.
func (r *run) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.result.Notes, text) {
		r.result.Notes = append(r.result.Notes, text)
	}
}

// short sets [Report].Short if err is temporary. err may be nil.
func (r *run) short(err error) {
	r.result.Short = r.result.Short || err != nil && !errors.Is(err, sheaf.ErrUnsupported)
}

func (r *run) warn(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	r.failures = append(r.failures, err)
	r.result.Warn(err.Error(), err.Error())
}

// noteFailure adds a warning about an error that does not end the search. The parameter what names the failed step. The
// warning has the text of err, but its public text names only the step.
func (r *run) noteFailure(what string, err error) {
	r.failures = append(r.failures, err)
	r.result.Warn(err.Error(), what+" failed")
}

// Warn adds a warning about an error that does not end the search. bare is the warning's public text.
func (r *Report) Warn(text, bare string) {
	r.Degraded, r.Warnings = true, append(r.Warnings, text)
	r.bare(text, bare)
}

// bare records the public text of a message if it differs from the message.
func (r *Report) bare(text, bare string) {
	if text == bare {
		return
	}
	if r.Bare == nil {
		r.Bare = map[string]string{}
	}
	r.Bare[text] = bare
}

// clock returns the current time for timings of steps. Tests replace it.
var clock = time.Now

// took records the duration of a step that began at since. It returns the time at which the step ended.
func (r *run) took(step string, since time.Time) time.Time {
	now := clock()
	r.result.Took = append(r.result.Took, Timing{step, now.Sub(since)})
	return now
}

func (r *run) trace(at lane, step string, ranking sheaf.Ranking) {
	if r.opt.Trace {
		notes := slices.Clone(r.result.Notes[r.noted:])
		r.noted = len(r.result.Notes)
		r.result.Trace = append(r.result.Trace, Snapshot{at.branch, at.first, step, ranking, notes})
	}
}

// lane says where in the pipeline a step is: in a branch or after the fusion, and in which phase.
type lane struct {
	branch string
	first  bool // the first of two phases
}

// String returns the name of the lane, as timings and errors show it.
func (l lane) String() string {
	name := l.branch
	if l.first {
		name = strings.TrimSuffix("first phase: "+name, ": ")
	}
	return name
}

// step returns the name of a step with the lane's name before it, as in "first phase: fuse".
func (l lane) step(name string) string {
	if where := l.String(); where != "" {
		return where + ": " + name
	}
	return name
}

// finish looks up what a reader needs to know about the final hits, such as titles and paths.
func (r *run) finish(ranking sheaf.Ranking) {
	start := clock()
	r.result.Hits = make([]Hit, 0, len(ranking))
	for i := range ranking {
		h := &ranking[i]
		c, _ := Part(r.facts, h.ID)
		hit := Hit{
			Rank: i + 1, Score: h.Score, Legs: h.Legs, Passage: h.Passage, Explanation: h.Explanation,
			Location: Location{ID: h.ID, Doc: c.Doc, Title: c.Title, Hierarchy: c.Hierarchy, Breadcrumb: c.Breadcrumb(),
				Span: c.Span, Body: c.Body, Depth: c.Depth},
		}
		_, hit.ByMeaning = r.similarity[h.ID]
		var tags distinct.List[string]
		for _, t := range c.Tags {
			tags.Add(t)
		}
		if d, ok := r.facts.Document(c.Doc); ok {
			hit.Path = d.Path
			for _, t := range d.Tags {
				tags.Add(t)
			}
		}
		hit.Tags = tags.Values
		for _, inside := range h.Constituents {
			if c, ok := r.facts.Chunk(inside.ID); ok {
				hit.Constituents = append(hit.Constituents, Constituent{inside.ID, c.Title, c.Span, inside.Score})
			}
		}
		r.result.Hits = append(r.result.Hits, hit)
	}
	r.judge(ranking)
	r.took("look up", start)
}

// Part returns the chunk with this ID, or false for an unknown ID. For a document of pieces, Part returns one chunk
// that covers all of it: see [sheaf.Document.Part].
func Part(facts rank.Facts, id sheaf.ID) (sheaf.Chunk, bool) {
	if c, ok := facts.Chunk(id); ok {
		return c, true
	}
	if d, ok := facts.Document(id); ok {
		if c := d.Part(id); c != nil {
			return *c, true
		}
	}
	return sheaf.Chunk{}, false
}

// nodeCache caches the nodes of one search, because stages look up the same hits. It is not safe for concurrent use.
type nodeCache struct {
	rank.Facts
	nodes map[sheaf.ID]*sheaf.Node
}

func (c nodeCache) Node(id sheaf.ID) *sheaf.Node {
	n, ok := c.nodes[id]
	if !ok {
		n = c.Facts.Node(id)
		c.nodes[id] = n
	}
	return n
}
