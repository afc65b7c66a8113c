package postgres

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Sizes of a part. A part has the chunks that are ready when the server has finished the last part:
// at least firstPart, at most maxPart and a step, or all chunks of one call of Add.
const (
	firstPart = 48
	maxPart   = 512
	step      = 4
	// maxAhead is how many chunks send their columns and vectors before their texts.
	maxAhead = 512
)

// addParts adds a batch in parts. Columns and vectors need no analysis and go first. While the
// server stores them, or a part, this program prepares the next part. It requires w.mu.
func (w *load) addParts(ctx context.Context, batch *store.Batch) error {
	if len(batch.Replace)+len(batch.Chunks) == 0 {
		return fail("write", ctx.Err())
	}
	chunks := lastOfEqual(batch.Chunks)
	w.sending = len(batch.Chunks)
	group, ctx := errgroup.WithContext(ctx)
	ready := make(chan *part) // unbuffered: a part grows until the sender takes it
	group.Go(func() error {
		defer close(ready)
		next := &part{}
		for rest := chunks; len(rest) > 0 || len(next.chunks) > 0; {
			some := rest[:min(step, len(rest))]
			rest = rest[len(some):]
			next.add(w.s.analyze(some))
			switch n := len(next.chunks); {
			case len(rest) == 0, n >= maxPart:
				next.sort() // the sender is still busy
				select {
				case ready <- next:
				case <-ctx.Done():
					return nil // the other goroutine has the error
				}
				next = &part{}
			case n >= firstPart:
				select {
				case ready <- next:
					next = &part{}
				default:
				}
			}
		}
		return nil
	})
	group.Go(func() error {
		return w.change(ctx, func(ctx context.Context) error {
			if err := w.next.checkDims(batch); err != nil {
				return err
			}
			if err := w.remove(batch.Replace, chunks); err != nil {
				return err
			}
			return w.sendParts(ctx, chunks, ready)
		})
	})
	return group.Wait()
}

// sendParts sends chunks, whose texts are analyzed part by part. Columns and vectors go before the
// texts of their chunks, while the first texts are analyzed. When it returns, everything is sent.
func (w *load) sendParts(ctx context.Context, chunks []analyzed, ready <-chan *part) error {
	before := w.ord.take(len(chunks))
	ahead := 0 // how many chunks have sent their columns
	sendAhead := func() error {
		some := chunks[ahead:min(ahead+maxAhead, len(chunks))]
		ahead += len(some)
		return w.sendColumns(some, before+int64(ahead-len(some)))
	}
	for begun := 0; begun < len(chunks); {
		if begun >= ahead {
			if err := sendAhead(); err != nil {
				return err
			}
		}
		if err := w.line.drain(); err != nil { // meanwhile the part grows
			return err
		}
		p, ok := <-ready
		if !ok {
			return fail("write", ctx.Err()) // the end of ctx stopped the analysis
		}
		for ahead < begun+len(p.chunks) {
			if err := sendAhead(); err != nil {
				return err
			}
		}
		if err := w.sendTexts(p, before+int64(begun)); err != nil {
			return err
		}
		begun += len(p.chunks)
	}
	return w.line.settle()
}

// waiting is what a load received and has not sent.
type waiting struct {
	part
	replace []sheaf.ID
	ids     map[sheaf.ID]bool // of the waiting chunks
	docs    map[sheaf.ID]bool // the documents of these chunks
	dims    map[string]int    // of vector fields; nil before the transaction
	bytes   int               // of texts and vectors, approximately
}

