package textplan

import (
	"cmp"
	"slices"

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

// Analyze analyzes the text of a field.
func Analyze(a *analysis.Analyzer, text string) Field {
	var out Field
	at := map[string]int{}
	var terms []analysis.Term
	position := 0
	a.Words(text, func(start, end int) bool {
		terms = a.Terms(terms[:0], text[start:end])
		for _, t := range terms {
			name := t.Text
			if t.Form {
				name = FormMark + t.Text
			}
			i, ok := at[name]
			if !ok {
				i = len(out.Postings)
				at[name] = i
				out.Postings = append(out.Postings, Posting{Term: name})
			}
			p := &out.Postings[i]
			p.Frequency++
			if !t.Form {
				p.Positions = append(p.Positions, int32(position+t.Offset))
				out.Length++
			}
		}
		position += a.Positions(terms)
		return true
	})
	for i := range out.Postings {
		slices.Sort(out.Postings[i].Positions)
	}
	slices.SortFunc(out.Postings, func(a, b Posting) int { return cmp.Compare(a.Term, b.Term) })
	return out
}
