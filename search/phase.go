package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sheaf"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
)

// retrieved is the name of the step in which a branch gets its hits from the store.
const retrieved = "retrieve"

// outcome is the ranking of one branch, or its error.
type outcome struct {
	branch  *profile.Branch
	request store.Request
	// more are further requests of the branch, for other wordings. A hit of several requests gets the largest score.
	more    []store.Request
	ranking sheaf.Ranking
	// full says that the branch found as many hits as its limit, so more may exist.
	full bool
	err  error
	took time.Duration
}

// phase runs one phase of the search: its branches, their stages, the fusion and the stages after the fusion. at names
// the phase in messages and the trace. phase finds only chunks whose IDs are in within; nil means all chunks.
func (r *run) phase(ctx context.Context, ph *profile.Phase, at lane, within []sheaf.ID) (sheaf.Ranking, error) {
	outcomes, err := r.requests(ph, within)
	if err != nil || len(outcomes) == 0 {
		return nil, err
	}
	if outcomes, err = r.retrieve(ctx, ph, outcomes, at); err != nil {
		return nil, err
	}
	if within == nil { // otherwise the first phase checked them
		for i := range outcomes {
			outcomes[i].ranking = r.dropUnknown(outcomes[i].ranking)
			if isList(r.query.Words) {
				outcomes[i].ranking = r.documentsFirst(outcomes[i].ranking)
			}
		}
		if err := r.dropForbidden(ctx, outcomes); err != nil {
			return nil, err
		}
	}
	candidates, foundBy := candidatesOf(outcomes)
	if !at.first {
		r.result.Total = len(candidates)
	}
	if r.opt.Trace && !at.first {
		r.windows = map[string]int{}
		for i := range outcomes {
			r.windows[outcomes[i].branch.Name] = len(outcomes[i].ranking)
		}
	}
	if ph.Complete {
		start := clock()
		if err := r.complete(ctx, outcomes, candidates, foundBy); err != nil {
			return nil, err
		}
		r.took(at.step("complete"), start)
	}
	r.learnFrom(outcomes)
	for i := range outcomes {
		if r.opt.Explain {
			if err := r.explainLeg(ctx, &outcomes[i]); err != nil {
				return nil, err
			}
		}
		r.trace(lane{outcomes[i].branch.Name, at.first}, retrieved, outcomes[i].ranking)
	}
	legs, names := make([]rank.Leg, 0, len(outcomes)), make([]string, 0, len(outcomes))
	for i := range outcomes {
		leg, err := r.leg(ctx, outcomes, i, at)
		if err != nil {
			return nil, err
		}
		legs = append(legs, leg)
		names = append(names, leg.Name)
	}
	start := clock()
	fusion := ph.Fusion
	if scores, ok := fusion.(rank.Scores); ok && scores.Norm == rank.NormShare {
		if scores.Ideals, err = r.ideals(ctx, outcomes); err != nil {
			return nil, err
		}
		fusion = scores
	}
	ranking, err := fusion.Fuse(legs)
	if err != nil {
		return nil, err
	}
	r.took(at.step("fuse"), start)
	r.trace(at, ph.FusionText, ranking)
	if !at.first {
		r.result.Legs = names
		if err := r.learn(ctx, fusion, outcomes); err != nil {
			return nil, err
		}
	}
	return r.steps(ctx, ranking, ph.Then, at)
}

