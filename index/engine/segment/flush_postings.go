package segment

import (
	"runtime"
	"sync"
)

// postings writes the posting lists of all terms of all builders, in the order of names. lengths[field][ordinal] is the
// length of a field in a chunk. Several goroutines encode ranges of terms; the ranges are then written in order.
func (f *flusher) postings(lengths [][]uint32) {
	f.eachPart(func(i int) { f.parts[i].invert() })
	var counts [256]int
	var counting sync.WaitGroup
	if f.file.kind != runKind {
		counting.Go(func() { f.countLetters(&counts) })
	}
	ranges := f.ranges()
	counting.Wait()
	f.file.chooseLetters(&counts)
	f.file.begin(sectionPostings)
	all := 0
	for _, r := range ranges {
		all += r.occurrences
	}
	round := max(roundOccurrences, all/rounds+int(f.spare/madeBytes))
	for from := 0; from < len(ranges); {
		to, n := from, 0
		for to < len(ranges) && n < round {
			n += ranges[to].occurrences
			to++
		}
		f.eachPart(func(i int) { f.parts[i].inversion.make(i, from, ranges[from:to]) })
		f.file.inOrder(to-from, runtime.GOMAXPROCS(0), func() func(*termLists, int) {
			e := newRangeEncoder(f.parts, lengths)
			return func(out *termLists, i int) { e.encode(out, from+i, ranges[from+i]) }
		}, nil)
		from = to
	}
	f.file.endTerms()
	for i := range f.parts {
		f.parts[i].inversion.free()
	}
}

// countLetters counts how often each byte occurs in the names of the terms.
func (f *flusher) countLetters(counts *[256]int) {
	e := newRangeEncoder(f.parts, nil)
	for i := range f.parts {
		e.at[i].to = len(f.parts[i].sorted.Items)
	}
	for name := e.next(); len(e.holders) > 0; name = e.next() {
		occurs := false
		for _, i := range e.holders {
			occurs = occurs || f.parts[i].inversion.countOf(e.at[i].from) > 0
			e.at[i].from++
		}
		if occurs {
			count(counts, name)
		}
	}
}

// eachPart calls the function do for every part, in parallel.
func (f *flusher) eachPart(do func(i int)) {
	var wait sync.WaitGroup
	for i := range f.parts {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}

// name returns the name of the i-th sorted term.
func (p *flushPart) name(i int) string { return p.names.list.Items[p.sorted.Items[i]] }

// rangeEncoder encodes the posting lists of ranges of terms. Each goroutine has its own.
type rangeEncoder struct {
	parts   []flushPart
	lengths [][]uint32
	lists   [][]lists    // of the range: [part][field]
	at      []indexRange // the remaining terms of each part
	holders []int        // the parts that have the term
}

func newRangeEncoder(parts []flushPart, lengths [][]uint32) *rangeEncoder {
	e := &rangeEncoder{parts: parts, lengths: lengths, at: make([]indexRange, len(parts)),
		lists: make([][]lists, len(parts))}
	for i := range e.lists {
		e.lists[i] = make([]lists, len(lengths))
	}
	return e
}

// encode writes to out the posting lists of the terms in the range r, sorted by name. number is the index of the range
// r among all ranges. A term that several parts have gets the lists of all these parts.
func (e *rangeEncoder) encode(out *termLists, number int, r termRange) {
	copy(e.at, r.parts)
	for i, b := range r.parts {
		for field := range e.lengths {
			e.lists[i][field].sort(e.parts[i].inversion.occurrences(field, number), b.to-b.from)
		}
	}
	for {
		name := e.next()
		if len(e.holders) == 0 {
			return
		}
		for field := range e.lengths {
			listed := false
			for _, i := range e.holders {
				if list := e.lists[i][field].list(e.at[i].from - r.parts[i].from); len(list) > 0 {
					listed = true
					out.add(list, name[0] == FormMark, e.lengths[field])
				}
			}
			if listed {
				out.list(field)
			}
		}
		out.term(name)
		for _, i := range e.holders {
			e.at[i].from++
		}
	}
}

// next returns the smallest term that some part still has, or "" at the end. It sets e.holders to the parts that have
// this term.
func (e *rangeEncoder) next() (name string) {
	e.holders = e.holders[:0]
	for i, at := range e.at {
		if at.from == at.to {
			continue
		}
		switch other := e.parts[i].name(at.from); {
		case len(e.holders) == 0 || other < name:
			e.holders, name = append(e.holders[:0], i), other
		case other == name:
			e.holders = append(e.holders, i)
		}
	}
	return name
}
