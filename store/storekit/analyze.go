package storekit

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"sheaf/text/analysis"
)

// Field is an analyzed field of a chunk.
type Field struct {
	// Postings has one entry for each term, sorted by term. Forms, whose text begins with FormMark,
	// come first.
	Postings []Posting
	// Length is the number of terms, without forms.
	Length int
}

// Posting is a term of a field.
type Posting struct {
	Term      string
	Frequency int
	// Positions ascend; forms have none.
	Positions []int32
}

// Writer analyzes texts to write. Words repeat, so it remembers the terms of each. It is safe for
// concurrent use.
type Writer struct {
	analyzer *analysis.Analyzer
	memories sync.Pool // of *memory
}

// NewWriter returns a Writer that analyzes texts with a.
func NewWriter(a *analysis.Analyzer) *Writer { return &Writer{analyzer: a} }

// Analyze analyzes the text of a field; its postings are sorted by term.
func (w *Writer) Analyze(text string) Field { return w.analyze(text, true) }

// Unsorted is Analyze for callers that sort the postings of many fields together: postings come in
// the order in which their terms are found.
func (w *Writer) Unsorted(text string) Field { return w.analyze(text, false) }

func (w *Writer) analyze(text string, sorted bool) Field {
	m, ok := w.memories.Get().(*memory)
	if !ok || len(m.names) > maxNames {
		m = &memory{analyzer: w.analyzer, words: map[string]word{}, ids: map[string]int{}}
	}
	m.find(text)
	if sorted {
		m.sort()
	}
	field := Field{Postings: m.postings(), Length: len(m.places)}
	w.memories.Put(m) // after a panic m is incomplete and is dropped
	return field
}

const (
	// maxNames limits the remembered terms: with more, the next field begins with a new memory.
	maxNames = 1 << 16
	// maxWord is the length in bytes up to which words are remembered.
	maxWord = 64
)

// memory remembers words; one goroutine at a time uses it.
type memory struct {
	analyzer *analysis.Analyzer
	words    map[string]word
	// Terms have numbers: ids maps a name to its number, names a number to its name.
	ids   map[string]int
	names []string
	// prefixes are the first eight bytes of each name, as numbers in the order of the names.
	prefixes []uint64
	// at has the position of each term in found plus one; 0 for terms that the field does not have.
	at []int32
	// reused for each field
	terms  []analysis.Term
	found  []found
	places []place
	placed []int32 // the current index of each term, in the order of finding
}

// found is a term of the current field. It has no pointers, which makes sorting cheap for the
// garbage collector.
type found struct {
	prefix    uint64
	id        int32
	frequency int32
	positions int32 // number of positions; 0 for a form
	order     int32 // the order of finding
}

// word has the terms of a raw word, and the number of its positions.
type word struct {
	terms     []wordTerm
	positions int
}

type wordTerm struct {
	id, offset int
	form       bool
}

// place is a position of a term in a field; term is its index in found.
type place struct{ term, position int32 }

// find fills found and places.
func (m *memory) find(text string) {
	m.found, m.places = m.found[:0], m.places[:0]
	position := 0
	m.analyzer.Words(text, func(start, end int) bool {
		w := m.word(text[start:end])
		for _, t := range w.terms {
			i := m.at[t.id]
			if i == 0 {
				m.found = append(m.found, found{prefix: m.prefixes[t.id], id: int32(t.id), order: int32(len(m.found))})
				i = int32(len(m.found))
				m.at[t.id] = i
			}
			f := &m.found[i-1]
			f.frequency++
			if !t.form {
				f.positions++
				m.places = append(m.places, place{i - 1, int32(position + t.offset)})
			}
		}
		position += w.positions
		return true
	})
	for i := range m.found {
		m.at[m.found[i].id] = 0
	}
}

func (m *memory) sort() {
	slices.SortFunc(m.found, func(a, b found) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return cmp.Compare(m.names[a.id], m.names[b.id])
	})
}

// postings returns the postings of the found terms; their positions share one array.
func (m *memory) postings() []Posting {
	if len(m.found) == 0 {
		return nil
	}
	out, all := make([]Posting, len(m.found)), make([]int32, len(m.places))
	m.placed = slices.Grow(m.placed[:0], len(m.found))[:len(m.found)]
	from := 0
	for i, f := range m.found {
		out[i] = Posting{Term: m.names[f.id], Frequency: int(f.frequency)}
		if to := from + int(f.positions); to > from {
			out[i].Positions = all[from:from:to]
			from = to
		}
		m.placed[f.order] = int32(i)
	}
	for _, p := range m.places {
		at := &out[m.placed[p.term]]
		at.Positions = append(at.Positions, p.position)
	}
	for i := range out {
		// The parts of one word may be out of order.
		if !slices.IsSorted(out[i].Positions) {
			slices.Sort(out[i].Positions)
		}
	}
	return out
}

// word returns the terms of a raw word.
func (m *memory) word(raw string) word {
	if w, ok := m.words[raw]; ok {
		return w
	}
	m.terms = m.analyzer.Terms(m.terms[:0], raw)
	w := word{terms: make([]wordTerm, len(m.terms)), positions: m.analyzer.Positions(m.terms)}
	for i, t := range m.terms {
		name := strings.Clone(t.Text) // otherwise it would keep the caller's text
		if t.Form {
			name = FormMark + t.Text
		}
		id, ok := m.ids[name]
		if !ok {
			id = len(m.names)
			m.ids[name] = id
			m.names, m.at, m.prefixes = append(m.names, name), append(m.at, 0), append(m.prefixes, prefix(name))
		}
		w.terms[i] = wordTerm{id, t.Offset, t.Form}
	}
	if len(raw) <= maxWord {
		m.words[strings.Clone(raw)] = w
	}
	return w
}

// prefix returns the first eight bytes of a name as a number; short names end with zeros.
func prefix(name string) uint64 {
	var b [8]byte
	copy(b[:], name)
	return binary.BigEndian.Uint64(b[:])
}
