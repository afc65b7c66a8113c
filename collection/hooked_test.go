package collection_test

import (
	"context"

	"sheaf"
	"sheaf/collection"
	"sheaf/store"
)

// whole is a store with everything that the tests ask for.
type whole interface {
	store.Backend
	store.Counter
	store.Explainer
	store.Faceter
	store.Versioned
}

// hooked is a store that passes every request to hook first. The hook may change the request. Its error is the answer
// of the store. The verbs are "retrieve", "count", "explain", "facets" and "supports".
type hooked struct {
	whole
	hook func(ctx context.Context, verb string, r *store.Request) error
}

// hookStore returns an option that puts a hook before the store of a collection.
func hookStore(hook func(ctx context.Context, verb string, r *store.Request) error) func(*collection.Options) {
	return func(o *collection.Options) { o.Backend = hooked{o.Backend.(whole), hook} }
}

func (s hooked) Retrieve(ctx context.Context, r store.Request) (sheaf.Ranking, error) {
	if err := s.hook(ctx, "retrieve", &r); err != nil {
		return nil, err
	}
	return s.whole.Retrieve(ctx, r)
}

func (s hooked) Count(ctx context.Context, r store.Request) (int, error) {
	if err := s.hook(ctx, "count", &r); err != nil {
		return 0, err
	}
	return s.whole.Count(ctx, r)
}

func (s hooked) Explain(ctx context.Context, r store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if err := s.hook(ctx, "explain", &r); err != nil {
		return nil, err
	}
	return s.whole.Explain(ctx, r, ids)
}

func (s hooked) Facets(ctx context.Context, r store.Request, columns []string, limit int) ([]store.Facet, error) {
	if err := s.hook(ctx, "facets", &r); err != nil {
		return nil, err
	}
	return s.whole.Facets(ctx, r, columns, limit)
}

func (s hooked) Supports(r store.Request) error { return s.hook(context.Background(), "supports", &r) }
