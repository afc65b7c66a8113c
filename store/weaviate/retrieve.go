package weaviate

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := req.ValidatePlain(); err != nil {
		return nil, err
	}
	return timed(ctx, s, func(ctx context.Context) (sheaf.Ranking, error) {
		a, err := s.prepare(&req)
		if err != nil || a.where.none() {
			return nil, err
		}
		out, err := s.firstHits(ctx, a, req.Limit)
		return out[:min(len(out), req.Limit)], err
	})
}

// Count implements [store.Counter]. If the server cannot count the hits of a request, Count reads and counts them.
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	if err := req.ValidatePlain(); err != nil {
		return 0, err
	}
	return timed(ctx, s, func(ctx context.Context) (int, error) {
		req = s.o.Unscored(req)
		a, err := s.prepare(&req)
		switch {
		case err != nil || a.where.none():
			return 0, err
		case !a.meaning && !a.where.loose:
			return s.count(ctx, a.class, and(a.where, a.wordCondition))
		}
		found, err := s.firstHits(ctx, a, MaxLimit-1)
		if err == nil && len(found) >= MaxLimit-1 {
			err = s.fault(sheaf.ErrUnsupported, "count more than %d hits of this request", len(found))
		}
		return len(found), err
	})
}

// growingRequest is a request that firstHits repeats, with more hits each time, until its first hits cannot change.
type growingRequest struct {
	class string
	// operator is the GraphQL operator that finds and scores objects: bm25 or nearVector. If it is "", the query lists
	// all objects that meet its condition.
	operator string
	// lists are the word lists. The scores of a chunk in all lists make up its score.
	lists []list
	// combine computes the score of a chunk from its scores in the plan's fields.
	combine func(fields []float64) float64
	fields  int // how many fields the plan has
	// wordCondition is the condition that a chunk has words of the query, for counting.
	wordCondition condition
	where         condition
	exact         sheaf.Filter // the filter of the request; it checks the hits if where is loose
	meaning       bool         // the request has a vector
	// hits is the number of hits to request.
	hits int
}

// list is a group of words with the same factor in one field. The server scores each list separately. The query does
// not use the server's weights, because with a weight above 1, version 1.35 loses the best hits.
type list struct {
	operator string
	field    int
	weight   float64
}

// Supports implements [store.Selective]: it refuses requests that the server cannot compute.
func (s *Store) Supports(req store.Request) error {
	if req.Limit >= MaxLimit {
		return s.fault(sheaf.ErrUnsupported, "a limit of %d: fewer than %d", req.Limit, MaxLimit)
	}
	if reason := s.o.Refuses(&req, "class"); reason != "" {
		return s.fault(sheaf.ErrUnsupported, "%s", reason)
	}
	return nil
}

func (s *Store) prepare(req *store.Request) (growingRequest, error) {
	if err := s.Supports(*req); err != nil {
		return growingRequest{}, err
	}
	if err := store.ValidateParts(req.Filter, "weaviate "+s.o.Class+": search", maxParts); err != nil {
		return growingRequest{}, err
	}
	a := growingRequest{class: s.o.Class, where: s.filter(req.Filter), exact: req.Filter, wordCondition: everything}
	if req.Within != nil {
		a.where = and(a.where, anyOf("chunk", storekit.Hashes(req.Within)))
	}
	if req.Text != nil {
		return a, s.words(req, &a)
	}
	if ok, err := s.vectors.Answers(req.Vector); err != nil {
		return a, err
	} else if !ok {
		a.where = nothing
	}
	a.class, a.meaning = s.passageClass(req.Vector.Field), true
	a.operator = "nearVector:{vector:" + numbers(req.Vector.Vector) + "}"
	return a, nil
}

func numbers(vector []float32) string {
	out := []byte{'['}
	for i, x := range vector {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(x), 'g', -1, 32)
	}
	return string(append(out, ']'))
}

