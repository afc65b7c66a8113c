package segment

import (
	"encoding/binary"
	"errors"
	"math"

	"sheaf/index/engine/postings"
)

// termLists are the encoded posting lists of consecutive terms, without the parts that depend on earlier lists in the
// file. Each goroutine fills its own termLists; fileWriter.lists then writes them in order.
type termLists struct {
	encoder   postings.Encoder
	run       bool // lists are those of a run
	runs      postings.RunEncoder
	bytes     []byte // of the lists, as in the section of postings
	entries   []byte // of the lists, as in the dictionary
	terms     []listedTerm
	open      listedTerm
	positions int64 // bytes of positions in the field bytes
	err       error
}

// listedTerm is a term with posting lists, which start at termLists.bytes[start]. Its entries end before
// termLists.entries[end]. mask has a bit for each field with the term.
type listedTerm struct {
	name  string
	start int
	end   int
	mask  uint64
}

func (l *termLists) reset() {
	clear(l.terms)
	l.bytes, l.entries, l.terms, l.positions, l.err = l.bytes[:0], l.entries[:0], l.terms[:0], 0, nil
}

// add adds occurrences to the open list. form says that the term is a form (see [FormMark]). lengths has the field's
// lengths by ordinal. The caller must add the chunks in order.
func (l *termLists) add(list []postings.Occurrence, form bool, lengths []uint32) {
	switch {
	case l.run:
		l.runs.Add(list, form)
	case form:
		l.encoder.AddCounts(list)
	default:
		l.encoder.AddOccurrences(list, lengths)
	}
}

// list ends the current posting list, which belongs to this field. It omits an empty list.
func (l *termLists) list(field int) {
	var list postings.List
	if l.run {
		list = l.runs.Finish()
	} else {
		list = l.encoder.Finish()
	}
	if list.DF == 0 {
		return
	}
	if int64(len(list.Postings)) > math.MaxUint32 || int64(len(list.Positions)) > math.MaxUint32 {
		l.err = errors.New("a posting list has more than 4 GiB")
	}
	if l.open.mask == 0 {
		l.open.start = len(l.bytes)
	}
	l.open.mask |= 1 << field
	e := l.entries
	switch {
	case list.DF == 1 && list.Single.Frequency == 1 && len(list.Positions) == 0:
		e = append(e, 1<<1|1)
		e = binary.AppendUvarint(e, uint64(list.Single.Ordinal))
		e = binary.AppendUvarint(e, uint64(list.Single.Position))
	case list.DF == 1:
		e = append(e, 1<<1)
		e = binary.AppendUvarint(e, uint64(list.Single.Ordinal))
		e = binary.AppendUvarint(e, uint64(list.Single.Frequency))
		e = binary.AppendUvarint(e, uint64(len(list.Positions)))
	default:
		e = binary.AppendUvarint(e, uint64(list.DF)<<1)
		e = binary.AppendUvarint(e, uint64(len(list.Postings)))
		e = binary.AppendUvarint(e, uint64(len(list.Positions)))
	}
	l.entries = e
	l.bytes = append(l.bytes, list.Postings...)
	l.bytes = append(l.bytes, list.Positions...)
	l.positions += int64(len(list.Positions))
}

// term ends the lists of one term and records the name of the term. Later lists belong to the next term. If there are
// no lists since the last call, term records nothing.
func (l *termLists) term(name string) {
	if l.open.mask == 0 {
		return
	}
	l.open.name, l.open.end = name, len(l.entries)
	l.terms = append(l.terms, l.open)
	l.open = listedTerm{}
}

// recentMasks are the last used field masks in a block of the dictionary, without repetition, the latest first.
type recentMasks [recentCount]uint64

const (
	recentCount = 3
	recentBits  = 2 // bits of an index in recentMasks; recentCount means another mask
	// maxCode is the largest possible first number of a dictionary entry.
	maxCode = 2*maxChunks + 1
)

// use moves mask number i to the front, and returns the mask.
func (m *recentMasks) use(i int) uint64 {
	mask := m[i]
	copy(m[1:i+1], m[:i])
	m[0] = mask
	return mask
}

// add puts a new mask at the front, and returns it.
func (m *recentMasks) add(mask uint64) uint64 {
	m[recentCount-1] = mask
	return m.use(recentCount - 1)
}

// find returns the index of mask and moves mask to the front. For a new mask, it adds mask and returns recentCount.
func (m *recentMasks) find(mask uint64) int {
	for i, known := range m {
		if known == mask {
			m.use(i)
			return i
		}
	}
	m.add(mask)
	return recentCount
}

// lists writes the posting lists in l, and the dictionary entries of their terms, to the end of the file.
func (w *fileWriter) lists(l *termLists) {
	w.fail(l.err)
	w.write(l.bytes)
	from := 0
	for i := range l.terms {
		t := &l.terms[i]
		first := w.terms.key(t.name)
		w.terms.out.Grow(3*binary.MaxVarintLen64 + t.end - from)
		payload := w.terms.out.Items
		if first {
			payload = binary.AppendUvarint(payload, w.offset+uint64(t.start))
			w.recent = recentMasks{}
		}
		code, n := binary.Uvarint(l.entries[from:t.end])
		which := w.recent.find(t.mask)
		payload = binary.AppendUvarint(payload, code<<recentBits|uint64(which))
		if which == recentCount {
			payload = binary.AppendUvarint(payload, t.mask)
		}
		w.terms.out.Items = append(payload, l.entries[from+n:t.end]...)
		from = t.end
	}
	w.offset += uint64(len(l.bytes))
	w.meta.positions += l.positions
}

func (w *fileWriter) endTerms() {
	w.section(sectionTerms, w.terms.finish())
	w.terms.free()
}