// requests returns an outcome with a store request for each branch that can run. If no branch can run because an
// earlier step failed, it returns sheaf.ErrUnavailable.
func (r *run) requests(ph *profile.Phase, within []sheaf.ID) ([]outcome, error) {
	out := make([]outcome, 0, len(ph.Branches))
	means := slices.ContainsFunc(ph.Branches, func(b profile.Branch) bool { return b.Vector != nil && b.Weight != 0 })
	for i := range ph.Branches {
		b := &ph.Branches[i]
		switch {
		case b.Weight == 0 && b.Vector != nil && !means:
			if meaning(r.query) != "" {
				r.note("searched by words only: the weight of meaning is 0")
			}
			continue
		case b.Weight == 0:
			r.note("branch %s is left out: its weight is 0", b.Name)
			continue
		case b.Vector != nil && r.vector == nil:
			continue
		case b.Text != nil && r.query.Words == nil:
			if r.vector == nil && r.query.Filter == nil {
				r.note("the query is empty")
			}
			continue
		}
		o := outcome{branch: b, request: r.searcher.branchRequest(b, within)}
		o.request.Filter = r.query.Filter
		if b.Vector != nil {
			o.request.Vector.Vector = r.vector
			for _, vector := range r.invented {
				more := o.request
				more.Vector = &store.VectorRequest{Field: b.Vector.Field, Vector: vector, Candidates: b.Vector.Candidates}
				o.more = append(o.more, more)
			}
			out = append(out, o)
			continue
		}
		if b.Text.Combine == combineText && o.request.Text.Combine != store.CombineBM25F {
			r.note("%s has no BM25 over several fields as one text; the best field counts, and %v times the others",
				r.searcher.storeName(), otherFields)
		}
		o.request.Text.Query = r.query.Words
		if isList(r.query.Words) {
			longer := o.request
			longer.Limit = max(longer.Limit, listLimit)
			if s, ok := r.searcher.Backend.(store.Selective); !ok || s.Supports(longer) == nil {
				o.request = longer
			}
		}
		out = append(out, o)
	}
	if len(out) > 0 {
		return out, nil
	}
	if r.result.Degraded {
		return nil, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, errors.Join(r.failures...))
	}
	return nil, nil
}

// listLimit is the largest number of chunks that a branch retrieves for a list. With a smaller limit, one long document
// could fill the list.
const listLimit = 1000

// isList reports whether a query has no words to find. Such a query lists the matches of its filter in the order of
// IDs, but documents before sections.
func isList(query sheaf.TextQuery) bool {
	words, ok := query.(sheaf.Bool)
	return ok && len(words.Must)+len(words.Should) == 0
}

// documentsFirst returns hits with the documents before the sections. A tag or property of a document also counts for
// its sections, which would otherwise hide other documents.
func (r *run) documentsFirst(hits sheaf.Ranking) sheaf.Ranking {
	out := make(sheaf.Ranking, 0, len(hits))
	var sections sheaf.Ranking
	for _, h := range hits {
		if n := r.facts.Node(h.ID); n != nil && n.Parent == "" {
			out = append(out, h)
		} else {
			sections = append(sections, h)
		}
	}
	return append(out, sections...)
}

var (
	combines = map[string]store.Combine{
		"sum": store.CombineSum, "best": store.CombineBest, "bm25f": store.CombineBM25F, "text": store.CombineBM25F,
	}
	counted = map[string]store.Statistics{"corpus": store.StatisticsCorpus, "candidates": store.StatisticsCandidates}
)

func textRequest(b *profile.TextBranch, words sheaf.TextQuery) *store.TextRequest {
	req := &store.TextRequest{
		Query: words, Combine: combines[b.Combine], TieBreaker: b.TieBreaker, Statistics: counted[b.Statistics],
		K1: b.K1, B: b.B, Fields: make([]store.FieldWeight, len(b.Fields)),
	}
	for i, f := range b.Fields {
		req.Fields[i] = store.FieldWeight{Name: f.Name, Weight: f.Weight}
	}
	return req
}