// words adds the words of req to the growing request a. The server only scores one list of words in one list of
// properties. So required and forbidden words become filters.
func (s *Store) words(req *store.Request, a *growingRequest) error {
	plan := storekit.Compile(s.o.Analyzer, req.Text)
	root, err := plan.Flat()
	if err != nil {
		return s.fault(sheaf.ErrUnsupported, "%v", err)
	}
	for _, part := range root.Must {
		a.where = and(a.where, s.anyTerm(part, plan))
	}
	for _, part := range root.MustNot {
		a.where = and(a.where, negate(s.anyTerm(part, plan)))
	}
	scoring := slices.Concat(slices.Concat(root.Must, root.Should)...)
	switch {
	case root.All:
		return nil
	case len(scoring) == 0:
		a.where = nothing
		return nil
	}
	if len(root.Must) == 0 {
		any := make([]condition, len(root.Should))
		for i, part := range root.Should {
			any[i] = s.anyTerm(part, plan)
		}
		a.wordCondition = or(any...)
	}
	s.bm25(req.Text, scoring, plan, a)
	return nil
}

// anyTerm returns the condition that a chunk has at least one of the terms.
func (s *Store) anyTerm(terms []storekit.Term, plan storekit.Plan) condition {
	list := make([]condition, len(terms))
	for i, t := range terms {
		var fields []condition
		for _, f := range t.Fields {
			if s.hasField(plan.Fields[f].Name) {
				fields = append(fields, anyOf(textProperty(plan.Fields[f].Name), []string{t.Text}))
			}
		}
		list[i] = or(fields...)
	}
	return or(list...)
}

// hasField reports whether the class has a property for the field. The server refuses queries with unknown properties.
func (s *Store) hasField(field string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[textProperty(field)]
}

// bm25 adds word lists to the growing request a. The lists score the terms.
func (s *Store) bm25(req *store.TextRequest, terms []storekit.Term, plan storekit.Plan, a *growingRequest) {
	type group struct {
		field  int
		factor float64
	}
	var groups []group
	words := map[group]map[string]bool{}
	for _, t := range terms {
		for _, f := range t.Fields {
			if !s.hasField(plan.Fields[f].Name) {
				continue
			}
			// A word in two parts of the query counts twice, so it must be in two lists. A slightly larger factor makes the
			// second list.
			g := group{f, t.Factor}
			for words[g][t.Text] {
				g.factor = math.Nextafter(g.factor, math.Inf(1))
			}
			if words[g] == nil {
				words[g] = map[string]bool{}
				groups = append(groups, g)
			}
			words[g][t.Text] = true
		}
	}
	if len(groups) == 0 {
		a.where = nothing
		return
	}
	for _, g := range groups {
		var text []string
		for _, t := range terms {
			if words[g][t.Text] {
				delete(words[g], t.Text)
				text = append(text, t.Text)
			}
		}
		w := plan.Fields[g.field]
		a.lists = append(a.lists, list{field: g.field, weight: w.Weight * g.factor, operator: "bm25:{query:" +
			quote(strings.Join(text, " ")) + " properties:[" + quote(textProperty(w.Name)) + "]}"})
	}
	a.fields = len(plan.Fields)
	a.combine = func(fields []float64) float64 {
		sum, best := 0.0, 0.0
		for _, v := range fields {
			sum, best = sum+v, max(best, v)
		}
		if req.Combine == store.CombineBest {
			return best + req.TieBreaker*(sum-best)
		}
		return sum
	}
}

// total returns the score of a chunk, given its score in each list.
func (a growingRequest) total(scores []float64) float64 {
	fields := make([]float64, a.fields)
	for i, l := range a.lists {
		fields[l.field] += l.weight * scores[i]
	}
	return a.combine(fields)
}

// joinLists asks for each list of words and joins the results. It always asks for MaxLimit hits: with a smaller limit,
// version 1.35 drops some of the best hits. If a list has more than MaxLimit hits, the result may also lack some of the
// best hits.
func (s *Store) joinLists(ctx context.Context, a growingRequest) (sheaf.Ranking, error) {
	whole := make([]growingRequest, len(a.lists))
	for i, l := range a.lists {
		whole[i] = a
		whole[i].operator, whole[i].hits = l.operator, MaxLimit
	}
	pages, err := s.pages(ctx, whole)
	if err != nil {
		return nil, err
	}
	scores := map[sheaf.ID][]float64{}
	for i, page := range pages {
		for _, h := range page.ranking {
			if scores[h.ID] == nil {
				scores[h.ID] = make([]float64, len(a.lists))
			}
			scores[h.ID][i] = h.Score
		}
	}
	if err := s.complete(ctx, a, pages, scores); err != nil {
		return nil, err
	}
	out := make(sheaf.Ranking, 0, len(scores))
	for id, list := range scores {
		out = append(out, sheaf.Hit{ID: id, Score: a.total(list)})
	}
	out.Sort()
	return out, nil
}

