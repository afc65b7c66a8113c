// Package search answers the question "what is the answer to this query?". A
// [Searcher] runs a ranking profile on a store: the branches together under
// one deadline, their stages, the fusion, the final stages; then it looks up
// what a reader needs to know of the few hits that are left.
//
// A branch that fails does not fail the search: the others answer, and the
// result says what is missing. The same query on the same index gives the same
// result, to the last bit.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sheaf"
	"sheaf/internal/distinct"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Searcher runs profiles on one store. It is safe for concurrent use; its
// fields must not change while it is used.
type Searcher struct {
	// Backend finds chunks. Store names it in warnings and errors; "" is
	// "the store".
	Backend store.Backend
	Store   string
	// Facts know the documents; hits that they do not know are dropped. Of a
	// catalog, it is a snapshot as old as the store's state or newer. When it
	// has a method Err() error, the fault that it tells degrades the result.
	Facts rank.Facts
	// Shared says that others may write to the backend: an answer then notes that hits were left out
	// because Facts do not know them.
	Shared bool
	// Embed gives the vector of a query, of unit length and of the dimension
	// of the index. Nil when no model is configured: branches that need
	// vectors are left out then.
	Embed func(ctx context.Context, text string) ([]float32, error)
	// Analyzer is that of the store, which says what the terms of a query
	// are; nil takes what white space separates.
	Analyzer *analysis.Analyzer
	// Confidence gives what tells how sure the answers of a profile are, by
	// their evidence; nil, or a nil answer, says nothing of it. It is not asked
	// where a query sets parameters to other values: what was learned is of answers
	// without them.
	Confidence func(p *profile.Profile) *Calibration
	model      string // that of SetModel
	// alike says that the model of SetModel could not weigh words by how rare they are;
	// nil for another.
	alike *atomic.Bool
	// foreign reports whether a query is in another language than the collection; nil when
	// that is not known.
	foreign func(text string) bool
	// Rerank gives each of texts a number, larger for a better answer to the
	// query. Nil when no such model is configured: profiles that rerank go
	// on without.
	Rerank func(ctx context.Context, query string, texts []string) ([]float64, error)
	// Text is the text of a chunk, for Rerank and for suggestions to read: see [TextOf].
	Text func(id sheaf.ID) (string, error)
	// Scanner finds candidates in files, for profiles that want that; Backend
	// and Facts may be nil for those. Expander puts queries in other words;
	// nil when no chat model is configured: a query stands for itself then.
	Scanner  Scanner
	Expander *Expander
	// Now is the clock that ages are measured by; nil is time.Now.
	Now func() time.Time
}

// Options are what one search may ask for.
type Options struct {
	// Parameters set parameters of the profile. Plan, unless nil, is the profile's plan for them
	// and the query's limit.
	Parameters map[string]string
	Plan       *profile.Plan
	// Terms are further words of the person's own, which score like those of
	// the query.
	Terms []string
	// Explain gives every hit an explanation of its score.
	Explain bool
	// Evidence gives every hit its evidence, confidence or not.
	Evidence bool
	// Trace keeps the ranking after every step.
	Trace bool
	// Order, when not nil, puts what the query's words and filters match in the
	// order of a column instead of ranking it; the profile says
	// how words are scored, its other steps do not run. A query of nothing matches
	// everything then.
	Order *store.Order
	// Facets are the columns by whose values everything that the words and
	// filters match is counted; Count asks for their number.
	Facets []string
	Count  bool
	// Scope is the part of the query's filter that nobody wrote, as the folder that a person
	// is in: Result.Unmet is what nothing has there.
	Scope sheaf.Filter
	// Timeout bounds embedding and retrieval; what has not answered by then
	// counts as failed. 0 is no bound but that of the context.
	Timeout time.Duration
}

