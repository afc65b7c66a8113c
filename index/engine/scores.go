package engine

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/index/engine/segment"
)

// Scores tells how strongly each of some chunks matches each of some requests about
// words: out[i][k] is the score that ids[k] has in an answer to reqs[i], and 0 when it
// is in none. A request's own bounds and limit mean nothing here. Identifiers are
// looked up once for all requests, and hits, which would be as many as the chunks,
// are neither made nor put in order. So many goroutines help, at most. out is zeros as it comes.
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

// askedChunk is a chunk of a view, and where its identifier stands in a question.
type askedChunk struct {
	ordinal uint32
	at      int32
}

// askedChunks are the chunks of each view that are asked for.
type askedChunks struct{ lists [][]askedChunk }

// mostAsked is for how many chunks of a view memory is kept.
const mostAsked = 1 << 12

// views are empty lists for so many views.
func (r *askedChunks) views(n int) [][]askedChunk {
	for len(r.lists) < n {
		r.lists = append(r.lists, nil)
	}
	for i := range r.lists {
		r.lists[i] = r.lists[i][:0]
	}
	return r.lists[:n]
}

// reset drops large memory.
func (r *askedChunks) reset() {
	for i, list := range r.lists {
		if cap(list) > mostAsked {
			r.lists[i] = nil
		}
	}
}

// scoreAmong scores the chunks of each view that requests name. within are their sets without
// deleted chunks; requests share them.
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
			for len(list) > 0 && list[0].ordinal <= ordinal { // both rise
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
