package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/profile"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Absence explains why a chunk or document is not among the results, or where it ranks.
type Absence struct {
	ID      sheaf.ID `json:"id" doc:"The chunk of the question."`
	Rank    int      `json:"rank" doc:"The rank among the results; 0 when it is not there."`
	Inside  sheaf.ID `json:"inside,omitempty" doc:"The result that replaces it."`
	Reasons []string `json:"reasons" doc:"What each branch found, then the step that removed the chunk."`

	// Degraded and Warnings are those of the search's result.
	Degraded bool     `json:"-"`
	Warnings []string `json:"-"`
}

// WhyNot explains why id is not among the results of q. It names the branches that did not find id, or the stage that
// dropped id. If id does not exist, it returns sheaf.ErrNotFound.
func (s *Searcher) WhyNot(
	ctx context.Context, q sheaf.Query, p *profile.Profile, opt Options, id sheaf.ID,
) (*Absence, error) {
	if s.Facts != nil && !p.Scans() {
		if _, ok := Part(s.Facts, id); !ok {
			return nil, fmt.Errorf("%s is not indexed: %w", id, sheaf.ErrNotFound)
		}
	}
	opt.Trace, opt.Explain = true, false
	done, err := s.run(ctx, q, p, opt)
	if err != nil {
		return nil, err
	}
	result := done.result
	a := &Absence{ID: id, Reasons: []string{}, Degraded: result.Degraded, Warnings: result.Warnings}
	if scanned := result.Scanned; scanned != nil {
		reason, err := whyNoCandidate(scanned, id)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			a.add("it is not a candidate: %s", reason)
			return a, nil
		}
		id = pieceOf(result, id)
		a.ID = id
	}
	for i := range result.Hits {
		if h := &result.Hits[i]; h.ID == id {
			a.Rank = h.Rank
			a.Reasons = append(a.Reasons, fmt.Sprintf("it is there: rank %d", h.Rank))
			return a, nil
		}
	}
	for i := range result.Hits {
		if h := &result.Hits[i]; h.Doc == id {
			a.add("its section %s is there: rank %d", h.ID, h.Rank)
			break
		}
	}
	if done.refused[id] {
		a.add("a forbidden word is in its sub-sections")
		return a, nil
	}
	best, err := done.whyBranches(ctx, a)
	if err != nil {
		return nil, err
	}
	if best != "" {
		a.follow(result.Trace)
		named := func(t Snapshot) bool { return !t.First && contains(t.Ranking, id) }
		if best != id && !slices.ContainsFunc(result.Trace, named) {
			a.followSection(best, result.Trace) // the rankings have sections, not the document
		}
		if n := len(result.Trace); a.Inside == "" && n > 0 && contains(result.Trace[n-1].Ranking, id) {
			a.add("it ranks %d and %d results are wanted", rankOf(result.Trace[n-1].Ranking, id), q.Limit)
		}
	}
	if len(a.Reasons) == 0 && done.query.Words == nil {
		a.add("the query has no words to look for")
	}
	return a, nil
}

// pieceOf returns the chunk to look for if id is a scanned document: its best hit, or its first chunk. It returns any
// other ID unchanged.
func pieceOf(result *Result, id sheaf.ID) sheaf.ID {
	d, ok := result.Scanned.Facts.Document(id)
	if !ok || len(d.Chunks) == 0 {
		return id
	}
	for i := range result.Hits {
		if result.Hits[i].Doc == id {
			return result.Hits[i].ID
		}
	}
	return d.Chunks[0].ID
}

// whyNoCandidate explains why the scan did not take the file of id. If the scan took the file, it returns "".
func whyNoCandidate(scanned *Scanned, id sheaf.ID) (string, error) {
	if _, ok := Part(scanned.Facts, id); ok {
		return "", nil
	}
	if at := strings.LastIndexByte(string(id), '#'); at >= 0 {
		if reason, err := scanned.WhyNot(id[:at]); reason != "" || err != nil {
			return reason, err
		}
		return "its file has no such section", nil
	}
	return scanned.WhyNot(id)
}