// retrieve runs the requests of an outcome. Hits by vector must match the condition that [required] returns.
func (o *outcome) retrieve(ctx context.Context, st store.Backend, condition sheaf.TextQuery) {
	start := clock()
	req := o.request
	conditional := condition != nil && req.Vector != nil
	bounded := conditional && store.Matches(st)
	if bounded {
		req.Vector = bounds(req.Vector, condition)
	}
	o.ranking, o.err = st.Retrieve(ctx, req)
	o.full = len(o.ranking) > 0 && len(o.ranking) >= req.Limit
	for _, more := range o.more {
		if o.err == nil {
			if bounded {
				more.Vector = bounds(more.Vector, condition)
			}
			o.ranking, o.err = larger(ctx, st, o.ranking, more)
		}
	}
	if o.err == nil && conditional && !bounded {
		o.ranking, o.err = matching(ctx, st, o.ranking, condition)
	}
	o.took = clock().Sub(start)
}

// larger runs req and returns the best hits of hits and req, at most req.Limit. A hit of both gets its larger score.
func larger(ctx context.Context, st store.Backend, hits sheaf.Ranking, req store.Request) (sheaf.Ranking, error) {
	others, err := st.Retrieve(ctx, req)
	if err != nil {
		return nil, err
	}
	at := make(map[sheaf.ID]int, len(hits))
	for i := range hits {
		at[hits[i].ID] = i
	}
	out := slices.Clone(hits)
	for _, h := range others {
		i, ok := at[h.ID]
		switch {
		case !ok:
			out = append(out, h)
		case h.Score > out[i].Score:
			out[i] = h
		}
	}
	out.Sort()
	return out[:min(len(out), req.Limit)], nil
}

// retrieve runs the requests of all branches and returns the outcomes without an error. at names the phase.
//   - If a request is unsupported or invalid, or the store is damaged, retrieve returns this error.
//   - For each other failed branch, it adds a warning.
//   - If every branch failed, it returns sheaf.ErrUnavailable.
func (r *run) retrieve(ctx context.Context, ph *profile.Phase, outcomes []outcome, at lane) ([]outcome, error) {
	// Branches that score each other's hits need the counts of the query's words. If the store answers several requests
	// in one round trip, it counts them meanwhile. If counting fails, the next call of stats.worth returns the error.
	var counting sync.WaitGroup
	if ph.Complete && store.Batches(r.searcher.Backend) {
		counting.Go(func() { _, _ = r.stats.worth(ctx, r.query.Words) })
	}
	condition := required(r.query.Words)
	store.Together(len(outcomes), func(i int) { outcomes[i].retrieve(ctx, r.searcher.Backend, condition) })
	counting.Wait()
	if canceled(ctx) != nil {
		return nil, ctx.Err()
	}
	st := r.searcher.storeName()
	out := outcomes[:0]
	var failures []error
	for i := range outcomes {
		o := &outcomes[i]
		at.branch = o.branch.Name
		r.result.Took = append(r.result.Took, Timing{at.step(retrieved), o.took})
		err := store.Gone(o.err)
		if errors.Is(err, sheaf.ErrUnsupported) || errors.Is(err, sheaf.ErrInvalid) || errors.Is(err, sheaf.ErrCorrupt) {
			return nil, fmt.Errorf("branch %s on %s: %w", at, st, err)
		}
		if err == nil {
			err = o.ranking.Valid("scores of " + st)
		}
		if err != nil {
			err = fmt.Errorf("branch %s on %s: %w", at, st, err)
			failures = append(failures, err)
			r.noteFailure("branch "+at.String(), err)
			continue
		}
		r.result.More = r.result.More || o.full
		out = append(out, *o)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: every branch failed: %w", sheaf.ErrUnavailable, errors.Join(failures...))
	}
	return out, nil
}

// dropUnknown removes hits whose documents the facts do not know. Usually the facts know all.
func (r *run) dropUnknown(ranking sheaf.Ranking) sheaf.Ranking {
	unknown := func(h sheaf.Hit) bool { return r.facts.Node(h.ID) == nil }
	if i := slices.IndexFunc(ranking, unknown); i >= 0 {
		rest := slices.DeleteFunc(slices.Clone(ranking[i+1:]), unknown)
		if r.searcher.Shared { // other programs may write to the store
			told := fmt.Sprintf("%s returns documents that this index does not know; their hits are left out: "+
				"another server or folder writes to it", r.searcher.storeName())
			if !slices.Contains(r.result.Unmet, told) {
				r.result.Unmet = append(r.result.Unmet, told)
			}
		}
		return append(ranking[:i:i], rest...)
	}
	return ranking
}

