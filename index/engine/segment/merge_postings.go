package segment

import (
	"bytes"
	"cmp"

	"golang.org/x/sync/errgroup"

	"sheaf/index/engine/postings"
)

// mergeRange is the approximate size, in bytes, of the posting lists in a range of terms. A goroutine encodes a range
// in memory before the range is written.
const mergeRange = 256 << 10

// GoroutineBytes is the approximate memory that a merge needs for each goroutine: two encoded ranges, and encoders.
const GoroutineBytes = 6 * mergeRange

// postings merges the terms of all sources and their posting lists. Several goroutines merge ranges of terms.
func (m *merger) postings() error {
	counts, err := m.countLetters()
	if err != nil {
		return err
	}
	m.file.chooseLetters(counts)
	bounds, err := m.bounds()
	if err != nil {
		return err
	}
	m.file.begin(sectionPostings)
	m.file.inOrder(len(bounds)+1, m.goroutines, func() func(*termLists, int) {
		r := newRangeMerger(m)
		return func(out *termLists, i int) {
			var from, to []byte
			if i > 0 {
				from = bounds[i-1]
			}
			if i < len(bounds) {
				to = bounds[i]
			}
			out.err = r.merge(out, from, to)
		}
	}, m.callPause)
	m.file.endTerms()
	m.file.lengths(m.fields, m.byField)
	return nil
}

func (m *merger) countLetters() (*[256]int, error) {
	counts := make([][256]int, len(m.inputs))
	var group errgroup.Group
	group.SetLimit(max(m.goroutines, 1))
	for i, in := range m.inputs {
		group.Go(func() error {
			terms := in.Reader.Terms()
			for terms.Next() && m.ctx.Err() == nil {
				count(&counts[i], terms.Key())
			}
			return cmp.Or(m.ctx.Err(), terms.Err())
		})
	}
	if err := cmp.Or(group.Wait(), m.callPause()); err != nil {
		return nil, err
	}
	for _, more := range counts[1:] {
		for b, n := range more {
			counts[0][b] += n
		}
	}
	return &counts[0], nil
}

// bounds returns the first term of every range except the first range. Each of these terms begins a block of the
// largest dictionary.
func (m *merger) bounds() (bounds [][]byte, err error) {
	size, largest := 0, m.inputs[0].Reader.terms
	for _, in := range m.inputs {
		size += in.Reader.postings.Len()
		if in.Reader.terms.blocks > largest.blocks {
			largest = in.Reader.terms
		}
	}
	n := min(size/mergeRange+1, largest.blocks)
	for i := 1; i < n; i++ {
		key, err := largest.firstKey(nil, i*largest.blocks/n)
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, key)
	}
	return bounds, nil
}

type rangeMerger struct {
	*merger
	terms     []Terms // of each input
	holders   []int   // the inputs that have the term
	cursor    postings.Cursor
	reader    postings.PositionReader
	positions []uint32
}

func newRangeMerger(m *merger) *rangeMerger {
	return &rangeMerger{merger: m, terms: make([]Terms, len(m.inputs))}
}

// merge writes the terms with from <= term < to, in order. A nil from or to is no bound. The next term is the smallest
// key of all inputs. merge joins the posting lists of a term, in the order of the inputs.
func (r *rangeMerger) merge(out *termLists, from, to []byte) error {
	more := make([]bool, len(r.inputs))
	for i, in := range r.inputs {
		t := &r.terms[i]
		if t.Reset(in.Reader); from == nil {
			more[i] = t.Next()
		} else {
			more[i] = t.Seek(from)
		}
		if err := t.Err(); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		r.holders = r.holders[:0]
		var key []byte
		for i := range r.terms {
			if !more[i] {
				continue
			}
			other := r.terms[i].Key()
			switch order := bytes.Compare(other, key); {
			case len(r.holders) == 0 || order < 0:
				r.holders, key = append(r.holders[:0], i), other
			case order == 0:
				r.holders = append(r.holders, i)
			}
		}
		if len(r.holders) == 0 || to != nil && bytes.Compare(key, to) >= 0 {
			return nil
		}
		name := string(key)
		form := len(name) > 0 && name[0] == FormMark
		for f := range r.fields {
			listed := false
			for _, i := range r.holders {
				copied, err := r.copyList(out, r.inputs[i], f, r.terms[i].Term(), form)
				if err != nil {
					return err
				}
				listed = listed || copied
			}
			if listed {
				out.list(f)
			}
		}
		out.term(name)
		for _, i := range r.holders {
			more[i] = r.terms[i].Next()
			if err := r.terms[i].Err(); err != nil {
				return err
			}
		}
	}
}

// copyList appends the posting list of field f of an input to out. form says that the term is a form (see [FormMark]).
// copyList returns false if the input has no such list.
func (r *rangeMerger) copyList(out *termLists, in *input, f int, term *Term, form bool) (bool, error) {
	if in.fields[f] < 0 {
		return false, nil
	}
	list, err := in.Reader.List(term, in.fields[f], !form)
	if err != nil || list.DF == 0 {
		return false, err
	}
	if in.Reader.run {
		if err := out.encoder.AddRun(list, form, uint32(in.Reader.Chunks()), in.base, in.remap, r.byField[f]); err != nil {
			return true, in.Reader.Corrupt(err)
		}
		return true, nil
	}
	c, p := &r.cursor, &r.reader
	c.Reset(list, uint32(in.Reader.Chunks()))
	p.Reset(in.length[f])
	for ordinal := c.Seek(0); ordinal != postings.End; ordinal = c.Next() {
		to := in.newOrdinal(ordinal)
		if to == dropped {
			continue
		}
		if form {
			out.encoder.AddCount(to, c.Frequency())
			continue
		}
		if r.positions = p.Append(r.positions[:0], c); len(r.positions) > 0 {
			out.encoder.Add(to, r.byField[f][to], r.positions)
		}
	}
	if err := c.Err(); err != nil {
		return true, in.Reader.Corrupt(err)
	}
	return true, nil
}