// whyBranches adds a reason from each branch of the main phase. best is a.ID if a branch found it, otherwise the
// section of the document a.ID with the best rank. If no branch found a section, best is "".
func (r *run) whyBranches(ctx context.Context, a *Absence) (best sheaf.ID, err error) {
	s, result, plan := r.searcher, r.result, r.followed
	if lost, err := r.whyFirst(ctx, plan, a); lost || err != nil {
		return "", err
	}
	outcomes, err := r.requests(&plan.Main, nil)
	if err != nil {
		return "", err
	}
	place := 0
	for i := range outcomes {
		o := &outcomes[i]
		at := retrievedAt(result.Trace, o.branch.Name, false)
		if at < 0 {
			a.add("branch %s: it failed", o.branch.Name)
			continue
		}
		ranking := result.Trace[at].Ranking
		if n := rankOf(ranking, a.ID); n > 0 {
			best, place = a.ID, 1
			a.add("branch %s: found it at rank %d of %d, score %.4g%s", o.branch.Name, n, len(ranking),
				ranking[n-1].Score, s.lacks(ctx, o.request, []sheaf.ID{a.ID}))
			continue
		}
		if n, first := r.sectionsOf(ranking, a.ID); n > 0 {
			if section := ranking[first].ID; place == 0 || first+1 < place {
				best, place = section, first+1
			}
			a.add("branch %s: found %d of its sections, first %s at rank %d of %d, score %.4g",
				o.branch.Name, n, ranking[first].ID, first+1, len(ranking), ranking[first].Score)
			continue
		}
		window := ranking[:min(r.windows[o.branch.Name], len(ranking))]
		if err := r.whyUnfound(ctx, "branch "+o.branch.Name, o, window, a, r.withSections(a.ID)); err != nil {
			return "", err
		}
	}
	return best, nil
}

// whyFirst explains why a first phase dropped a.ID and all its sections. lost is false if the first phase kept one of
// these, or if the plan has no first phase.
func (r *run) whyFirst(ctx context.Context, plan *profile.Plan, a *Absence) (lost bool, err error) {
	if plan.Candidates == nil {
		return false, nil
	}
	all := r.withSections(a.ID)
	among := func(h sheaf.Hit) bool { return slices.Contains(all, h.ID) }
	var ranked, through sheaf.Ranking // before and after the limit of the first phase
	for _, t := range r.result.Trace {
		if t.First && t.Branch == "" {
			ranked, through = through, t.Ranking
		}
	}
	if slices.ContainsFunc(through, among) {
		return false, nil
	}
	if at := slices.IndexFunc(ranked, among); at >= 0 {
		it := "it"
		if ranked[at].ID != a.ID {
			it = "its best section, " + string(ranked[at].ID) + ","
		}
		on := fmt.Sprintf("only the first %d go on", len(through))
		if len(through) == 1 {
			on = "only the first goes on"
		}
		a.add("first phase: %s ranks %d of %d, score %.4g, and %s%s",
			it, at+1, len(ranked), ranked[at].Score, on, lastScore(through))
		return true, nil
	}
	outcomes, err := r.requests(plan.Candidates, nil)
	if err != nil {
		return true, err
	}
	for i := range outcomes {
		o := &outcomes[i]
		at := retrievedAt(r.result.Trace, o.branch.Name, true)
		if at < 0 {
			a.add("first phase, branch %s: it failed", o.branch.Name)
			continue
		}
		if err := r.whyUnfound(ctx, "first phase, branch "+o.branch.Name, o, r.result.Trace[at].Ranking, a, all); err != nil {
			return true, err
		}
	}
	return true, nil
}

// retrievedAt returns the index in trace of the ranking that a branch retrieved, or -1 without such a ranking. first
// says that the branch belongs to the first of two phases.
func retrievedAt(trace []Snapshot, branch string, first bool) int {
	return slices.IndexFunc(trace, func(t Snapshot) bool {
		return t.Branch == branch && t.First == first && t.Step == retrieved
	})
}

// sectionsOf returns how many hits are sections of a document, and the index of the first such hit.
func (r *run) sectionsOf(ranking sheaf.Ranking, doc sheaf.ID) (n, first int) {
	for i := len(ranking) - 1; i >= 0; i-- {
		if node := r.facts.Node(ranking[i].ID); node != nil && node.Doc == doc {
			n, first = n+1, i
		}
	}
	return n, first
}

// followSection adds to a.Reasons what happened to section, a hit of a branch and a section of the document a.ID.
func (a *Absence) followSection(section sheaf.ID, trace []Snapshot) {
	inner := Absence{ID: section}
	inner.follow(trace)
	if len(trace) > 0 && contains(trace[len(trace)-1].Ranking, section) {
		return // already reported
	}
	for _, reason := range inner.Reasons {
		a.add("its section %s: %s", section, reason)
	}
}

// withSections returns id. If id is a document, it also returns the IDs of its sections.
func (r *run) withSections(id sheaf.ID) []sheaf.ID {
	ids := []sheaf.ID{id}
	if o := r.facts.Outline(id); o != nil {
		for i := range o.Nodes {
			if o.Nodes[i].ID != id {
				ids = append(ids, o.Nodes[i].ID)
			}
		}
	}
	return ids
}

