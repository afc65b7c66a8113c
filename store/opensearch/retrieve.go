package opensearch

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// noStored makes the server return no stored fields of a hit, not even its key. The server stores the key together
// with texts and vectors, and would decompress all of them for each hit.
const noStored = "_none_"

// ranked returns the search body that asks for the hits of a request.
func ranked(req *store.Request, query object) object {
	return object{"size": req.Limit, "query": query, "_source": false, "stored_fields": noStored,
		"docvalue_fields": []string{"id"}, "track_total_hits": false,
		"sort": []any{object{"_score": "desc"}, object{"id": "asc"}}}
}

// ranking returns the hits in an answer to a request.
func (s *Store) ranking(req *store.Request, found *answer) (sheaf.Ranking, error) {
	out, err := s.hits(found)
	if err != nil {
		return nil, err
	}
	if req.Vector != nil {
		for i := range out {
			out[i].Score = s.cosine(out[i].Score)
		}
	}
	out.Sort()
	return out, nil
}

// whole returns an error if a shard did not answer, or if the answer has no list of hits.
func (s *Store) whole(found *answer) error {
	switch {
	case len(found.Shards.Failures) > 0:
		return s.fault(sheaf.ErrUnavailable, "the answer is incomplete: %s", found.Shards.Failures[0].Reason)
	case found.TimedOut, found.Shards.Failed > 0:
		return s.fault(sheaf.ErrUnavailable, "the answer is incomplete: %d shards failed, or it timed out",
			found.Shards.Failed)
	case found.Hits.Hits == nil:
		return s.fault(sheaf.ErrUnavailable, "an answer without hits: it is not from such a server")
	}
	return nil
}

func (s *Store) hits(found *answer) (sheaf.Ranking, error) {
	if err := s.whole(found); err != nil {
		return nil, err
	}
	out := make(sheaf.Ranking, 0, len(found.Hits.Hits))
	for _, h := range found.Hits.Hits {
		if len(h.Fields.ID) != 1 {
			return nil, s.fault(sheaf.ErrUnavailable, "a hit without an ID: the answer is not from such a server")
		}
		hit := sheaf.Hit{ID: sheaf.ID(unescape(h.Fields.ID[0])), Score: h.Score}
		for _, inner := range h.Inner {
			if len(inner.Hits.Hits) > 0 {
				hit.Passage = inner.Hits.Hits[0].Nested.Offset
			}
		}
		out = append(out, hit)
	}
	return out, nil
}

func (s *Store) count(ctx context.Context, query object) (int, error) {
	var said struct {
		Count  *int
		Shards struct{ Failed int } `json:"_shards"`
	}
	err := s.client.Call(ctx, "POST", "/"+s.index()+"/_count", object{"query": query}, &said)
	switch {
	case err != nil:
		return 0, err
	case said.Count == nil:
		return 0, s.fault(sheaf.ErrUnavailable, "a count without a number: the answer is not from such a server")
	case said.Shards.Failed > 0:
		return 0, s.fault(sheaf.ErrUnavailable, "the count is incomplete: %d shards failed", said.Shards.Failed)
	}
	return *said.Count, nil
}

// matching returns the query for counting the matches of a request. It returns nil if nothing can match.
func (s *Store) matching(ctx context.Context, req store.Request) (object, error) {
	if req.Text != nil {
		req = s.o.Unscored(req)
		return s.query(ctx, &req)
	}
	if ok, err := s.vectors.Answers(req.Vector); err != nil || !ok {
		return nil, err
	}
	clauses, err := s.bounds(req.Filter, req.Within)
	if err != nil {
		return nil, err
	}
	path := vectorPath(req.Vector.Field)
	return object{"bool": object{"filter": append(clauses,
		object{"nested": object{"path": path, "query": object{"exists": object{"field": path + ".p"}}}})}}, nil
}

// query returns the query of a request. It returns nil if nothing can match.
func (s *Store) query(ctx context.Context, req *store.Request) (object, error) {
	clauses, err := s.bounds(req.Filter, req.Within)
	if err != nil {
		return nil, err
	}
	if req.Vector != nil {
		return s.nearestQuery(req, clauses)
	}
	if err := s.Supports(*req); err != nil {
		return nil, err
	}
	w := words{s: s, req: req.Text, plan: storekit.Compile(s.o.Analyzer, req.Text)}
	if w.plan.Repeats() {
		return nil, s.fault(sheaf.ErrUnsupported, "a phrase with slop that holds a word twice: Lucene wants a word of the "+
			"text for each: leave the slop out, or use another store")
	}
	w.expansions, err = w.plan.Grow(func(e storekit.Expand) ([]storekit.Grown, error) { return s.grow(ctx, e) })
	if err != nil {
		return nil, err
	}
	query := w.root()
	if query == nil {
		return nil, nil
	}
	if int64(w.clauses) > s.server.clauses.Load() {
		if err := s.askClauses(ctx); err != nil { // an administrator may have raised the limit
			return nil, err
		}
	}
	if most := s.server.clauses.Load(); int64(w.clauses) > most {
		return nil, s.fault(sheaf.ErrUnsupported, "the query becomes %d clauses, the server takes %d: use fewer or longer "+
			"words, or raise indices.query.bool.max_clause_count", w.clauses, most)
	}
	if len(clauses) > 0 {
		query = object{"bool": object{"must": []any{query}, "filter": clauses}}
	}
	return query, nil
}

