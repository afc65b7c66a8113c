package serve

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"sheaf"
	"sheaf/backend"
)

// legs remembers what branches retrieved and how their scores came about, for
// whoever explains a query and then changes a number: what comes after retrieving
// takes a small part of the time. It is shared by all callers; what is asked holds
// its caller with their filter, so nobody is given what another may see.
type legs struct {
	mu         sync.Mutex
	generation uint64
	kept       []leg // the last used first
}

// leg is what a store was asked, and its answer.
type leg struct {
	asked legRequest
	// ranking is what was retrieved; parts explain asked.ids instead.
	ranking sheaf.Ranking
	parts   []*sheaf.Explanation
}

type legRequest struct {
	viewer  backend.Viewer
	request backend.Request
	ids     []sheaf.ID // nil to retrieve
}

// maxLegs is how many are remembered, maxLegHits how long one of them may be:
// two queries of three branches with two profiles side by side, each retrieved
// and explained.
const (
	maxLegs    = 24
	maxLegHits = 2000
)

// retrieve is what by retrieves for a request on a generation of the index, or did
// before.
func (l *legs) retrieve(ctx context.Context, generation uint64, req backend.Request, by backend.Backend) (sheaf.Ranking, error) {
	asked := legRequest{backend.ViewerOf(ctx), req, nil}
	if known, ok := l.find(generation, asked); ok {
		return slices.Clone(known.ranking), nil
	}
	ranking, err := by.Retrieve(ctx, req)
	if err == nil && len(ranking) <= maxLegHits {
		l.keep(generation, leg{asked: asked, ranking: slices.Clone(ranking)})
	}
	return ranking, err
}

// explain is what by says of the scores of ids, or said before.
func (l *legs) explain(ctx context.Context, generation uint64, req backend.Request, ids []sheaf.ID, by backend.Explainer) ([]*sheaf.Explanation, error) {
	asked := legRequest{backend.ViewerOf(ctx), req, ids}
	if known, ok := l.find(generation, asked); ok {
		return slices.Clone(known.parts), nil
	}
	parts, err := by.Explain(ctx, req, ids)
	if err == nil && len(ids) > 0 && len(ids) <= maxLegHits {
		l.keep(generation, leg{asked: asked, parts: slices.Clone(parts)})
	}
	return parts, err
}

// find compares what is asked whole: it is a tree of plain values.
func (l *legs) find(generation uint64, asked legRequest) (leg, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.generation != generation {
		return leg{}, false
	}
	i := slices.IndexFunc(l.kept, func(k leg) bool { return reflect.DeepEqual(k.asked, asked) })
	if i < 0 {
		return leg{}, false
	}
	found := l.kept[i]
	l.kept = slices.Insert(slices.Delete(l.kept, i, i+1), 0, found)
	return found, true
}

func (l *legs) keep(generation uint64, k leg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.generation > generation:
		return
	case l.generation != generation:
		l.generation, l.kept = generation, nil
	}
	l.kept = slices.Insert(l.kept, 0, k)[:min(len(l.kept)+1, maxLegs)]
}
