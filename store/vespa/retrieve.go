package vespa

import (
	"context"
	"fmt"
	"math"

	"sheaf"
	"sheaf/store"
)

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := req.ValidatePlain(); err != nil {
		return nil, err
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	a, err := s.prepare(&req)
	if err != nil {
		return nil, err
	}
	return s.firstHits(ctx, a, req.Limit)
}

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	if err := req.ValidatePlain(); err != nil {
		return 0, err
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	q := newQuery(s.o.Schema)
	where, err := s.bounds(q, req.Filter, req.Within)
	if err != nil {
		return 0, err
	}
	if req.Vector != nil {
		_, ok, err := s.vectorField(req.Vector)
		if err != nil || !ok {
			return 0, err
		}
		return s.count(ctx, and(where, anyOf(q, "vectors", []string{vectorWord(req.Vector.Field)})), q)
	}
	req = s.o.Unscored(req)
	w, err := s.words(q, req.Text, false)
	if err != nil {
		return 0, err
	}
	return s.count(ctx, and(where, w.match), q)
}

func (s *Store) count(ctx context.Context, where string, q *query) (int, error) {
	if where == nothing {
		return 0, nil
	}
	q.where = where
	q.body["hits"], q.body["ranking.profile"] = 0, "unranked"
	found, err := s.search(ctx, q)
	if err != nil {
		return 0, err
	}
	return found.Root.Fields.TotalCount, nil
}

// growingRequest is a request that firstHits repeats, with more hits each time, until the first hits cannot change.
type growingRequest struct {
	q *query
	// window sets how many candidates the server examines for this number of hits.
	window func(hits int)
	// score replaces the server's score of a hit by Sheaf's, and sets the passage of the hit.
	score func(h *sheaf.Hit, fields hitFields)
}

// prepare makes the query of a request. If no chunk can match, the query's condition is the constant nothing.
func (s *Store) prepare(req *store.Request) (*growingRequest, error) {
	q := newQuery(s.o.Schema)
	q.body["presentation.summary"] = "hit"
	a := &growingRequest{q: q, window: func(int) {}}
	where, err := s.bounds(q, req.Filter, req.Within)
	if err != nil {
		return nil, err
	}
	if req.Vector != nil {
		return a, s.addNearest(a, req.Vector, where)
	}
	if reason := s.o.Refuses(req, "application"); reason != "" {
		return nil, s.fault(sheaf.ErrUnsupported, "%s", reason)
	}
	w, err := s.words(q, req.Text, true)
	if err != nil {
		return nil, err
	}
	q.where = and(where, w.match)
	q.body["ranking.profile"] = s.o.wordsProfile()
	q.body["input.query(tie)"] = 1.0
	if req.Text.Combine == store.CombineBest {
		q.body["input.query(tie)"] = req.Text.TieBreaker
	}
	for field, weight := range w.weights {
		q.body["input.query(weight_"+field+")"] = weight
	}
	// Vespa's scores have the factor k1+1. Repeated terms add the factor scale, which makes their factors integers.
	by := (s.o.K1 + 1) * w.scale
	a.score = func(h *sheaf.Hit, _ hitFields) { h.Score /= by }
	return a, nil
}

// vectorField returns the vector field that a request names. ok is false if the field has no vectors.
func (s *Store) vectorField(req *store.VectorRequest) (field store.VectorField, ok bool, err error) {
	for _, v := range s.o.Vectors {
		if v.Name == req.Field {
			field = v
		}
	}
	ok, err = field.Answers(req)
	return field, ok, err
}

// addNearest adds the search for the nearest passages to the request a. Vespa scores passages by their angle to the
// query's vector. where is the condition on chunks.
func (s *Store) addNearest(a *growingRequest, req *store.VectorRequest, where string) error {
	v, ok, err := s.vectorField(req)
	if err != nil {
		return err
	}
	if !ok {
		a.q.where = nothing
		return nil
	}
	a.q.body["ranking.profile"], a.q.body["input.query(query_embedding)"] = nearProfile(v), req.Vector
	a.window = func(hits int) { a.q.where = and(s.nearest(v, max(hits, req.Candidates)), where) }
	if where == nothing {
		a.q.where, a.window = nothing, func(int) {}
	} else {
		a.window(0)
	}
	a.score = func(h *sheaf.Hit, fields hitFields) {
		h.Score, h.Passage = similarity(h.Score), fields.closest(vectorField(v.Name))
	}
	return nil
}

// nearest returns the YQL operator that finds the passages nearest to the query's vector.
func (s *Store) nearest(v store.VectorField, hits int) string {
	return fmt.Sprintf("({targetHits:%d,approximate:%t}nearestNeighbor(%s, query_embedding))", hits, s.o.HNSW,
		vectorField(v.Name))
}

// similarity converts Vespa's closeness, 1/(1+angle), to the dot product of the unit vectors.
func similarity(closeness float64) float64 {
	if closeness <= 0 {
		return -1
	}
	return math.Cos(min(1/closeness-1, math.Pi))
}

// firstHits returns the first limit hits. It asks for more and more hits until no other hit can be among them. One
// request is not enough, because the server does not sort equal scores by ID.
func (s *Store) firstHits(ctx context.Context, a *growingRequest, limit int) (sheaf.Ranking, error) {
	if a.q.where == nothing {
		return nil, nil
	}
	for want := min(limit+limit/4+20, maxHits); ; want = min(want*4, maxHits) {
		a.window(want)
		a.q.body["hits"] = want
		found, err := s.search(ctx, a.q)
		if err != nil {
			return nil, err
		}
		out := make(sheaf.Ranking, 0, len(found.Root.Children))
		for _, h := range found.Root.Children {
			read, fields, err := s.read(h)
			if err != nil {
				return nil, err
			}
			a.score(&read, fields)
			out = append(out, read)
		}
		out.Sort()
		// Settled when no unseen hit can score as high.
		n := len(out)
		if n < want || n > limit && out[limit-1].Score > out[n-1].Score || want == maxHits {
			return out[:min(n, limit)], nil
		}
	}
}