// Result is the answer to a query.
type Result struct {
	// Profile is the name of the profile, Parameters its values in force.
	Profile    string
	Parameters map[string]string
	// Hits are best first, at most the query's limit.
	Hits []Hit
	// Total is the number of distinct chunks that the branches found, before
	// any stage. Branches retrieve a bounded number, so more may match.
	Total int
	// More says that a branch retrieved, or a step kept, as many as it may, so that a larger
	// limit may find others.
	More bool
	// Facets are those of Options.Facets, each with at most 100 values.
	Facets []store.Facet
	// Matches is how many chunks the words and filters match, where Options.Count asked for
	// it: none for a query of nothing, unless that is ordered.
	Matches *int
	// Answerable is false when nothing found is likely to answer the query,
	// an empty result included, by [Calibration.Answerable]; nil when the searcher has no
	// calibration, and for a query without words, such as one of filters alone.
	Answerable *bool
	// Degraded says that a branch failed and the answer is that of the
	// others; Warnings say which and why.
	Degraded bool
	Warnings []string
	// Notes say what a reader may want to know and what is no fault: how
	// the query was read, which branches were left out.
	Notes []string
	// Short says that something failed which takes nothing from the hits, such as explaining
	// them: who asks again may be told more.
	Short bool
	// Bare has those of the warnings and notes that hold the words of what failed, which
	// may name machines, accounts and files, without these.
	Bare map[string]string
	// Unmet say, when nothing was found, which values that the query's filter wants nothing
	// has, and which values there are; of filters that ask for a value of a property, a tag,
	// an extension, a folder or a file's name. They also say which words of the query no chunk
	// has, with words that are spelt like them, or the property of that name that was looked for.
	Unmet []string
	// Legs are the names of the branches that were fused, in the order of
	// Hit.Legs.
	Legs []string
	// Took is the time of every step, in the order in which they ended
	// being waited for.
	Took []Timing
	// Trace is the ranking after every step, when asked for.
	Trace []Snapshot
	// Expansion is what a chat model made of the query, Scanned what was
	// found in files; nil when the profile wants none of it.
	Expansion *Expansion
	Scanned   *Scanned
}

// Timing is how long a step took.
type Timing struct {
	Step     string
	Duration time.Duration
}

// Snapshot is the ranking after a step.
type Snapshot struct {
	// Branch is the branch that the step belongs to, "" after the fusion.
	Branch string
	// First says that the step belongs to the first of two phases.
	First bool
	// Step is the stage as the profile writes it, "retrieve" for what a
	// branch retrieved.
	Step    string
	Ranking sheaf.Ranking
	// Notes are those that the search made since the snapshot before.
	Notes []string
}

// Hit is one answer with what a reader needs to know of it.
type Hit struct {
	Rank  int // from 1
	ID    sheaf.ID
	Doc   sheaf.ID
	Title string
	// Hierarchy is the titles from the document down; Breadcrumb shows them.
	Hierarchy  []string
	Breadcrumb string
	// Path is the document's, relative to its tree's folder.
	Path string
	// Span is everything the answer is, Body its own part without what lies
	// under sub-headings, both in bytes of the file.
	Span  sheaf.Span
	Body  sheaf.Span
	Depth int
	// Tags are the chunk's and its document's.
	Tags []string
	// Score orders the hits; it does not say how sure the answer is.
	Score float64
	// Confidence is the probability, within 0..1, that this result is right; nil when the
	// searcher has no calibration. Level is its range, "" without it. Evidence is what they
	// were computed from.
	Confidence *float64
	Level      Level
	Evidence   *Evidence
	// Legs are rank and raw score in each of Result.Legs; Rank 0 where the
	// branch did not find it.
	Legs []sheaf.Leg
	// Passage is the passage of the best match, when ByMeaning says that a
	// branch that searches meaning found the hit.
	Passage   int
	ByMeaning bool
	// Constituents are the chunks that the answer stands for, best first.
	Constituents []Constituent
	Explanation  *sheaf.Explanation
}

// Constituent is a chunk that an answer stands for.
type Constituent struct {
	ID    sheaf.ID
	Title string
	Span  sheaf.Span
	Score float64
}

// Search answers q with profile p. Wrong parameters are sheaf.ErrInvalid, a
// profile that needs what the store or this searcher lacks is
// sheaf.ErrUnsupported, and when every branch fails the error wraps
// sheaf.ErrUnavailable and those of the branches. A canceled context ends the
// search with the context's error.
func (s *Searcher) Search(ctx context.Context, q sheaf.Query, p *profile.Profile, opt Options) (*Result, error) {
	r, err := s.run(ctx, q, p, opt)
	if err != nil {
		return nil, err
	}
	return r.result, nil
}

// run answers q and keeps what it was answered with.
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
	retrieval := ctx
	if opt.Timeout > 0 {
		var cancel context.CancelFunc
		retrieval, cancel = context.WithTimeout(ctx, opt.Timeout)
		defer cancel()
	}
	r := s.newRun(q, opt, plan)
	if err := r.follow(ctx, retrieval); err != nil {
		return nil, err
	}
	r, err := r.byProperty(ctx, retrieval, q)
	if err != nil {
		return nil, err
	}
	if r, err = r.broken(ctx, retrieval, q); err != nil {
		return nil, err
	}
	if err := r.countMatches(ctx); err != nil {
		return nil, err
	}
	r.unmet(retrieval)
	r.misspelt(retrieval)
	return r, nil
}

