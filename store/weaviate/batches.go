package weaviate

import (
	"context"

	"sheaf"
	"sheaf/store"
)

// RetrieveAll implements [store.Batcher]: one request asks for the lists of all word requests.
// Vectors, and filters that the server cannot express, may need several requests each and are
// handled one by one.
func (s *Store) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	out := make([]sheaf.Ranking, len(reqs))
	err := s.together(ctx, reqs, func(req *store.Request) (asked, error) { return s.prepare(req) },
		func(a asked) bool { return len(a.lists) > 0 },
		func(ctx context.Context, list []asked, of []int) error {
			var every []asked
			for _, a := range list {
				every = append(every, a.whole()...)
			}
			pages, err := s.pages(ctx, every)
			if err != nil {
				return err
			}
			for k, a := range list {
				if out[of[k]], err = s.join(ctx, a, pages[:len(a.lists)]); err != nil {
					return err
				}
				pages = pages[len(a.lists):]
			}
			return nil
		},
		func(ctx context.Context, a asked, i int) (err error) {
			out[i], err = s.enough(ctx, a, reqs[i].Limit)
			return err
		})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = out[i][:min(len(out[i]), reqs[i].Limit)]
	}
	return out, nil
}

// CountAll implements [store.Batcher], with one request where the server can count.
func (s *Store) CountAll(ctx context.Context, reqs []store.Request) ([]int, error) {
	out := make([]int, len(reqs))
	err := s.together(ctx, reqs, func(req *store.Request) (asked, error) { return s.counting(*req) }, asked.countable,
		func(ctx context.Context, list []asked, of []int) error {
			counts, err := s.countAll(ctx, list)
			for k, n := range counts {
				out[of[k]] = n
			}
			return err
		},
		func(ctx context.Context, a asked, i int) error {
			found, err := s.enough(ctx, a, MaxLimit-1)
			if err == nil && len(found) >= MaxLimit-1 {
				return s.fault(sheaf.ErrUnsupported, "count more than %d hits of this request", len(found))
			}
			out[i] = len(found)
			return err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// together passes to all the requests that fit into one HTTP request, each prepared and with its
// index, and passes the other requests to one. It skips requests that cannot find anything.
func (s *Store) together(ctx context.Context, reqs []store.Request, prepare func(*store.Request) (asked, error),
	fits func(asked) bool,
	all func(ctx context.Context, list []asked, of []int) error,
	one func(ctx context.Context, a asked, i int) error) error {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var list, rest []asked
	var of, ofRest []int
	for i := range reqs {
		if err := reqs[i].ValidatePlain(); err != nil {
			return err
		}
		a, err := prepare(&reqs[i])
		switch {
		case err != nil:
			return err
		case a.where.none:
		case fits(a):
			list, of = append(list, a), append(of, i)
		default:
			rest, ofRest = append(rest, a), append(ofRest, i)
		}
	}
	if len(list) > 0 {
		if err := all(ctx, list, of); err != nil {
			return err
		}
	}
	return store.Each(ctx, len(rest), func(ctx context.Context, k int) error { return one(ctx, rest[k], ofRest[k]) })
}
