package weaviate

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
)

// Bounds of the server's hybrid search.
const (
	// minWindow is how many hits each leg ranks at least
	// (QUERY_HYBRID_MAXIMUM_RESULTS as it is set up).
	minWindow = 100
	// rankConstant is what it adds to ranks, which it counts from 0; counted
	// from 1 the constant is one less.
	rankConstant = 60
)

// Fuse implements [store.Fuser] with the server's hybrid search, for stores made
// with Options.Hybrid. It scores fields together, with whole weights, ranks equally many hits
// of both legs, at least 100, compares one vector of each chunk, and has 59 for the
// constant of reciprocal ranks; what is asked for otherwise is named in
// Fused.Differs. Hits beyond a leg's limit are not told.
func (s *Store) Fuse(ctx context.Context, req store.FuseRequest) (store.Fused, error) {
	out := store.Fused{By: "Weaviate's hybrid search", Ties: true}
	if err := req.Validate(); err != nil {
		return out, err
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return out, err
	}
	defer stop()
	h, err := s.hybrid(&req)
	if err != nil {
		return out, err
	}
	if out.Differs, err = s.differs(ctx, &req, h); err != nil {
		return out, err
	}
	if req.Equal && len(out.Differs) > 0 {
		return out, s.fault(sheaf.ErrUnsupported, "fuse: %s", strings.Join(out.Differs, "; "))
	}
	out.Hits, err = s.askHybrid(ctx, h)
	out.Hits = out.Hits[:min(len(out.Hits), req.Limit)]
	return out, err
}

// hybrid is a request to the server's hybrid search.
type hybrid struct {
	query  string // GraphQL
	window int
	// scale is the factor that the server's scores lack.
	scale float64
	// words are those of the request.
	words asked
}

func (s *Store) hybrid(req *store.FuseRequest) (hybrid, error) {
	var h hybrid
	text, near, ok := req.Kinds()
	switch vector := req.Legs[near].Vector; {
	case !s.o.Hybrid:
		return h, s.fault(sheaf.ErrUnsupported, "fuse: the class was made without vectors beside the words: fill one with hybrid=true in the address")
	case !ok:
		return h, s.fault(sheaf.ErrUnsupported, "fuse two branches of one kind: one must search words and the other a vector")
	case vector.Field != store.VectorBody:
		return h, s.fault(sheaf.ErrUnsupported, "fuse: vector field %q: only %q stands beside the words", vector.Field, store.VectorBody)
	case req.Legs[text].Text.Combine != store.CombineSum:
		return h, s.fault(sheaf.ErrUnsupported, "fuse: combine: the server sums the fields")
	case req.Legs[0].Weight == 0 || req.Legs[1].Weight == 0:
		return h, s.fault(sheaf.ErrUnsupported, "fuse: a leg of weight 0: the server leaves it out")
	}
	requests := req.Requests()
	nearest, err := s.prepare(&requests[near])
	if err != nil {
		return h, err
	}
	if h.words, err = s.prepare(&requests[text]); err != nil {
		return h, err
	}
	if h.words.where != nearest.where || nearest.where.none || nearest.where.loose {
		return h, s.fault(sheaf.ErrUnsupported, "fuse: words that must or must not match, or a filter that is tested here: they bound both legs")
	}
	properties, err := s.summed(&h)
	if err != nil {
		return h, err
	}
	total := req.Legs[0].Weight + req.Legs[1].Weight
	kind := "rankedFusion"
	switch h.scale = total; req.Method {
	case store.FuseRRF:
	case store.FuseMinMax:
		kind, h.scale = "relativeScoreFusion", 1
	default:
		return h, s.fault(sheaf.ErrUnsupported, "fuse by %s: the server does not know it", req.Method)
	}
	h.window = max(req.Legs[0].Limit, req.Legs[1].Limit, minWindow)
	where := ""
	if !nearest.where.all {
		where = " where:" + nearest.where.where
	}
	h.query = fmt.Sprintf("{Get{%s(limit:%d hybrid:{query:%s vector:%s alpha:%s properties:%s fusionType:%s}%s){cid _additional{score}}}}",
		s.o.Class, h.window, quote(h.words.lists[0].words), numbers(req.Legs[near].Vector.Vector),
		strconv.FormatFloat(req.Legs[near].Weight/total, 'g', -1, 64), quoteAll(properties), kind, where)
	return h, nil
}

// summed are the properties that the words are looked for in, with their weights.
func (s *Store) summed(h *hybrid) ([]string, error) {
	var properties []string
	for _, l := range h.words.lists {
		weight := l.weight / l.factor
		if l.factor != 1 || l.words != h.words.lists[0].words || weight != math.Trunc(weight) {
			return nil, s.fault(sheaf.ErrUnsupported, "fuse: words of different weights, or weights that are no whole numbers")
		}
		properties = append(properties, l.property+"^"+strconv.Itoa(int(weight)))
	}
	if len(properties) == 0 {
		return nil, s.fault(sheaf.ErrUnsupported, "fuse: there are no words to match")
	}
	return properties, nil
}

// differs names what the hybrid search does otherwise than was asked for.
func (s *Store) differs(ctx context.Context, req *store.FuseRequest, h hybrid) ([]string, error) {
	var out []string
	if a, b := req.Legs[0].Limit, req.Legs[1].Limit; a != h.window || b != h.window {
		out = append(out, fmt.Sprintf("both legs rank %d hits", h.window))
	}
	if req.Method == store.FuseRRF && req.K != rankConstant-1 {
		out = append(out, fmt.Sprintf("k is %d", rankConstant-1))
	}
	matches, err := s.count(ctx, h.words)
	if err != nil {
		return nil, err
	}
	if matches > h.window {
		out = append(out, "of words that more chunks match than are ranked, some of the best are missed")
	}
	if len(h.words.lists) > 1 {
		out = append(out, "a word in several fields is scored once for all of them")
	}
	class := s.passageClass(store.VectorBody)
	answer, err := ask[got](ctx, s, fmt.Sprintf(`{Get{%s(limit:1 where:{path:["n"] operator:GreaterThan valueInt:0}){n}}}`, class))
	if err != nil {
		return nil, err
	}
	longer, err := hits(s, answer.Get, class)
	if err != nil {
		return nil, err
	}
	if len(longer) > 0 {
		out = append(out, "of several passages of a chunk the first one counts")
	}
	return out, nil
}

func (s *Store) askHybrid(ctx context.Context, h hybrid) (sheaf.Ranking, error) {
	answer, err := ask[got](ctx, s, h.query)
	if err != nil {
		return nil, err
	}
	list, err := hits(s, answer.Get, s.o.Class)
	if err != nil {
		return nil, err
	}
	var out sheaf.Ranking
	for _, o := range list {
		id, err := hex.DecodeString(o.CID)
		score, bad := strconv.ParseFloat(o.Additional.Score, 64)
		if err != nil || len(id) == 0 || bad != nil {
			return nil, s.fault(sheaf.ErrUnavailable, "a hit %q with the score %q: the answer is not what such a server says", o.CID, o.Additional.Score)
		}
		out = append(out, sheaf.Hit{ID: sheaf.ID(id), Score: score * h.scale})
	}
	out.Sort()
	return out, nil
}