// candidatesOf returns the distinct hits of all branches, in the order in which they first appear. Bit b of foundBy[id]
// says that branch b found the hit; a profile has at most 16 branches.
func candidatesOf(outcomes []outcome) (ids []sheaf.ID, foundBy map[sheaf.ID]uint32) {
	foundBy = map[sheaf.ID]uint32{}
	for branch := range outcomes {
		for i := range outcomes[branch].ranking {
			id := outcomes[branch].ranking[i].ID
			if foundBy[id] == 0 {
				ids = append(ids, id)
			}
			foundBy[id] |= 1 << branch
		}
	}
	return ids, foundBy
}

// complete asks each branch to score the hits that only other branches found. In the ranking of the branch, these hits
// come after the hits that the branch found itself. For candidates and foundBy, see candidatesOf.
func (r *run) complete(ctx context.Context, outcomes []outcome, candidates []sheaf.ID,
	foundBy map[sheaf.ID]uint32) error {
	faults := make([]error, len(outcomes))
	store.Together(len(outcomes), func(i int) {
		found := func(id sheaf.ID) bool { return foundBy[id]>>i&1 != 0 }
		faults[i] = r.lookUp(ctx, &outcomes[i], slices.DeleteFunc(slices.Clone(candidates), found))
	})
	for i, err := range faults {
		if canceled(ctx) != nil {
			return ctx.Err()
		}
		if ctx.Err() != nil {
			r.warn("timed out before all scores were complete; missing scores count as 0")
			return nil
		}
		if err != nil {
			return fmt.Errorf("branch %s: score the results of other branches: %w", outcomes[i].branch.Name, err)
		}
	}
	return nil
}

// lookUp asks a branch for the scores of the hits whose IDs are missing from the branch. It adds these scores to the
// outcome of the branch.
func (r *run) lookUp(ctx context.Context, o *outcome, missing []sheaf.ID) error {
	if len(missing) == 0 || o.request.Text != nil && len(o.ranking) < o.request.Limit && len(o.more) == 0 {
		return nil // the branch found every match
	}
	req := o.request
	req.Within, req.Limit = missing, len(missing)
	found, err := r.searcher.Backend.Retrieve(ctx, req)
	for _, more := range o.more {
		if err == nil {
			more.Within, more.Limit = req.Within, req.Limit
			found, err = larger(ctx, r.searcher.Backend, found, more)
		}
	}
	if err != nil {
		return err
	}
	if err := found.Valid("scores of the store"); err != nil {
		return err
	}
	had := len(o.ranking)
	if len(found) > 0 {
		o.ranking = slices.Concat(o.ranking, found)
	}
	if had > 0 && had < len(o.ranking) && !o.ranking[had-1:had+1].Sorted() {
		o.ranking.Sort() // stores answer in this order, so Sort merges both parts
	}
	return nil
}

// learnFrom keeps two things for later steps. r.lookup is the request of the first branch that searches by words. The
// scores of the branches that search by vector are cosines, and become r.similarity.
func (r *run) learnFrom(outcomes []outcome) {
	first := true
	for i := range outcomes {
		if outcomes[i].branch.Vector == nil {
			if first {
				r.lookup, first = &outcomes[i].request, false
			}
			continue
		}
		if r.similarity == nil {
			r.similarity = make(map[sheaf.ID]float64, len(outcomes[i].ranking))
		}
		for _, h := range outcomes[i].ranking {
			if s, ok := r.similarity[h.ID]; !ok || h.Score > s {
				r.similarity[h.ID] = h.Score
			}
		}
	}
}