// newRun is a search by a plan, which is followed once.
func (s *Searcher) newRun(q sheaf.Query, opt Options, plan *profile.Plan) *run {
	r := &run{searcher: s, query: q, opt: opt, followed: plan, facts: newFacts(s.Facts), stats: stats{searcher: s}}
	r.noted, r.result = len(q.Notes), &Result{
		Profile: plan.Profile.Name, Parameters: maps.Clone(plan.Values), Notes: slices.Clone(q.Notes), Hits: []Hit{},
	}
	if err := plan.CheckLimit(q.Limit); err != nil && opt.Order == nil {
		why := strings.TrimPrefix(err.Error(), sheaf.ErrInvalid.Error()+": ")
		r.note("there can be fewer results than asked for: %s", why)
	}
	if meaning(q) != "" { // filters alone list what they name: nothing is unsure
		r.confidence, r.alternatives = r.calibration(plan), alternatives(q.Words)
	}
	return r
}

// follow answers the query by the plan.
func (r *run) follow(ctx, retrieval context.Context) error {
	ranking, err := r.plan(ctx, retrieval, r.followed)
	if err != nil {
		return err
	}
	r.finish(ranking[:min(r.query.Limit, len(ranking))])
	if f, ok := r.searcher.Facts.(interface{ Err() error }); ok && f.Err() != nil {
		r.failed("reading facts about documents", fmt.Errorf("facts about documents are missing: %w", f.Err()))
	}
	return nil
}

// run is one search on its way.
type run struct {
	searcher *Searcher
	query    sheaf.Query
	opt      Options
	followed *profile.Plan
	facts    facts
	stats    stats
	report
	sense
	certainty
	// lookup is how the first branch of words looks for the words of the query.
	lookup *store.Request
}

// report is what a search tells, and the failures that it survives.
type report struct {
	result   *Result
	failures []error
	noted    int // notes that the snapshots so far have
	// windows are how many hits each branch of the main phase retrieved, before those that others found were looked
	// up in it; kept with a trace.
	windows map[string]int
}

// sense is what a search by meaning asks, and what it found.
type sense struct {
	expansion Expansion
	vector    []float32   // of the query
	invented  [][]float32 // of what a model made of the query
	// similarity is the best cosine of each hit of vector branches; nil before one answered.
	similarity map[sheaf.ID]float64
}

// certainty is how sure the answers are.
type certainty struct {
	confidence *Calibration // nil says nothing
	judged     *judged      // nil when the caller does not ask
	// alternatives are the parts of the query when it asks for any one of them.
	alternatives []sheaf.TextQuery
}

func (r *run) plan(ctx, retrieval context.Context, plan *profile.Plan) (sheaf.Ranking, error) {
	r.expand(retrieval, plan)
	if r.opt.Order == nil {
		if err := r.embed(ctx, retrieval, plan); err != nil {
			return nil, err
		}
	} else if m, ok := r.query.Words.(sheaf.Match); ok && strings.TrimSpace(m.Text) == "" {
		r.query.Words = nil
	}
	r.words()
	if err := r.scan(retrieval, plan); err != nil {
		return nil, err
	}
	if err := r.count(retrieval, plan); err != nil {
		return nil, err
	}
	if r.opt.Order != nil {
		return r.ordered(retrieval, plan)
	}
	var within []sheaf.ID
	if plan.Candidates != nil {
		first, err := r.phase(ctx, retrieval, plan.Candidates, lane{first: true}, nil)
		if err != nil {
			return nil, err
		}
		if most := plan.Candidates.Limit; len(first) >= most {
			first, r.result.More = first[:most], true
		}
		r.trace(lane{first: true}, fmt.Sprintf("limit: %d", plan.Candidates.Limit), first)
		within = []sheaf.ID{}
		for i := range first {
			within = append(within, first[i].ID)
		}
	}
	return r.phase(ctx, retrieval, &plan.Main, lane{}, within)
}

// embed finds the query's vector when a branch needs it.
func (r *run) embed(ctx, retrieval context.Context, plan *profile.Plan) error {
	text := meaning(r.query)
	if !needsVector(plan) || text == "" {
		return nil
	}
	if r.searcher.Embed == nil {
		r.note("searched by words only: no embedding model is in use")
		return nil
	}
	start, told := clock(), &tallied{}
	vector, err := r.searcher.vectorOf(context.WithValue(retrieval, talliedKey{}, told), text)
	r.took("embed", start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.failed("embedding the query", fmt.Errorf("embed the query: %w", err))
		return nil
	}
	if len(vector) == 0 {
		r.note("searched by words only: the model does not know these words")
		return nil
	}
	r.vector, r.stats.tallied = vector, told
	if alike := r.searcher.alike; alike != nil && alike.Load() {
		r.note("%s cannot count words: in the meaning of the query frequent ones weigh as much as rare ones",
			r.searcher.storeName())
	}
	if plan.Expand != nil && plan.Expand.Passage {
		r.embedInvented(ctx, retrieval)
	}
	return ctx.Err()
}