// complete asks for missing scores. A list may have more hits than its page. For such a list, complete asks for the
// scores of the chunks that only other lists returned.
func (s *Store) complete(ctx context.Context, a growingRequest, pages []page, scores map[sheaf.ID][]float64) error {
	var some []growingRequest
	var of []int // the list of each page
	for i, page := range pages {
		if page.lastScore == nil {
			continue // this list is complete
		}
		seen := map[sheaf.ID]bool{}
		for _, h := range page.ranking {
			seen[h.ID] = true
		}
		var missing []string
		for id := range scores {
			if !seen[id] {
				missing = append(missing, storekit.Hash(string(id)))
			}
		}
		slices.Sort(missing)
		for part := range slices.Chunk(missing, 1000) {
			some = append(some, growingRequest{class: a.class, operator: a.lists[i].operator,
				where: anyOf("chunk", part), hits: len(part)})
			of = append(of, i)
		}
	}
	found, err := s.pages(ctx, some)
	if err != nil {
		return err
	}
	for k, page := range found {
		for _, h := range page.ranking {
			scores[h.ID][of[k]] = h.Score
		}
	}
	return nil
}

// firstHits returns the first limit hits, and perhaps more. It repeats the request with more hits, up to MaxLimit,
// until no other hit can be among the first. One request is not enough, because equal scores have no fixed order and
// chunks have several passages. Also, a loose filter lets too many chunks pass. If MaxLimit hits do not give limit
// chunks, firstHits fails with sheaf.ErrUnsupported. Before it fails, it repeats a request by vector without the chunks
// found so far.
func (s *Store) firstHits(ctx context.Context, a growingRequest, limit int) (sheaf.Ranking, error) {
	if len(a.lists) > 0 {
		return s.joinLists(ctx, a)
	}
	// The chunks seen so far, which the next request excludes.
	var before sheaf.Ranking
	where := a.where
	a.hits = guess(limit)
	for left := 0; ; {
		pages, err := s.pages(ctx, []growingRequest{a})
		if err != nil {
			return nil, err
		}
		found, last := pages[0].ranking, pages[0].lastScore
		out := slices.Clone(before)
		best := map[sheaf.ID]int{}
		for _, h := range found {
			if i, ok := best[h.ID]; ok {
				if h.Score > out[i].Score || h.Score == out[i].Score && h.Passage < out[i].Passage {
					out[i] = h
				}
				continue
			}
			best[h.ID] = len(out)
			out = append(out, h)
		}
		out.Sort()
		// Stop when no unseen hit can score as high.
		if last == nil || len(out) > limit && out[limit-1].Score > *last {
			return out, nil
		}
		switch {
		case a.hits < MaxLimit:
			a.hits = min(a.hits*4, MaxLimit)
		case len(out) >= limit:
			return out, nil
		case a.meaning && len(best) > 0 && left < maxLeft:
			// The passages of a long document fill the longest list. The best passage of each seen
			// chunk is known, so the next request excludes these chunks.
			left, before = left+1, out
			seen := make([]string, len(before))
			for i, h := range before {
				seen[i] = storekit.Hash(string(h.ID))
			}
			a.where, a.hits = and(where, negate(anyOf("chunk", seen))), guess(limit-len(before))
		default:
			return nil, s.fault(sheaf.ErrUnsupported, "more than %d candidates for %d hits: use a narrower filter or "+
				"query", MaxLimit*(left+1), limit)
		}
	}
}

// maxLeft limits how often firstHits repeats a request that excludes the chunks found so far. Such a request helps if
// the passages of long documents fill the list of hits.
const maxLeft = 20

// guess returns how many hits to request for limit chunks: more than limit, because a chunk may have several passages.
func guess(limit int) int { return min(2*limit+20, MaxLimit) }