// leg applies the stages of branch number i, and its setting at_least, to its ranking. It returns the result as an
// input (leg) of the fusion. at names the phase.
func (r *run) leg(ctx context.Context, outcomes []outcome, i int, at lane) (rank.Leg, error) {
	o := &outcomes[i]
	at.branch = o.branch.Name
	var err error
	if o.ranking, err = r.steps(ctx, o.ranking, o.branch.Then, at); err != nil {
		return rank.Leg{}, err
	}
	leg := rank.Leg{Name: o.branch.Name, Hits: o.ranking, Weight: o.branch.Weight}
	for j := range outcomes[:i] {
		if outcomes[j].branch.Name == o.branch.AtLeast {
			start := clock()
			leg = rank.MaxLegs(leg, rank.Leg{Hits: outcomes[j].ranking})
			o.ranking = leg.Hits
			r.took(at.step("at_least"), start)
			r.trace(at, "at_least: "+o.branch.AtLeast, o.ranking)
		}
	}
	return leg, nil
}

func (r *run) steps(ctx context.Context, ranking sheaf.Ranking, steps []profile.Step, at lane) (sheaf.Ranking, error) {
	env := rank.Env{Facts: r.facts, Query: wording(r.query), Typed: r.query.Text, Now: time.Now()}
	if r.searcher.Now != nil {
		env.Now = r.searcher.Now()
	}
	if r.similarity != nil {
		env.Similarity = func(id sheaf.ID) (float64, bool) {
			s, ok := r.similarity[id]
			return s, ok
		}
	}
	start := clock()
	for i := range steps {
		step := &steps[i]
		if at == (lane{}) && r.judged != nil && step.Drops {
			r.judged.compare(r.facts, ranking)
		}
		before := len(ranking)
		var err error
		if ranking, err = r.apply(ctx, ranking, step.Stage, &env); err != nil {
			return nil, fmt.Errorf("stage %s: %w", at.step(step.Text), err)
		}
		if before > 0 && len(ranking) == 0 && at == (lane{}) {
			r.note("the stage %s drops every result", step.Text)
		}
		if _, ok := step.Stage.(rank.PerDocument); ok && at == (lane{}) && r.result.More &&
			len(ranking) < min(before, r.query.Limit) {
			r.note("per_document leaves %d of %d chunks: a few documents have most of what was retrieved; "+
				"a larger limit retrieves more", len(ranking), before)
		}
		r.result.More = r.result.More || len(ranking) >= step.Most
		start = r.took(at.step(step.Name), start)
		r.trace(at, step.Text, ranking)
	}
	return ranking, nil
}

// apply adds to env what a stage needs to know about the query's words. Then it runs the stage.
func (r *run) apply(ctx context.Context, ranking sheaf.Ranking, stage rank.Stage, env *rank.Env) (
	_ sheaf.Ranking, err error) {
	switch stage := stage.(type) {
	case rank.Names:
		env.Named, err = r.nameMatcher(ctx)
	case rank.WordPairs:
		env.Pairs, err = r.pairsIn(ctx)
	case rank.Tree:
		if r.flat(ranking) {
			r.note("stage tree lifts nothing: the headings above what was found are not in this index " +
				"(its documents were cut into sections or windows: index them again with the chunker tree)")
		}
	case profile.Rerank:
		if stage.N == 0 {
			return ranking, nil
		}
		return r.rerank(ctx, ranking, stage)
	}
	if err != nil {
		return nil, err
	}
	return stage.Apply(ranking, *env)
}

// flat reports whether hits have parents, but the facts do not know any of these parents. The stage tree then does
// nothing.
func (r *run) flat(hits sheaf.Ranking) bool {
	under := false
	for i := range hits {
		n := r.facts.Node(hits[i].ID)
		if n == nil || n.Parent == "" {
			continue
		}
		if n.Above != nil || r.facts.Node(n.Parent) != nil {
			return false
		}
		under = true
	}
	return under
}