// Supports implements [store.Selective]: it refuses requests that Lucene cannot score.
func (s *Store) Supports(req store.Request) error {
	if reason := s.o.Refuses(&req, "index"); reason != "" {
		return s.fault(sheaf.ErrUnsupported, "%s", reason)
	}
	return nil
}

// nearestQuery returns a query for the chunks whose best passages are nearest to the vector. The method cosine converts
// the scores of the hits.
func (s *Store) nearestQuery(req *store.Request, clauses []any) (object, error) {
	if ok, err := s.vectors.Answers(req.Vector); err != nil || !ok {
		return nil, err
	}
	path := vectorPath(req.Vector.Field)
	field := path + ".p"
	bare := func(query object) object { return object{"path": path, "score_mode": "max", "query": query} }
	nested := func(query object) object {
		out := bare(query)
		out["inner_hits"] = object{"size": 1, "_source": false, "stored_fields": noStored}
		return object{"nested": out}
	}
	s.mu.Lock()
	flat := s.flat[req.Vector.Field]
	s.mu.Unlock()
	k := max(req.Limit, req.Vector.Candidates)
	switch {
	case s.o.Dialect == Elasticsearch && (s.o.HNSW || flat) && req.Limit <= maxNear:
		k = min(k, maxNear)
		knn := func(k int) object {
			return object{"field": field, "query_vector": req.Vector.Vector, "k": k, "num_candidates": max(k, 100)}
		}
		if len(req.Within) < manyWithin {
			return nested(object{"knn": bounded(knn(k), clauses)}), nil
		}
		// For each hit the server searches the nearest passage under the conditions of that part of
		// the query. A part that adds nothing to the score has no conditions.
		passage := nested(object{"knn": knn(1)})
		passage["nested"].(object)["boost"] = 0
		return object{"bool": object{"must": []any{object{"nested": bare(object{"knn": bounded(knn(k), clauses)})}},
			"should": []any{passage}}}, nil
	case s.o.Dialect == OpenSearch && s.o.HNSW:
		return nested(object{"knn": object{field: bounded(object{"vector": req.Vector.Vector, "k": k}, clauses)}}), nil
	}
	script := object{"source": "(1 + cosineSimilarity(params.v, '" + field + "')) / 2",
		"params": object{"v": req.Vector.Vector}}
	if s.o.Dialect == OpenSearch {
		script = object{"lang": "knn", "source": "knn_score",
			"params": object{"field": field, "query_value": req.Vector.Vector, "space_type": "cosinesimil"}}
	}
	query := nested(object{"script_score": object{"query": object{"exists": object{"field": field}}, "script": script}})
	if len(clauses) > 0 {
		return object{"bool": object{"must": []any{query}, "filter": clauses}}, nil
	}
	return query, nil
}

// If Request.Within has manyWithin IDs or more, a second search, without Within, finds the best passage of each hit.
// Otherwise Elasticsearch would look up the whole list for each hit, which is slower.
const manyWithin = 500

// maxNear is the largest number of nearest vectors that Elasticsearch finds without a script.
const maxNear = 10_000

// bounded adds clauses, the bounds of a request, to the vector search knn, and returns knn.
func bounded(knn object, clauses []any) object {
	if len(clauses) > 0 {
		knn["filter"] = object{"bool": object{"filter": clauses}}
	}
	return knn
}

// words builds the query for a request by words. Its methods return parts of the query.
type words struct {
	s          *Store
	req        *store.TextRequest
	plan       storekit.Plan
	expansions map[string][]storekit.Grown
	clauses    int // clauses of the query so far
}

// root returns the whole query. It returns nil if nothing can match. Under CombineBest, a separate query computes the
// score of each field, and a filter decides which chunks match.
func (w *words) root() object {
	matching := w.node(w.plan.Root, nil)
	if matching == nil || w.req.Combine != store.CombineBest || len(w.plan.Fields) == 1 {
		return matching
	}
	var queries []any
	for f := range w.plan.Fields {
		if q := w.node(w.scoring(w.plan.Root), []int{f}); q != nil {
			queries = append(queries, q)
		}
	}
	if len(queries) == 0 {
		return object{"constant_score": object{"filter": matching, "boost": 0}} // the query has no words that score
	}
	best := object{"dis_max": object{"queries": queries, "tie_breaker": w.req.TieBreaker}}
	if b, ok := w.plan.Root.(storekit.Bool); ok && !b.All && len(b.Must)+len(b.MustNot) == 0 && plain(b.Should) {
		return best // every scoring chunk matches
	}
	return object{"bool": object{"filter": []any{matching}, "should": []any{best}}}
}

func plain(parts []storekit.Node) bool {
	return !slices.ContainsFunc(parts, func(n storekit.Node) bool { _, ok := n.(storekit.Bool); return ok })
}