// embedInvented finds the vectors of the answer that a model invented, and of its other ways
// to put the query.
func (r *run) embedInvented(ctx, retrieval context.Context) {
	texts := slices.Clone(r.expansion.Queries)
	if r.expansion.Passage != "" {
		texts = append(texts, r.expansion.Passage)
	}
	vectors, errs := make([][]float32, len(texts)), make([]error, len(texts))
	store.Together(len(texts), func(i int) { vectors[i], errs[i] = r.searcher.vectorOf(retrieval, texts[i]) })
	r.invented = slices.DeleteFunc(vectors, func(v []float32) bool { return v == nil })
	if err := cmp.Or(errs...); err != nil && ctx.Err() == nil { // one tells enough
		r.failed("embedding the expanded query", fmt.Errorf("embed the expanded query: %w", err))
	}
}

// NeedsVectors reports whether a plan has a branch that searches by meaning and
// counts.
func NeedsVectors(plan *profile.Plan) bool { return needsVector(plan) }

func needsVector(plan *profile.Plan) bool {
	needs := func(b profile.Branch) bool { return b.Vector != nil && b.Weight > 0 }
	return slices.ContainsFunc(plan.Main.Branches, needs) ||
		plan.Candidates != nil && slices.ContainsFunc(plan.Candidates.Branches, needs)
}

// now is the time by the searcher's clock.
func (s *Searcher) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// env is what stages may know.
func (r *run) env() rank.Env {
	env := rank.Env{Facts: r.facts, Query: wording(r.query), Typed: r.query.Text, Now: r.searcher.now()}
	if r.similarity != nil {
		env.Similarity = func(id sheaf.ID) (float64, bool) {
			s, ok := r.similarity[id]
			return s, ok
		}
	}
	return env
}

func (r *run) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.result.Notes, text) {
		r.result.Notes = append(r.result.Notes, text)
	}
}

// noteFailed is note of a failure that takes nothing from the hits.
func (r *run) noteFailed(what string, err error) {
	r.short(err)
	text := fmt.Sprintf("%s: %v", what, err)
	r.result.bare(text, what)
	r.note("%s", text)
}

// short notes that the answer is [Result].Short if err, which may be nil, is one that may
// pass.
func (r *run) short(err error) {
	r.result.Short = r.result.Short || err != nil && !errors.Is(err, sheaf.ErrUnsupported)
}

// warn records a failure that the search survives.
func (r *run) warn(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	r.failures = append(r.failures, err)
	r.result.Warn(err.Error(), err.Error())
}

// failed records a failure that the search survives: what failed, and the error, which
// says so too.
func (r *run) failed(what string, err error) {
	r.failures = append(r.failures, err)
	r.result.Warn(err.Error(), what+" failed")
}

// Warn records a failure that the answer survives, also as bare says it.
func (r *Result) Warn(text, bare string) {
	r.Degraded, r.Warnings = true, append(r.Warnings, text)
	r.bare(text, bare)
}

// bare records a text in other words, unless they are the same.
func (r *Result) bare(text, bare string) {
	if text == bare {
		return
	}
	if r.Bare == nil {
		r.Bare = map[string]string{}
	}
	r.Bare[text] = bare
}

// clock is what steps are timed by.
var clock = time.Now

// took notes how long a step took, and returns when it ended.
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

// lane is where a step belongs.
type lane struct {
	branch string
	first  bool // the first of two phases
}

// String names the lane in timings and errors.
func (l lane) String() string {
	name := l.branch
	if l.first {
		name = strings.TrimSuffix("first phase: "+name, ": ")
	}
	return name
}

// step names a step of the lane.
func (l lane) step(name string) string {
	if where := l.String(); where != "" {
		return where + ": " + name
	}
	return name
}

// finish looks up what a reader needs to know of the final hits.
func (r *run) finish(ranking sheaf.Ranking) {
	start := clock()
	r.result.Hits = make([]Hit, 0, len(ranking))
	for i := range ranking {
		h := &ranking[i]
		c, _ := Part(r.facts, h.ID)
		hit := Hit{
			Rank: i + 1, ID: h.ID, Doc: c.Doc, Title: c.Title, Hierarchy: c.Hierarchy, Breadcrumb: c.Breadcrumb,
			Span: c.Span, Body: c.Body, Depth: c.Depth, Score: h.Score, Legs: h.Legs, Passage: h.Passage,
			Explanation: h.Explanation,
		}
		_, hit.ByMeaning = r.similarity[h.ID]
		var tags distinct.List[string]
		for _, t := range c.Tags {
			tags.Add(t)
		}
		if d := r.facts.document(c.Doc); d != nil {
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
