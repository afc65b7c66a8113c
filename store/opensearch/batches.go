package opensearch

import (
	"context"
	"fmt"
	"net/http"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Retrieve implements [store.Backend].
func (s *Store) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	return storekit.One(s.RetrieveAll(ctx, []store.Request{req}))
}

// Count implements [store.Counter].
func (s *Store) Count(ctx context.Context, req store.Request) (int, error) {
	return storekit.One(s.CountAll(ctx, []store.Request{req}))
}

// RetrieveAll implements [store.Batcher]. It sends all searches in one request.
func (s *Store) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	out := make([]sheaf.Ranking, len(reqs))
	err := s.sendTogether(ctx, reqs, func(ctx context.Context, req *store.Request) (object, error) {
		query, err := s.query(ctx, req)
		if query == nil {
			return nil, err
		}
		return ranked(req, query), err
	}, func(i int, found *answer) (err error) {
		out[i], err = s.ranking(&reqs[i], found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CountAll implements [store.Batcher]. It sends all searches in one request. The searches return no hits.
func (s *Store) CountAll(ctx context.Context, reqs []store.Request) ([]int, error) {
	out := make([]int, len(reqs))
	err := s.sendTogether(ctx, reqs, func(ctx context.Context, req *store.Request) (object, error) {
		query, err := s.matching(ctx, *req)
		if query == nil {
			return nil, err
		}
		return object{"size": 0, "query": query, "track_total_hits": true}, err
	}, func(i int, found *answer) error {
		if err := s.whole(found); err != nil {
			return err
		}
		if found.Hits.Total.Value == nil {
			return s.fault(sheaf.ErrUnavailable, "a count without a number: the answer is not from such a server")
		}
		out[i] = *found.Hits.Total.Value
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sendTogether sends all searches in one request. search returns the body for a request, or nil if nothing can match.
// read gets the answer to request number i; sendTogether does not call it for a nil body.
func (s *Store) sendTogether(ctx context.Context, reqs []store.Request,
	search func(ctx context.Context, req *store.Request) (object, error), read func(i int, found *answer) error) error {
	for i := range reqs {
		if err := reqs[i].ValidatePlain(); err != nil {
			return err
		}
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	s.follow(ctx)
	var lines []byte
	var asked []int
	for i := range reqs {
		body, err := search(ctx, &reqs[i])
		if err != nil {
			return err
		}
		if body != nil {
			asked = append(asked, i)
			lines = append(lines, "{}\n"...)
			lines = append(append(lines, encode(body)...), '\n')
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return s.multiple(ctx, lines, asked, read)
}

// multiple sends the searches in lines in one request. asked has the index of each search's request, for read. If the
// server is too busy for some searches, multiple sends all of them again.
func (s *Store) multiple(ctx context.Context, lines []byte, asked []int, read func(i int, found *answer) error) error {
	path := s.searching("_msearch")
	for attempt := 1; ; attempt++ {
		var said struct {
			Responses []struct {
				Status int
				Error  serverError
				answer
			}
		}
		if err := s.client.Call(ctx, "POST", path, storekit.Lines(lines), &said); err != nil {
			return err
		}
		if len(said.Responses) != len(asked) {
			return s.fault(sheaf.ErrUnavailable, "the server answered %d of %d searches", len(said.Responses), len(asked))
		}
		busy := false
		for k, i := range asked {
			one := &said.Responses[k]
			switch {
			case one.Status == http.StatusTooManyRequests && attempt < bulkAttempts:
				busy = true
			case one.Status >= 300:
				return fmt.Errorf("%s: POST %s: %w", s.o.Dialect, path, one.Error.category(one.Status))
			default:
				if err := read(i, &one.answer); err != nil {
					return err
				}
			}
		}
		if !busy {
			return nil
		}
		if err := storekit.Wait(ctx, attempt, 0); err != nil {
			return err
		}
	}
}
