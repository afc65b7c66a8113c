package engine

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/index/engine/segment"
)

// Scores sets out[i][k] to the score of chunk ids[k] for word request reqs[i]. If the request does not match the
// chunk, Scores leaves out[i][k] unchanged, so the caller must set it to 0 before. Scores ignores Within and Limit of
// requests. It uses at most helpers goroutines besides the caller's.
func (s *Snapshot) Scores(ctx context.Context, out [][]float64, reqs []Request, ids []sheaf.ID, helpers int) error {
	m := takeMemory()
	defer m.release()
	asked := m.asked.views(len(s.views))
	for k, id := range ids {
		if err := s.locate(string(id), func(view int, ordinal uint32) {
			asked[view] = append(asked[view], askedChunk{ordinal, int32(k)})
		}); err != nil {
			return err
		}
	}
	within := &m.candidates
	within.begin(s)
	for i, list := range asked {
		v := s.views[i]
		slices.SortFunc(list, func(a, b askedChunk) int { return int(a.ordinal) - int(b.ordinal) })
		for _, a := range list {
			if v.deleted == nil || !v.deleted.Has(a.ordinal) {
				within.set(i, a.ordinal)
			}
		}
	}
	return together(min(helpers, len(reqs)-1), len(reqs), func(_, i int) error {
		defer s.index.takeTurn().end()
		return s.scoreAmong(ctx, &reqs[i], asked, within.sets, out[i])
	})
}

// askedChunk is a chunk of a view, and the index of its identifier in ids.
type askedChunk struct {
	ordinal uint32
	at      int32
}

// askedChunks lists the chunks of each view that Scores looks up.
type askedChunks struct{ lists [][]askedChunk }

// mostAsked limits how many chunks of a view the kept memory can hold.
const mostAsked = 1 << 12

// views returns n empty lists, one for each view.
func (r *askedChunks) views(n int) [][]askedChunk {
	for len(r.lists) < n {
		r.lists = append(r.lists, nil)
	}
	for i := range r.lists {
		r.lists[i] = r.lists[i][:0]
	}
	return r.lists[:n]
}

// reset releases memory above mostAsked.
func (r *askedChunks) reset() {
	for i, list := range r.lists {
		if cap(list) > mostAsked {
			r.lists[i] = nil
		}
	}
}

// scoreAmong computes the scores of the chunks in asked for one request. The parameter within has the same chunks,
// without deleted ones; all requests share it.
func (s *Snapshot) scoreAmong(ctx context.Context, req *Request, asked [][]askedChunk, within []segment.Bitset,
	out []float64) error {
	m, allowed := takeMemory(), within
	defer m.release()
	if req.Filter != nil {
		var err error
		if allowed, err = s.among(req.Filter, within, m); err != nil {
			return err
		}
	}
	p, err := newPlan(s, req, allowed, m)
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
