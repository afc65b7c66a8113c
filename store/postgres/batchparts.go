package postgres

import (
	"cmp"
	"slices"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Sizes of a part. A part has the chunks that wait when the server has finished the last part: at
// least firstPart, at most maxPart, or all chunks of one call of Add.
const (
	firstPart = 48
	maxPart   = 512
)

// waiting has the batches that a load received and did not send yet.
type waiting struct {
	part
	replace []sheaf.ID
	ids     map[sheaf.ID]bool // of the waiting chunks
	docs    map[sheaf.ID]bool // the documents of these chunks
	dims    map[string]int    // of vector fields; nil before the transaction
	bytes   int               // of texts and vectors, approximately
}

// gather adds a batch to the waiting ones and returns how many chunks and replaced documents wait.
// It returns 0 when the load must first send the waiting ones: because they are enough, or because
// the batch replaces some of them.
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
}

// sorted returns the indices of the terms in the order of their texts, in which the server inserts
// them fastest.
func (p *part) sorted() []int32 {
	out := make([]int32, len(p.terms))
	for i := range out {
		out[i] = int32(i)
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Compare(p.terms[a], p.terms[b]) })
	return out
}

// analyze returns the terms of chunks. One call at a time keeps a server busy, because storing
// takes longer.
func (s *Store) analyze(chunks []analyzed) []analyzed {
	for i := range chunks {
		c := &chunks[i]
		c.fields = make([]storekit.Field, len(c.source.Fields))
		for j, f := range c.source.Fields {
			c.fields[j] = s.written.Analyze(f.Text)
			if c.fields[j].Length == 0 {
				c.fields[j].Postings = nil
			}
		}
	}
	return chunks
}