// scoredPart is a part of a query that scores only in some fields. It scores a chunk only if match finds the chunk;
// match searches all fields.
type scoredPart struct {
	storekit.Node
	match storekit.Node
}

// scoring returns n with all its parts optional, to compute the score in one field. Parts that the field lacks add
// nothing. A nested Bool scores only if the whole Bool matches.
func (w *words) scoring(n storekit.Node) storekit.Node {
	b, ok := n.(storekit.Bool)
	if !ok {
		return n
	}
	var out storekit.Bool
	for _, part := range slices.Concat(b.Must, b.Should) {
		if inner, ok := part.(storekit.Bool); ok {
			out.Should = append(out.Should, scoredPart{Node: w.scoring(inner), match: inner})
		} else {
			out.Should = append(out.Should, part)
		}
	}
	return out
}

// node returns the query of part n, restricted to fields. If fields is nil, the query searches all fields. It returns
// nil if nothing can match.
func (w *words) node(n storekit.Node, fields []int) object {
	switch n := n.(type) {
	case storekit.Term:
		return w.term(n, fields)
	case storekit.Expand:
		return w.expand(n, fields)
	case storekit.Phrase:
		return w.phrase(n, fields)
	case storekit.Bool:
		return w.bool(n, fields)
	case scoredPart:
		match, score := w.node(n.match, nil), w.node(n.Node, fields)
		if match == nil || score == nil {
			return nil
		}
		return object{"bool": object{"filter": []any{match}, "must": []any{score}}}
	}
	return nil
}

// among returns the numbers in own that are also in fields. If fields is nil, it returns own.
func among(own, fields []int) []int {
	return slices.DeleteFunc(slices.Clone(own), func(f int) bool { return fields != nil && !slices.Contains(fields, f) })
}

// anyOf returns a query that matches if at least one of parts matches. It adds up their scores.
func anyOf(parts []any) object {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0].(object)
	}
	return object{"bool": object{"should": parts}}
}

// single returns the query of one term in one field. If the server multiplies scores by k1+1, single divides the weight
// by k1+1.
func (w *words) single(term string, field int, factor float64) object {
	w.clauses++
	f := w.plan.Fields[field]
	kind := "t."
	if len(term) > 0 && term[:1] == storekit.FormMark {
		kind, term = "f.", term[1:]
	}
	boost := factor * f.Weight
	if w.s.multipliesScores() {
		boost /= w.s.o.K1 + 1
	}
	return object{"term": object{kind + plainField(f.Name): object{"value": term, "boost": boost}}}
}

func (w *words) term(n storekit.Term, fields []int) object {
	var parts []any
	for _, f := range among(n.Fields, fields) {
		parts = append(parts, w.single(n.Text, f, n.Factor))
	}
	return anyOf(parts)
}

func (w *words) expand(n storekit.Expand, fields []int) object {
	list := w.expansions[n.Key()]
	if len(list) == 0 {
		return nil
	}
	var parts []any
	for _, f := range among(n.Fields, fields) {
		var queries []any
		for _, g := range list {
			queries = append(queries, w.single(g.Term, f, n.Factor*g.Weight))
		}
		parts = append(parts, object{"dis_max": object{"queries": queries}})
	}
	return anyOf(parts)
}

// phrase returns the query of a phrase. In each field the query requires the phrase and scores its terms.
func (w *words) phrase(n storekit.Phrase, fields []int) object {
	at := make([]termPosition, len(n.Tokens))
	for i, t := range n.Tokens {
		at[i] = termPosition{int32(t.Position), t.Text}
	}
	text := places(at)
	var parts []any
	for _, f := range among(n.Fields, fields) {
		w.clauses += len(n.Tokens)
		held := object{"match_phrase": object{"t." +
			plainField(w.plan.Fields[f].Name): object{"query": text, "slop": n.Slop}}}
		var terms []any
		for _, t := range n.Terms() {
			terms = append(terms, w.single(t.Text, f, t.Factor))
		}
		parts = append(parts, object{"bool": object{"filter": []any{held}, "should": terms}})
	}
	return anyOf(parts)
}

func (w *words) bool(n storekit.Bool, fields []int) object {
	out := object{}
	var must, should, not []any
	for _, part := range n.Must {
		q := w.node(part, fields)
		if q == nil {
			return nil
		}
		must = append(must, q)
	}
	for _, part := range n.Should {
		if q := w.node(part, fields); q != nil {
			should = append(should, q)
		}
	}
	for _, part := range n.MustNot {
		if q := w.node(part, fields); q != nil {
			not = append(not, q)
		}
	}
	if n.All {
		must = append(must, object{"match_all": object{"boost": 0}})
	}
	if len(must)+len(should) == 0 {
		return nil
	}
	if len(must) > 0 {
		out["must"] = must
	}
	if len(should) > 0 {
		out["should"] = should
		if len(must) == 0 {
			out["minimum_should_match"] = 1
		}
	}
	if len(not) > 0 {
		out["must_not"] = not
	}
	return object{"bool": out}
}
