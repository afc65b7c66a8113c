package engine

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/index/engine/segment"
)

// Scores sets out[i][k] to the score of chunk ids[k] for word request reqs[i]. A chunk that the request does not
// match keeps its value, which the caller must set to 0. Scores ignores Within and Limit of requests. It uses at most
// helpers goroutines besides the caller's.
func (s *Snapshot) Scores(ctx context.Context, out [][]float64, reqs []Request, ids []sheaf.ID, helpers int) error {
	asked := make([][]askedChunk, len(s.views))
	for k, id := range ids {
		if err := s.locate(string(id), func(view int, ordinal uint32) {
			asked[view] = append(asked[view], askedChunk{ordinal, int32(k)})
		}); err != nil {
			return err
		}
	}
	within := s.emptySets()
	for i, list := range asked {
		v := s.views[i]
		slices.SortFunc(list, func(a, b askedChunk) int { return int(a.ordinal) - int(b.ordinal) })
		for _, a := range list {
			if v.deleted == nil || !v.deleted.Has(a.ordinal) {
				within[i].Set(a.ordinal)
			}
		}
	}
	return runTogether(min(helpers, len(reqs)-1), len(reqs), func(_, i int) error {
		s.index.searching.Add(1)
		defer s.index.searching.Add(-1)
		return s.scoreAmong(ctx, &reqs[i], asked, within, out[i])
	})
}

// askedChunk is a chunk whose score was requested: its ordinal, and the index of its identifier in ids.
type askedChunk struct {
	ordinal uint32
	at      int32
}

// scoreAmong computes the scores of the chunks in asked for one request. The score of the chunk a goes to out[a.at].
// asked lists the chunks of each view in order of ordinal, and within has the same chunks except deleted ones. All
// requests share asked and within.
func (s *Snapshot) scoreAmong(ctx context.Context, req *Request, asked [][]askedChunk, within []segment.Bitset,
	out []float64) error {
	allowed := within
	if req.Filter != nil {
		var err error
		if allowed, err = s.restrict(req.Filter, within); err != nil {
			return err
		}
	}
	p, err := newPlan(s, req, allowed)
	if err != nil {
		return err
	}
	for i, list := range asked {
		if len(list) == 0 {
			continue
		}
		root, err := p.root.node(p, i)
		if err != nil {
			return err
		}
		p.exhaust(ctx, i, root, func(ordinal uint32, score float64) {
			for len(list) > 0 && list[0].ordinal <= ordinal { // both are in rising order
				if list[0].ordinal == ordinal {
					out[list[0].at] = score
				}
				list = list[1:]
			}
		})
		err = root.err()
		root.close()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
