package segment

import "sheaf/internal/offheap"

// occurrences are the terms of one field of all chunks, in their original order. Adding only appends, so it uses only
// memory in the processor's cache. Later, an inversion reads the terms in that order and sorts them. The zero value is
// ready.
//
// An occurrence is a number: the number of the term, shifted left by stepBits, plus a distance. The distance is from
// the previous occurrence in the chunk. Two cases need a second number:
//   - If the distance is at least the constant far, the first number has far in its place. The second number is the
//     distance.
//   - Each chunk begins with two numbers. The first number has the term noTerm and the distance far. The second number
//     is the ordinal of the chunk.
type occurrences struct {
	pages   []offheap.List[uint32] // the last one is open
	open    []uint32               // the numbers of the last page
	chunk   uint32                 // ordinal of the last chunk, plus 1
	last    uint32                 // position of the last occurrence
	counted int                    // how many numbers the full pages have
}

const (
	stepBits = 4
	far      = 1<<stepBits - 1
	noTerm   = 1<<(32-stepBits) - 1
	// maxTerms is the largest number of terms in a builder when a chunk begins. With more, Begin returns ErrTooLarge. The
	// numbers from maxTerms to noTerm are for the terms of this chunk.
	maxTerms = noTerm / 4
	// maxOccurrences is the largest number of occurrences in a field when a chunk begins. With more, Begin returns
	// ErrTooLarge. The chunk can add as many again, and their places (see inversion) stay below 1<<32.
	maxOccurrences = 1<<31 - 1
	// pageNumbers is the number of numbers in the first page.
	pageNumbers = 1 << 14
)

// add adds occurrences in the chunk with this ordinal. Ordinals must not decrease from call to call.
func (o *occurrences) add(ordinal uint32, tokens []Token) {
	if len(tokens) == 0 {
		return
	}
	if o.chunk != ordinal+1 {
		o.room()
		o.open = append(o.open, noTerm<<stepBits|far, ordinal)
		o.chunk, o.last = ordinal+1, 0
	}
	last := o.last
	for len(tokens) > 0 {
		o.room()
		open := o.open
		n := min(len(tokens), (cap(open)-len(open))/2)
		for _, t := range tokens[:n] {
			step := t.Position - last
			last = t.Position
			if step >= far {
				open = append(open, t.Term<<stepBits|far, step)
			} else {
				open = append(open, t.Term<<stepBits|step)
			}
		}
		o.open, tokens = open, tokens[n:]
	}
	o.last = last
}

// room makes space for two numbers on the current page. Both numbers of an occurrence must be on one page.
func (o *occurrences) room() {
	if cap(o.open)-len(o.open) < 2 {
		o.newPage()
	}
}

func (o *occurrences) newPage() {
	o.close()
	o.counted += len(o.open)
	size := offheap.PieceSize(pageNumbers, len(o.pages))
	o.pages = append(o.pages, offheap.List[uint32]{})
	page := &o.pages[len(o.pages)-1]
	page.Grow(size)
	o.open = page.Items
}

// close stores the numbers in open in the last page.
func (o *occurrences) close() {
	if n := len(o.pages); n > 0 {
		o.pages[n-1].Items = o.open
	}
}

// count returns roughly how many occurrences were added.
func (o *occurrences) count() int { return o.counted + len(o.open) }

func (o *occurrences) free() {
	for i := range o.pages {
		o.pages[i].Free()
	}
	*o = occurrences{pages: o.pages[:0]}
}

func (o *occurrences) each(yield func(page []uint32)) {
	o.close()
	for i := range o.pages {
		yield(o.pages[i].Items)
	}
}

func (o *occurrences) countInto(counts []uint32) {
	o.each(func(page []uint32) {
		for i := 0; i < len(page); i++ {
			term := page[i] >> stepBits
			if page[i]&far == far {
				i++
				if term == noTerm {
					continue
				}
			}
			counts[term]++
		}
	})
}
