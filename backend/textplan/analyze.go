package textplan

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"sheaf/analysis"
)

// Field is an analyzed field of a chunk.
type Field struct {
	// Postings are sorted by term; forms, whose text begins with FormMark,
	// come first.
	Postings []Posting
	// Length is the number of terms, forms left out.
	Length int
}

// Posting is a term of a field.
type Posting struct {
	Term      string
	Frequency int
	// Positions ascend; forms have none.
	Positions []int32
}

// Writer analyzes texts that are written. Words come again and again, so it remembers
// the terms of each. It is safe for concurrent use.
type Writer struct {
	analyzer *analysis.Analyzer
	memories sync.Pool // of *memory
}

// NewWriter is for texts that a analyzes.
func NewWriter(a *analysis.Analyzer) *Writer { return &Writer{analyzer: a} }

// Analyze analyzes the text of a field.
func (w *Writer) Analyze(text string) Field {
	m, ok := w.memories.Get().(*memory)
	if !ok || len(m.names) > maxNames {
		m = &memory{analyzer: w.analyzer, words: map[string]word{}, ids: map[string]int{}}
	}
	field := m.analyze(text)
	w.memories.Put(m) // not after a panic, which leaves it half done
	return field
}

const (
	// maxNames bounds how many terms are remembered before a field is analyzed.
	maxNames = 1 << 16
	// maxWord is how many bytes of a word are worth remembering.
	maxWord = 64
)

// memory is what one goroutine at a time remembers of words.
type memory struct {
	analyzer *analysis.Analyzer
	words    map[string]word
	// Terms have numbers: ids finds that of a name, names the name of a number.
	ids   map[string]int
	names []string
	// at is the posting of a term in the field that is analyzed, plus one; 0 is none.
	at []int32
	// used by one field after another
	terms  []analysis.Term
	places []place
}

// word is the terms of a raw word, and how many positions it takes.
type word struct {
	terms     []wordTerm
	positions int
}

type wordTerm struct {
	id, offset int
	form       bool
}

// place is where a posting, or its form, stands in a field.
type place struct{ posting, position int32 }

func (m *memory) analyze(text string) Field {
	var out Field
	m.places = m.places[:0]
	var ids []int // of the postings
	position := 0
	m.analyzer.Words(text, func(start, end int) bool {
		w := m.word(text[start:end])
		for _, t := range w.terms {
			i := m.at[t.id]
			if i == 0 {
				out.Postings = append(out.Postings, Posting{Term: m.names[t.id]})
				ids = append(ids, t.id)
				i = int32(len(ids))
				m.at[t.id] = i
			}
			out.Postings[i-1].Frequency++
			if !t.form {
				m.places = append(m.places, place{i - 1, int32(position + t.offset)})
				out.Length++
			}
		}
		position += w.positions
		return true
	})
	for _, id := range ids {
		m.at[id] = 0
	}
	m.place(out.Postings)
	slices.SortFunc(out.Postings, func(a, b Posting) int { return cmp.Compare(a.Term, b.Term) })
	return out
}

// place gives postings their positions, which share one piece of memory.
func (m *memory) place(postings []Posting) {
	n := 0
	for i := range postings {
		n += postings[i].Frequency
	}
	all := make([]int32, 0, n)
	for _, p := range m.places {
		if at := &postings[p.posting]; at.Positions == nil {
			from := len(all)
			all = all[:from+at.Frequency]
			at.Positions = all[from:from:len(all)]
		}
		at := &postings[p.posting]
		at.Positions = append(at.Positions, p.position)
	}
	for i := range postings {
		// The parts of one word may come in another order.
		slices.Sort(postings[i].Positions)
	}
}

// word is what is known of a raw word.
func (m *memory) word(raw string) word {
	if w, ok := m.words[raw]; ok {
		return w
	}
	m.terms = m.analyzer.Terms(m.terms[:0], raw)
	w := word{terms: make([]wordTerm, len(m.terms)), positions: m.analyzer.Positions(m.terms)}
	for i, t := range m.terms {
		name := strings.Clone(t.Text) // of the caller's text otherwise
		if t.Form {
			name = FormMark + t.Text
		}
		id, ok := m.ids[name]
		if !ok {
			id = len(m.names)
			m.ids[name] = id
			m.names, m.at = append(m.names, name), append(m.at, 0)
		}
		w.terms[i] = wordTerm{id, t.Offset, t.Form}
	}
	if len(raw) <= maxWord {
		m.words[strings.Clone(raw)] = w
	}
	return w
}