// gather lets a batch wait and returns how many chunks and replaced documents wait then. It returns
// 0 when the waiting ones must be sent first: because there are enough, or because the batch
// replaces some of them.
func (w *load) gather(batch *store.Batch, chunks []analyzed) (int, error) {
	w.gathering.Lock()
	defer w.gathering.Unlock()
	next := &w.next
	if next.dims == nil || next.size() >= maxPart {
		return 0, nil
	}
	if err := next.checkDims(batch); err != nil {
		return 0, err
	}
	for _, doc := range batch.Replace {
		if next.docs[doc] {
			return 0, nil
		}
	}
	for i := range chunks {
		if next.ids[chunks[i].source.ID] {
			return 0, nil
		}
	}
	if next.ids == nil {
		next.ids, next.docs = map[sheaf.ID]bool{}, map[sheaf.ID]bool{}
	}
	for i := range chunks {
		c := chunks[i].source
		next.ids[c.ID], next.docs[c.Doc] = true, true
		for _, f := range c.Fields {
			next.bytes += len(f.Text)
		}
		for _, v := range c.Vectors {
			next.dims[v.Name] = len(v.Passages[0])
			next.bytes += 4 * len(v.Passages) * len(v.Passages[0])
		}
	}
	next.replace = append(next.replace, batch.Replace...)
	next.add(chunks)
	return next.size(), nil
}

// size returns how many chunks and replaced documents wait, or the largest allowed number when they
// are large.
func (w *waiting) size() int {
	if w.bytes >= pieceBytes {
		return maxPart
	}
	return len(w.chunks) + len(w.replace)
}

// kept copies chunks and their vectors, because the caller may reuse their memory after Add.
func kept(chunks []analyzed) []analyzed {
	for i := range chunks {
		c := *chunks[i].source
		c.Vectors = slices.Clone(c.Vectors)
		for j, v := range c.Vectors {
			c.Vectors[j].Passages = make([][]float32, len(v.Passages))
			for k, p := range v.Passages {
				c.Vectors[j].Passages[k] = slices.Clone(p)
			}
		}
		chunks[i].source = &c
	}
	return chunks
}

// analyzed is a chunk with its terms.
type analyzed struct {
	source *store.Chunk
	fields []storekit.Field // in the order of source.Fields
}

// lastOfEqual keeps the last of chunks with equal IDs.
func lastOfEqual(chunks []store.Chunk) []analyzed {
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

// part is a group of chunks that are written together.
type part struct {
	chunks []analyzed
	// terms has each term of the chunks once. numbers has, for each posting, the index of its term,
	// in the order of chunks, fields and postings.
	terms   []string
	numbers []int32
	places  map[string]int32
	// sorted has the indices of the terms in the order of their texts, in which the server inserts
	// them fastest.
	sorted []int32
}

// sort fills sorted: it sorts the new indices and merges them with the others.
func (p *part) sort() {
	if len(p.sorted) == len(p.terms) {
		return
	}
	byText := func(a, b int32) int { return cmp.Compare(p.terms[a], p.terms[b]) }
	var fresh []int32
	for i := len(p.sorted); i < len(p.terms); i++ {
		fresh = append(fresh, int32(i))
	}
	slices.SortFunc(fresh, byText)
	old, all := p.sorted, make([]int32, 0, len(p.terms))
	for len(old) > 0 && len(fresh) > 0 {
		from := &old
		if byText(fresh[0], old[0]) < 0 {
			from = &fresh
		}
		all = append(all, (*from)[0])
		*from = (*from)[1:]
	}
	p.sorted = append(append(all, old...), fresh...)
}

// add adds chunks and numbers their terms.
func (p *part) add(chunks []analyzed) {
	if p.places == nil {
		p.places = map[string]int32{}
	}
	p.chunks = append(p.chunks, chunks...)
	for i := range chunks {
		for _, f := range chunks[i].fields {
			for k := range f.Postings {
				term := f.Postings[k].Term
				at, ok := p.places[term]
				if !ok {
					at = int32(len(p.terms))
					p.places[term] = at
					p.terms = append(p.terms, term)
				}
				p.numbers = append(p.numbers, at)
			}
		}
	}
	if 4*(len(p.terms)-len(p.sorted)) > len(p.terms) { // leaves little work for the moment when the part is sent
		p.sort()
	}
}

// analyze returns the terms of chunks. One call at a time keeps a server busy, because storing
// takes longer.
func (s *Store) analyze(chunks []analyzed) []analyzed {
	for i := range chunks {
		c := &chunks[i]
		c.fields = make([]storekit.Field, len(c.source.Fields))
		for j, f := range c.source.Fields {
			c.fields[j] = s.written.Unsorted(f.Text)
			if c.fields[j].Length == 0 {
				c.fields[j].Postings = nil
			}
		}
	}
	return chunks
}
