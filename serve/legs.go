package serve

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"sheaf"
	"sheaf/backend"
)

// legs remembers what branches retrieved, for whoever explains a query and then
// changes a number: what comes after retrieving takes a small part of the time. It
// is shared by all callers; a request holds the filter of its caller, so nobody is
// given what another may see.
type legs struct {
	mu         sync.Mutex
	generation uint64
	kept       []leg // the last used first
}

type leg struct {
	viewer  backend.Viewer
	request backend.Request
	ranking sheaf.Ranking
}

// maxLegs is how many are remembered, maxLegHits how long one of them may be:
// two queries of three branches with two profiles side by side, and some to go
// back to.
const (
	maxLegs    = 24
	maxLegHits = 2000
)

// retrieve is what by retrieves for a request on a generation of the index, or did
// before.
func (l *legs) retrieve(ctx context.Context, generation uint64, req backend.Request, by backend.Backend) (sheaf.Ranking, error) {
	viewer := backend.ViewerOf(ctx)
	if ranking, ok := l.find(generation, viewer, req); ok {
		return ranking, nil
	}
	ranking, err := by.Retrieve(ctx, req)
	if err == nil && len(ranking) <= maxLegHits {
		l.keep(generation, leg{viewer, req, slices.Clone(ranking)})
	}
	return ranking, err
}

// find compares requests whole: they are trees of plain values.
func (l *legs) find(generation uint64, viewer backend.Viewer, req backend.Request) (sheaf.Ranking, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.generation != generation {
		return nil, false
	}
	i := slices.IndexFunc(l.kept, func(k leg) bool { return reflect.DeepEqual(k.request, req) && reflect.DeepEqual(k.viewer, viewer) })
	if i < 0 {
		return nil, false
	}
	found := l.kept[i]
	l.kept = slices.Insert(slices.Delete(l.kept, i, i+1), 0, found)
	return slices.Clone(found.ranking), true
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
