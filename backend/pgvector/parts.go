package pgvector

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/textplan"
)

// Parts of a batch: the first is small, so that the server has something to do soon.
const (
	firstPart = 48
	maxPart   = 512
	// maxAhead is how many chunks send their columns and vectors before their texts.
	maxAhead = 512
)

// addParts adds a batch in parts. Columns and vectors need no analysis and go first;
// while the server takes them, or a part, this program makes the next.
func (w *load) addParts(ctx context.Context, batch *backend.Batch) error {
	if len(batch.Replace)+len(batch.Chunks) == 0 {
		return fail("write", ctx.Err())
	}
	chunks := lastOfEqual(batch.Chunks)
	group, ctx := errgroup.WithContext(ctx)
	ready := make(chan part, 1)
	group.Go(func() error {
		defer close(ready)
		rest := chunks
		for size := firstPart; len(rest) > 0; size = min(2*size, maxPart) {
			next := rest[:min(size, len(rest))]
			rest = rest[len(next):]
			select {
			case ready <- w.s.analyze(next):
			case <-ctx.Done():
				return nil // the other says why
			}
		}
		return nil
	})
	group.Go(func() error {
		err := w.change(ctx, len(batch.Chunks), batch, func(ctx context.Context) error { return w.remove(ctx, batch.Replace, idsOf(chunks)) })
		if err != nil {
			return err
		}
		return w.sendParts(ctx, chunks, ready)
	})
	return group.Wait()
}

// sendParts sends chunks, whose texts are analyzed part by part. The postings of a part
// are sent when the next is being encoded, unless that would have to be waited for.
func (w *load) sendParts(ctx context.Context, chunks []analyzed, ready <-chan part) error {
	var encoding sync.WaitGroup
	defer encoding.Wait() // it reads what is the caller's again
	before, ahead, begun := w.ord.take(len(chunks)), 0, 0
	var last *texts
	for ahead < len(chunks) || begun < len(chunks) || last != nil {
		if begun >= ahead && ahead < len(chunks) {
			some := chunks[ahead:min(ahead+maxAhead, len(chunks))]
			err := w.change(ctx, len(chunks), nil, func(ctx context.Context) error { return w.sendColumns(ctx, some, before+int64(ahead)) })
			if err != nil {
				return err
			}
			ahead += len(some)
		}
		p, ok := receive(ready, last == nil)
		if !ok && last == nil && begun < len(chunks) {
			return fail("write", ctx.Err()) // which ended the analysis
		}
		err := w.change(ctx, len(chunks), nil, func(ctx context.Context) (err error) {
			var next *texts
			if ok {
				if next, err = w.encode(ctx, &encoding, &p, before+int64(begun)); err != nil {
					return err
				}
				begun += len(p.chunks)
			}
			if last != nil {
				err = w.sendTexts(ctx, last)
			}
			last = next
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// receive takes the next part; it is false when there is none, or none yet and it
// is not to wait.
func receive(ready <-chan part, wait bool) (p part, ok bool) {
	if wait {
		p, ok = <-ready
		return p, ok
	}
	select {
	case p, ok = <-ready:
	default:
	}
	return p, ok
}

// analyzed is a chunk with its terms.
type analyzed struct {
	source *backend.Chunk
	fields []textplan.Field // as source.Fields
}

// lastOfEqual keeps the last of chunks with equal IDs.
func lastOfEqual(chunks []backend.Chunk) []analyzed {
	last := make(map[sheaf.ID]int, len(chunks))
	for i := range chunks {
		last[chunks[i].ID] = i
	}
	out := make([]analyzed, 0, len(last))
	for i := range chunks {
		if c := &chunks[i]; last[c.ID] == i {
			out = append(out, analyzed{source: c})
		}
	}
	return out
}

func idsOf(chunks []analyzed) []sheaf.ID {
	ids := make([]sheaf.ID, len(chunks))
	for i := range chunks {
		ids[i] = chunks[i].source.ID
	}
	return ids
}

// part is chunks that are written together.
type part struct {
	chunks []analyzed
	// terms are those of the chunks, each once; numbers is the place in it of each
	// posting's, in the order of chunks, fields and postings.
	terms   []string
	numbers []int32
}

// analyze gives chunks their terms. One at a time keeps a server busy, which takes longer
// to store them.
func (s *Store) analyze(chunks []analyzed) part {
	for i := range chunks {
		c := &chunks[i]
		c.fields = make([]textplan.Field, len(c.source.Fields))
		for j, f := range c.source.Fields {
			c.fields[j] = s.written.Analyze(f.Text)
			if c.fields[j].Length == 0 {
				c.fields[j].Postings = nil
			}
		}
	}
	return number(chunks)
}

// number numbers the terms of chunks.
func number(chunks []analyzed) part {
	out := part{chunks: chunks}
	places := map[string]int32{}
	for i := range chunks {
		for _, f := range chunks[i].fields {
			for k := range f.Postings {
				term := f.Postings[k].Term
				at, ok := places[term]
				if !ok {
					at = int32(len(out.terms))
					places[term] = at
					out.terms = append(out.terms, term)
				}
				out.numbers = append(out.numbers, at)
			}
		}
	}
	return out
}
