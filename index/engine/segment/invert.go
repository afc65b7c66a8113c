package segment

import (
	"sort"

	"sheaf/index/engine/postings"
	"sheaf/internal/offheap"
)

// An inversion sorts the occurrences of a builder by term. Its first step sorts occurrences into ranges of terms, the
// second sorts each range by term; see [lists]. This is a radix sort that begins with the highest digit. Each step
// writes to few places, which are close together. The first step needs twice the memory of its occurrences, so it makes
// a few ranges at a time.
type inversion struct {
	part *flushPart
	// counts says how often each sorted term occurs: counts[field].Items[term].
	counts []offheap.List[uint32]
	// places has a number for each term: the range's number, shifted left by termBits, plus the place in the range.
	places offheap.List[uint32]

	first int // number of the first range that is made
	// begins and ends are the bounds of ranges in rangeOccurrences. The indices are [field][number of the range - first].
	begins, ends     [][]uint32
	rangeOccurrences []offheap.List[postings.Occurrence] // by field; the upper bits number the terms of a range
}

// indexRange has the indexes i of sorted terms with from <= i < to.
type indexRange struct{ from, to int }

const (
	termBits = 8
	// rangeTerms is the largest number of terms of one builder in a range.
	rangeTerms = 1 << termBits
	// rangeOccurrences limits the occurrences of one builder in a range of several terms. So they fit into the
	// processor's caches.
	rangeOccurrences = 1 << 13
	// A flush sorts occurrences into ranges in several rounds, to save memory. roundOccurrences is the smallest number
	// of occurrences in a round. The constant rounds is the largest number of rounds, however large the builders are.
	roundOccurrences = 1 << 18
	rounds           = 4
	// madeBytes is the size in bytes of an occurrence that the first step has sorted into a range.
	madeBytes = 8
)

// invert sorts the terms and counts their occurrences.
func (p *flushPart) invert() {
	p.sortTerms()
	n := len(p.texts)
	v := &inversion{part: p, begins: make([][]uint32, n), ends: make([][]uint32, n),
		rangeOccurrences: make([]offheap.List[postings.Occurrence], n), counts: make([]offheap.List[uint32], n)}
	p.inversion = v
	terms := p.sorted.Items
	v.places.Resize(len(terms))
	var memory offheap.List[uint32]
	defer memory.Free()
	memory.Resize(len(terms))
	counts := memory.Items
	for field := range p.texts {
		if p.texts[field].count() == 0 {
			continue
		}
		clear(counts)
		p.texts[field].countInto(counts)
		v.counts[field].Resize(len(terms))
		for i, term := range terms {
			v.counts[field].Items[i] = counts[term]
		}
	}
}

func (v *inversion) free() {
	if v == nil {
		return
	}
	v.places.Free()
	for field := range v.counts {
		v.counts[field].Free()
		v.rangeOccurrences[field].Free()
	}
}

// countOf returns how often term number i of the sorted terms occurs.
func (v *inversion) countOf(i int) int {
	n := 0
	for field := range v.counts {
		if counts := v.counts[field].Items; len(counts) > 0 {
			n += int(counts[i])
		}
	}
	return n
}

// termRange is a range of terms in the order of their names. parts has an entry for each builder: the indexes of these
// terms in the builder's sorted terms. occurrences is the number of occurrences of these terms in all builders.
type termRange struct {
	parts       []indexRange
	occurrences int
}

func (f *flusher) ranges() []termRange {
	var out []termRange
	from := make([]int, len(f.parts))
	for {
		r := termRange{parts: make([]indexRange, len(f.parts))}
		end, ends, left := "", false, false
		for i := range f.parts {
			p := &f.parts[i]
			to := p.inversion.reach(from[i])
			r.parts[i] = indexRange{from[i], to}
			left = left || from[i] < to
			if to < len(p.sorted.Items) && (!ends || p.name(to) < end) {
				end, ends = p.name(to), true
			}
		}
		if !left {
			return out
		}
		for i := range f.parts {
			p, b := &f.parts[i], &r.parts[i]
			if ends && b.to > b.from && p.name(b.to-1) >= end {
				b.to = b.from + sort.Search(b.to-b.from, func(t int) bool { return p.name(b.from+t) >= end })
			}
			from[i] = b.to
			r.occurrences += p.inversion.place(len(out), *b)
		}
		out = append(out, r)
	}
}

