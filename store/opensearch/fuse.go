package opensearch

import (
	"context"
	"errors"

	"sheaf"
	"sheaf/store"
)

// Fuse implements [store.Fuser] with OpenSearch's hybrid query and a search
// pipeline that is sent along, or with Elasticsearch's retrievers rrf and linear,
// which want its Enterprise license. Both legs rank equally many hits; OpenSearch
// knows its own min-max alone, Elasticsearch the plain one alone.
func (s *Store) Fuse(ctx context.Context, req store.FuseRequest) (store.Fused, error) {
	out := store.Fused{By: map[Dialect]string{OpenSearch: "OpenSearch's hybrid query", Elasticsearch: "Elasticsearch's retrievers"}[s.o.Dialect], Ties: true}
	if err := req.Validate(); err != nil {
		return out, err
	}
	if s.severalShards() { // a hybrid query cannot add up the counts of several shards, so its scores would be wrong
		return out, s.fault(sheaf.ErrUnsupported, "fuse: the index has several shards, and each shard counts words by itself")
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return out, err
	}
	defer stop()
	var queries [2]object
	for i, one := range req.Requests() {
		if queries[i], err = s.query(ctx, &one); err != nil {
			return out, err
		}
		if queries[i] == nil {
			return out, s.fault(sheaf.ErrUnsupported, "fuse: a branch that can find nothing")
		}
	}
	body, scale, err := s.fused(&req, queries)
	if err != nil {
		return out, err
	}
	if req.Legs[0].Limit != req.Legs[1].Limit {
		out.Differs = append(out.Differs, "both legs rank as many hits as the longer one")
		if req.Equal {
			return out, s.fault(sheaf.ErrUnsupported, "fuse: legs of %d and %d hits: the server ranks equally many of both", req.Legs[0].Limit, req.Legs[1].Limit)
		}
	}
	var found answer
	if err := s.client.Call(ctx, "POST", "/"+s.index()+"/_search", body, &found); err != nil {
		if errors.Is(err, sheaf.ErrInvalid) && !errors.Is(err, store.ErrForbidden) && !errors.Is(err, store.ErrKeptOut) {
			err = s.fault(sheaf.ErrUnsupported, "the server does not join these branches, as OpenSearch does with the plug-in neural-search, by weighted ranks from version 3 on: %v", err)
		}
		return out, err
	}
	out.Hits, err = s.hits(&found)
	for i := range out.Hits {
		out.Hits[i].Score *= scale
	}
	out.Hits.Sort()
	return out, err
}

// fused is the body for two queries, and the factor that the server's scores lack.
func (s *Store) fused(req *store.FuseRequest, queries [2]object) (body object, scale float64, err error) {
	window := max(req.Legs[0].Limit, req.Legs[1].Limit)
	total := req.Legs[0].Weight + req.Legs[1].Weight
	weights := []float64{req.Legs[0].Weight / total, req.Legs[1].Weight / total}
	body = object{"size": req.Limit, "_source": false, "docvalue_fields": []string{"id"}, "track_total_hits": false}
	switch {
	case s.o.Dialect == OpenSearch && req.Method == store.FuseRRF:
		combination := object{"technique": "rrf", "rank_constant": req.K, "parameters": object{"weights": weights}}
		body["search_pipeline"] = pipeline("score-ranker-processor", object{"combination": combination})
		scale = total
	case s.o.Dialect == OpenSearch && req.Method == store.FuseMinMaxOpenSearch:
		body["search_pipeline"] = pipeline("normalization-processor", object{"normalization": object{"technique": "min_max"},
			"combination": object{"technique": "arithmetic_mean", "parameters": object{"weights": weights}}})
		scale = 1
	case s.o.Dialect == Elasticsearch && req.Method == store.FuseRRF:
		body["retriever"] = object{"rrf": object{"retrievers": retrievers(queries, weights, 2, ""), "rank_window_size": window, "rank_constant": req.K}}
		scale = total / 2
	case s.o.Dialect == Elasticsearch && req.Method == store.FuseMinMax:
		body["retriever"] = object{"linear": object{"retrievers": retrievers(queries, weights, 1, "minmax"), "rank_window_size": window}}
		scale = 1
	default:
		return nil, 0, s.fault(sheaf.ErrUnsupported, "fuse by %s: the server does not know it", req.Method)
	}
	if s.o.Dialect == OpenSearch {
		body["query"] = object{"hybrid": object{"queries": queries, "pagination_depth": window}}
	} else {
		body["size"] = min(req.Limit, window)
	}
	return body, scale, nil
}

func pipeline(processor string, with object) object {
	return object{"phase_results_processors": []any{object{processor: with}}}
}

// retrievers are the legs as Elasticsearch reads them: with weights, times a factor,
// unless they are those that it takes for granted.
func retrievers(queries [2]object, weights []float64, factor float64, normalizer string) []any {
	var out []any
	for i, query := range queries {
		one := object{"standard": object{"query": query}}
		if w := weights[i] * factor; w != 1 || normalizer != "" {
			one = object{"retriever": one, "weight": w}
		}
		if normalizer != "" {
			one["normalizer"] = normalizer
		}
		out = append(out, one)
	}
	return out
}