// whyUnfound adds the reason why a branch did not retrieve any of the IDs in all. ranking is the branch's result.
func (r *run) whyUnfound(
	ctx context.Context, name string, o *outcome, ranking sheaf.Ranking, a *Absence, all []sheaf.ID,
) error {
	s, req := r.searcher, o.request
	req.Within, req.Limit = all, 1
	alone, err := s.Backend.Retrieve(ctx, req)
	var apt sheaf.Ranking // what a search by meaning finds must match what the words require
	if err == nil && req.Vector != nil {
		apt, err = matching(ctx, s.Backend, alone, required(r.query.Words))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	it := "it"
	if len(alone) > 0 && alone[0].ID != a.ID {
		it = "its best section, " + string(alone[0].ID) + ","
	}
	switch {
	case len(alone) == 0 && req.Filter != nil && s.filterHides(ctx, req):
		a.add("%s: the filter leaves it out", name)
	case req.Vector != nil && len(apt) < len(alone):
		why := cmp.Or(s.forbiddenWords(ctx, r.query.Words, []sheaf.ID{alone[0].ID}), "does not match the required words")
		a.add("%s: %s scores %.4g and %s", name, it, alone[0].Score, why)
	case len(alone) > 0 && len(ranking) > 0:
		a.add("%s: %s scores %.4g and the last of the %d retrieved has %.4g: it lies outside the window%s",
			name, it, alone[0].Score, len(ranking), ranking[len(ranking)-1].Score, s.lacks(ctx, req, all))
	case len(alone) > 0:
		a.add("%s: %s scores %.4g and was not retrieved", name, it, alone[0].Score)
	case req.Filter != nil && s.matchesWithoutFilter(ctx, req):
		a.add("%s: the filter leaves it out", name)
	case o.branch.Text != nil:
		why := s.lacks(ctx, req, all)
		if held := s.forbiddenWords(ctx, r.query.Words, all); held != "" {
			why += "; it " + held
		}
		a.add("%s: the words of the query do not match it%s", name, why)
	default:
		a.add("%s: it has no vector in field %s", name, o.branch.Vector.Field)
	}
	return nil
}

// filterHides reports whether the filter of a request excludes all chunks in req.Within.
func (s *Searcher) filterHides(ctx context.Context, req store.Request) bool {
	every := requirement(everything)
	found, err := s.Backend.Retrieve(ctx, store.Request{Limit: 1, Text: &every, Filter: req.Filter, Within: req.Within})
	return err == nil && len(found) == 0
}

func (s *Searcher) matchesWithoutFilter(ctx context.Context, req store.Request) bool {
	req.Filter = nil
	alone, err := s.Backend.Retrieve(ctx, req)
	return err == nil && len(alone) > 0
}

// maxLacks is the largest number of words of a query that are searched one by one to explain an absence. Further words
// are ignored.
const maxLacks = 32

// lacks names the words of req that no chunk in ids has, as the end of a sentence. If there are no such words, it
// returns "".
func (s *Searcher) lacks(ctx context.Context, req store.Request, ids []sheaf.ID) string {
	if req.Text == nil {
		return ""
	}
	req.Within, req.Limit, req.Filter = ids, 1, nil
	var missing []string
	for _, word := range words(req.Text.Query) {
		one := *req.Text
		one.Query = word
		req.Text = &one
		alone, err := s.Backend.Retrieve(ctx, req)
		if err != nil {
			return "" // the explanation is good without it
		}
		if text := wordText(word); len(alone) == 0 && !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "; it lacks " + strings.Join(missing, ", ")
}

// Unknown returns the words of a query that no chunk has, in the order of the query. The words are spelled as a person
// would write them. Unknown omits function words. If the store fails, it returns nil.
func (s *Searcher) Unknown(ctx context.Context, q sheaf.Query, analyzer *analysis.Analyzer) (unknown []string) {
	if q.Words == nil {
		return nil
	}
	for _, word := range words(q.Words) {
		name := wordText(word)
		same := func(other string) bool { return strings.EqualFold(name, other) }
		m, single := word.(sheaf.Match)
		if single && analyzer.Stops(m.Text) || slices.ContainsFunc(unknown, same) {
			continue
		}
		text := requirement(word)
		found, err := s.Backend.Retrieve(ctx, store.Request{Limit: 1, Text: &text})
		if err != nil {
			return nil
		}
		if len(found) == 0 {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// forbiddenWords names the forbidden words of a query that chunks with these IDs contain. If these
// chunks contain no forbidden word, it returns "".
func (s *Searcher) forbiddenWords(ctx context.Context, q sheaf.TextQuery, ids []sheaf.ID) string {
	var held []string
	tries := 0
	for _, part := range sheaf.Forbidden(q) {
		// A group may forbid only chunks that have all its words, or chunks that lack some.
		for k, one := range append([]sheaf.TextQuery{part}, words(part)...) {
			if tries++; tries > maxLacks {
				break
			}
			text := requirement(one)
			found, err := s.Backend.Retrieve(ctx, store.Request{Limit: 1, Text: &text, Within: ids})
			if err != nil {
				return "" // the explanation is good without it
			}
			if len(found) == 0 && k == 0 {
				break
			}
			if text := wordText(one); len(found) > 0 && k > 0 && !slices.Contains(held, text) {
				held = append(held, text)
			}
		}
	}
	if len(held) == 0 {
		return ""
	}
	return "holds " + strings.Join(held, ", ") + ", which the query leaves out"
}

// words returns the words and phrases that q wants, each separately. It returns at most maxLacks.
func words(q sheaf.TextQuery) (out []sheaf.TextQuery) {
	for part := range sheaf.Wanted(q) {
		switch part := part.(type) {
		case sheaf.Match:
			for word := range strings.FieldsSeq(part.Text) {
				out = append(out, sheaf.Match{Text: word, Field: part.Field})
			}
		case sheaf.Phrase, sheaf.Prefix, sheaf.Fuzzy:
			out = append(out, part)
		}
	}
	return out[:min(len(out), maxLacks)]
}

// wordText returns a word of a query as a person would write it, with its field if it has one.
func wordText(q sheaf.TextQuery) string {
	var text, field string
	switch q := q.(type) {
	case sheaf.Match:
		text, field = q.Text, q.Field
	case sheaf.Phrase:
		text, field = q.Text, q.Field
	case sheaf.Prefix:
		text, field = q.Text+"*", q.Field
	case sheaf.Fuzzy:
		text, field = q.Text+"~", q.Field
	default:
		return "a part of the query"
	}
	if field != "" {
		return strconv.Quote(text) + " in its " + field
	}
	return strconv.Quote(text)
}

func (a *Absence) add(format string, args ...any) {
	a.Reasons = append(a.Reasons, fmt.Sprintf(format, args...))
}

// follow adds to a.Reasons the steps at which a.ID was merged into another answer or dropped.
func (a *Absence) follow(trace []Snapshot) {
	last, lost := map[string]sheaf.Ranking{}, map[string]bool{} // by branch
	for _, t := range trace {
		if t.First {
			continue
		}
		before := last[t.Branch]
		last[t.Branch] = t.Ranking
		was, is := rankOf(before, a.ID), rankOf(t.Ranking, a.ID)
		outer, inner := answerWith(before, a.ID), answerWith(t.Ranking, a.ID)
		step := lane{branch: t.Branch}.step(t.Step)
		switch {
		case is > 0:
			a.Inside = ""
			if lost[t.Branch] { // another branch brought it back
				a.add("%s: it is back, at rank %d of %d with score %.4g", step, is, len(t.Ranking), t.Ranking[is-1].Score)
			}
			lost[t.Branch] = false
		case inner != "" && inner != a.Inside:
			a.Inside = inner
			a.add("%s: it became part of %s", step, inner)
		case inner == "" && was > 0:
			lost[t.Branch] = true
			end := lastScore(t.Ranking)
			if kept := keptOf(t.Ranking, a.ID); kept != "" && strings.HasPrefix(t.Step, "per_document") {
				end = "; its document keeps " + string(kept)
			}
			a.add("%s: lost it, from rank %d of %d with score %.4g%s", step, was, len(before), before[was-1].Score, end)
		case inner == "" && outer != "":
			a.Inside = ""
			a.add("%s: lost the answer %s that it was part of%s", step, outer, lastScore(t.Ranking))
		}
	}
}

// lastScore returns the end of a sentence, with the score of the last hit in r, or "".
func lastScore(r sheaf.Ranking) string {
	if len(r) == 0 {
		return ""
	}
	return fmt.Sprintf("; the last that stayed has %.4g", r[len(r)-1].Score)
}

// keptOf returns the best hit of the same document as id, or "".
func keptOf(r sheaf.Ranking, id sheaf.ID) sheaf.ID {
	if i := strings.LastIndexByte(string(id), '#'); i >= 0 {
		id = id[:i]
	}
	section := string(id) + "#"
	i := slices.IndexFunc(r, func(h sheaf.Hit) bool { return h.ID == id || strings.HasPrefix(string(h.ID), section) })
	if i < 0 {
		return ""
	}
	return r[i].ID
}

func contains(r sheaf.Ranking, id sheaf.ID) bool { return rankOf(r, id) > 0 }

// rankOf returns the rank of id in r, from 1. If id is not in r, it returns 0.
func rankOf(r sheaf.Ranking, id sheaf.ID) int {
	return slices.IndexFunc(r, func(h sheaf.Hit) bool { return h.ID == id }) + 1
}

// answerWith returns the hit of r that has id as a constituent, or "" if there is no such hit.
func answerWith(r sheaf.Ranking, id sheaf.ID) sheaf.ID {
	for i := range r {
		if slices.ContainsFunc(r[i].Constituents, func(h sheaf.Hit) bool { return h.ID == id }) {
			return r[i].ID
		}
	}
	return ""
}