// reach returns the end of the range that begins at sorted term number from. The end is not in the range.
func (v *inversion) reach(from int) int {
	to, n := from, 0
	for to < len(v.places.Items) && to-from < rangeTerms {
		if n += v.countOf(to); n > rangeOccurrences && to > from {
			break
		}
		to++
	}
	return to
}

// place assigns the sorted terms in b to the range with this number. It returns how often these terms occur.
func (v *inversion) place(number int, b indexRange) (occurrences int) {
	for i := b.from; i < b.to; i++ {
		v.places.Items[v.part.sorted.Items[i]] = uint32(number)<<termBits | uint32(i-b.from)
		occurrences += v.countOf(i)
	}
	return occurrences
}

// make does the first step for part number i: it sorts the occurrences of the terms in ranges. first is the number of
// ranges[0].
func (v *inversion) make(i, first int, ranges []termRange) {
	v.first = first
	for field := range v.counts {
		counts := v.counts[field].Items
		begins := grown(v.begins[field], len(ranges)+1)
		n := uint32(0)
		for k, r := range ranges {
			begins[k] = n
			if len(counts) > 0 {
				for _, count := range counts[r.parts[i].from:r.parts[i].to] {
					n += count
				}
			}
		}
		begins[len(ranges)] = n
		v.begins[field] = begins
		v.ends[field] = append(v.ends[field][:0], begins...)
		v.rangeOccurrences[field].Resize(int(n) + 1)
		v.scatter(field)
	}
}

// scatter groups the occurrences of a field by the ranges of their terms. It writes each occurrence at the next free
// place of the range. Occurrences of ranges that this call does not make overwrite one spare place after the last
// range. This avoids a branch that processors cannot predict.
func (v *inversion) scatter(field int) {
	made, ends, places, first := v.rangeOccurrences[field].Items, v.ends[field], v.places.Items, uint32(v.first)
	other := uint32(len(ends)) - 1
	ordinal, position, dead := uint64(0), uint32(0), false
	v.part.texts[field].each(func(page []uint32) {
		for i := 0; i < len(page); i++ {
			term, step := page[i]>>stepBits, page[i]&far
			if step == far {
				i++
				if step = page[i]; term == noTerm {
					to := v.part.newOrdinal(step)
					ordinal, position, dead = uint64(to)<<32, 0, to == dropped
					continue
				}
			}
			position += step
			if dead {
				continue
			}
			place := places[term]
			in, next := min(place>>termBits-first, other), uint32(1)
			if in == other {
				next = 0
			}
			to := ends[in]
			made[to] = postings.Occurrence(uint64(place)<<(64-termBits) | ordinal | uint64(position))
			ends[in] = to + next
		}
	})
}

// occurrences returns the occurrences of a field in the range with this number. The last call of make must have sorted
// this range.
func (v *inversion) occurrences(field, number int) []postings.Occurrence {
	return v.rangeOccurrences[field].Items[v.begins[field][number-v.first]:v.ends[field][number-v.first]]
}

// lists sorts the occurrences of one field in one range by term.
type lists struct {
	sorted []postings.Occurrence
	ends   [rangeTerms]int // of each term in sorted
	memory []postings.Occurrence
}

// sort sorts made, a list of occurrences, by term. The numbers of the terms in the range are below n. The occurrences
// of one term must be in order of chunk and position.
func (l *lists) sort(made []postings.Occurrence, n int) {
	clear(l.ends[:n])
	if n <= 1 || len(made) == 0 {
		l.sorted, l.ends[0] = made, len(made)
		return
	}
	for _, o := range made {
		l.ends[o>>(64-termBits)]++
	}
	at := 0
	for i, count := range l.ends[:n] {
		l.ends[i] = at
		at += count
	}
	l.memory = grown(l.memory, len(made))
	l.sorted = l.memory
	for _, o := range made {
		at := &l.ends[o>>(64-termBits)]
		l.sorted[*at] = o
		*at++
	}
}

func (l *lists) list(i int) []postings.Occurrence {
	from := 0
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.sorted[from:l.ends[i]]
}

// grown returns a slice of n elements with undefined content. It uses the memory of list if that is large enough.
func grown[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n, n+n/8)
	}
	return list[:n]
}
