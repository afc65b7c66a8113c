package engine

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// A query with many postings is evaluated by as many goroutines as there are processors without another query.
// Segments are cut into ranges of ordinals, which share one threshold. The answer does not change: a range skips only
// chunks below a threshold that some range has reached.

// parallelPostings is the number of postings of a query from which a second goroutine pays off. Tests lower it.
var parallelPostings = 60_000

// maxHelpers limits the additional goroutines for one query.
const maxHelpers = 7

// stretch is a range of ordinals of one segment that one goroutine evaluates.
type stretch struct {
	owner    *maxScore
	from, to uint32
	first    bool // the first stretch of the segment, which owner evaluates itself
}

// hand is the state of one goroutine of a search. It evaluates stretches of a segment one after another.
type hand struct {
	owner, helper *maxScore // helper is owner, or another evaluation of the same segment
}

// stretchesEach is roughly the number of stretches per goroutine. With several stretches, a fast goroutine can evaluate
// more of them than a slow one.
const stretchesEach = 4

// prune runs the evaluations in segments, which offer the best chunks to their collector. It begins with the windows
// with the largest bounds; see probe. If work is not nil, prune adds to it the postings that it read and scored.
func (p *plan) prune(ctx context.Context, terms []*planTerm, segments []*maxScore, work *Work) error {
	all := 0
	for _, m := range segments {
		m.begin()
		for _, b := range m.bounds {
			all += b.cursor.DF()
		}
	}
	probe(ctx, segments)
	searching := &p.snapshot.index.searching
	helpers := 0
	if all >= parallelPostings {
		helpers = min(max(runtime.GOMAXPROCS(0)-int(searching.Load()), 0), maxHelpers)
		searching.Add(int32(helpers))
		defer searching.Add(int32(-helpers))
	}
	stretches, hands := cut(segments, helpers+1), make([]hand, helpers+1)
	err := runTogether(helpers, len(stretches), func(me, i int) error {
		return p.runStretch(ctx, terms, &stretches[i], &hands[me])
	})
	for i := range hands {
		err = errors.Join(err, p.finish(&hands[i]))
	}
	if err != nil {
		return err
	}
	// Only now is the threshold nearly final, so that few chunks must be scored.
	err = runTogether(min(helpers, len(segments)-1), len(segments), func(_, i int) error {
		return p.scoreFound(segments[i])
	})
	if work != nil {
		work.Postings += int64(all)
		for _, m := range segments {
			work.Scored += int64(m.touched + m.elsewhere)
		}
	}
	return errors.Join(err, ctx.Err())
}

// scoreFound computes the exact scores of the results that m found in a segment.
func (p *plan) scoreFound(m *maxScore) error {
	m.pending = append(m.pending, m.brought...)
	m.confirm()
	return p.faultOf(m)
}

// runTogether calls do(me, i) for each i with 0 <= i < n. It uses the caller's goroutine, whose number me is 0, and as
// many others as helpers says. Each goroutine takes the next free i. A goroutine ends at its first error.
func runTogether(helpers, n int, do func(me, i int) error) error {
	if helpers <= 0 {
		for i := range n {
			if err := do(0, i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	errs := make([]error, helpers+1)
	run := func(me int) {
		for i := int(next.Add(1)) - 1; i < n && errs[me] == nil; i = int(next.Add(1)) - 1 {
			errs[me] = do(me, i)
		}
	}
	var wait sync.WaitGroup
	for me := range helpers {
		wait.Go(func() { run(me + 1) })
	}
	run(0)
	wait.Wait()
	return errors.Join(errs...)
}

// faultOf returns the fault of a list that m has read, or nil.
func (p *plan) faultOf(m *maxScore) error {
	for _, b := range m.bounds {
		if fault := b.cursor.Err(); fault != nil {
			return p.snapshot.views[m.view].reader.Corrupt(fault)
		}
	}
	return m.exact.err()
}

// cut splits segments into stretches, several for each goroutine, in order.
func cut(segments []*maxScore, goroutines int) (out []stretch) {
	most := 1 // of a segment
	if goroutines > 1 {
		most = (stretchesEach*goroutines + len(segments) - 1) / max(len(segments), 1)
	}
	for _, m := range segments {
		parts := min(most, m.windows)
		for i := range parts {
			from, to := uint32(i*m.windows/parts*windowLen), uint32((i+1)*m.windows/parts*windowLen)
			out = append(out, stretch{owner: m, from: from, to: min(to, m.chunks), first: i == 0})
		}
	}
	return out
}

// runStretch evaluates a stretch, without exact scores. The first stretch of a segment uses the segment's own
// evaluation. For other stretches, a goroutine makes an evaluation with its own cursors. It keeps this evaluation for
// later stretches of the segment.
func (p *plan) runStretch(ctx context.Context, terms []*planTerm, s *stretch, h *hand) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.owner != s.owner {
		if err := p.finish(h); err != nil {
			return err
		}
		with := s.owner
		if !s.first {
			var err error
			if with, err = p.maxScore(terms, s.owner.view, s.owner.top); err != nil {
				return err
			}
			with.share(s.owner)
		}
		*h = hand{owner: s.owner, helper: with}
	}
	h.helper.from, h.helper.to = s.from, s.to
	h.helper.run(ctx)
	return nil
}

// finish adds the results of a goroutine to those of its segment, and releases the goroutine's evaluation.
func (p *plan) finish(h *hand) error {
	of, with := h.owner, h.helper
	*h = hand{}
	if with == of {
		return nil
	}
	defer with.close()
	of.bring(with)
	return p.faultOf(with)
}

// bring adds the results of another evaluation of the same segment to m.
func (m *maxScore) bring(other *maxScore) {
	m.bringing.Lock()
	defer m.bringing.Unlock()
	m.brought = append(m.brought, other.pending...)
	m.elsewhere += other.touched
}

// share copies to m the results of [maxScore.begin] for other, an evaluation of the same segment.
func (m *maxScore) share(other *maxScore) {
	m.windows, m.most = other.windows, other.most
	for _, b := range m.bounds {
		b.blocks = other.blocksOf[b.number]
		b.windows = other.scratch.most[b.number*m.windows : (b.number+1)*m.windows]
	}
}
