package segment

import (
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"sheaf/engine/postings"
)

// rangeTerms is about how many terms of one builder are encoded at a time: enough
// to outweigh handing them over, and so few that what waits to be written is small.
const rangeTerms = 512

// postings writes the lists of all terms of all builders, by name. Ranges of terms
// are encoded side by side and written in order.
func (f *flusher) postings(lengths [][]uint32) {
	var sorting sync.WaitGroup
	for i := range f.parts {
		sorting.Go(f.parts[i].sortTerms)
	}
	sorting.Wait()
	f.file.begin(sectionPostings)
	f.encodeRanges(f.ranges(), lengths, runtime.GOMAXPROCS(0))
	f.file.endTerms()
}

// encodeRanges encodes ranges in several goroutines, each of which has one range in
// hand while another waits to be written, and writes them.
func (f *flusher) encodeRanges(ranges []termRange, lengths [][]uint32, goroutines int) {
	if goroutines = min(goroutines, len(ranges)); goroutines <= 1 {
		e := rangeEncoder{parts: f.parts, lengths: lengths}
		var lists termLists
		for _, r := range ranges {
			lists.reset()
			e.encode(&lists, r)
			f.file.lists(&lists)
		}
		return
	}
	results := make([]chan *termLists, len(ranges))
	for i := range results {
		results[i] = make(chan *termLists, 1)
	}
	free := make(chan *termLists, 2*goroutines)
	for range cap(free) {
		free <- &termLists{}
	}
	var next atomic.Int64
	var encoding sync.WaitGroup
	for range goroutines {
		encoding.Go(func() {
			e := rangeEncoder{parts: f.parts, lengths: lengths}
			// Memory is taken before a range, so that the range which is
			// written next always has some.
			for lists := range free {
				i := int(next.Add(1)) - 1
				if i >= len(ranges) {
					return
				}
				lists.reset()
				e.encode(lists, ranges[i])
				results[i] <- lists
			}
		})
	}
	for _, result := range results {
		lists := <-result
		f.file.lists(lists)
		free <- lists
	}
	encoding.Wait()
}

// termRange is, for each part, a range of its sorted terms: in all of them those
// of the same names.
type termRange []struct{ from, to int }

// ranges cuts the terms at every rangeTerms of the part that has most.
func (f *flusher) ranges() []termRange {
	most := &f.parts[0]
	for i := range f.parts {
		if p := &f.parts[i]; len(p.sorted) > len(most.sorted) {
			most = p
		}
	}
	var out []termRange
	before := make([]int, len(f.parts))
	for at := rangeTerms; ; at += rangeTerms {
		r := make(termRange, len(f.parts))
		for i := range f.parts {
			p := &f.parts[i]
			to := len(p.sorted)
			if at < len(most.sorted) {
				bound := most.name(at)
				to = sort.Search(to, func(t int) bool { return p.name(t) >= bound })
			}
			r[i].from, r[i].to = before[i], to
			before[i] = to
		}
		out = append(out, r)
		if at >= len(most.sorted) {
			return out
		}
	}
}

// name is that of the i-th of the sorted terms.
func (p *flushPart) name(i int) string { return p.names.list[p.sorted[i]] }

// rangeEncoder encodes the lists of ranges of terms.
type rangeEncoder struct {
	parts   []flushPart
	lengths [][]uint32
	replay  postings.Replay
	holders []int // the parts that have the term
}

// encode walks the terms of all parts together, by name.
func (e *rangeEncoder) encode(out *termLists, r termRange) {
	for {
		name := e.next(r)
		if len(e.holders) == 0 {
			return
		}
		for field := range e.lengths {
			listed := false
			for _, i := range e.holders {
				p := &e.parts[i]
				if list := p.list(field, p.sorted[r[i].from]); list != nil {
					e.copyList(&out.encoder, p, list, e.lengths[field], name[0] == FormMark)
					listed = true
				}
			}
			if listed {
				out.list(field)
			}
		}
		out.term(name)
		for _, i := range e.holders {
			r[i].from++
		}
	}
}

// next finds the first of the terms that are left, and the parts that hold it; none
// at the end.
func (e *rangeEncoder) next(r termRange) (name string) {
	e.holders = e.holders[:0]
	for i := range e.parts {
		if r[i].from == r[i].to {
			continue
		}
		switch other := e.parts[i].name(r[i].from); {
		case len(e.holders) == 0 || other < name:
			e.holders, name = append(e.holders[:0], i), other
		case other == name:
			e.holders = append(e.holders, i)
		}
	}
	return name
}

func (e *rangeEncoder) copyList(encoder *postings.Encoder, p *flushPart, list *postings.Accumulator, lengths []uint32, form bool) {
	e.replay.Start(&p.arena, list)
	for ordinal, positions, ok := e.replay.Next(); ok; ordinal, positions, ok = e.replay.Next() {
		switch to := p.to(ordinal); {
		case to == dropped:
		case form:
			encoder.AddCount(to, uint32(len(positions)))
		default:
			encoder.Add(to, lengths[to], positions)
		}
	}
}
