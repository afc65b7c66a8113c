package storekit

import (
	"cmp"
	"slices"
	"strings"

	"sheaf/text/analysis"
)

// Field is an analyzed field of a chunk.
type Field struct {
	// Postings has one entry for each term and each form, sorted by text. A form is an unstemmed word: see
	// [analysis.Term]. The text of a form begins with [FormMark], so forms come before terms.
	Postings []Posting
	// Length is the number of terms in the field, without forms.
	Length int
}

// Posting is a term of a field.
type Posting struct {
	Term      string
	Frequency int
	// Positions are the positions of the term in rising order. Forms have none.
	Positions []int32
}

// Analyze returns the terms of the text of a field. The result shares no memory with the text.
func Analyze(a *analysis.Analyzer, text string) Field {
	type key struct {
		text string
		form bool
	}
	var out Field
	var terms []analysis.Term
	at, position := make(map[key]int, len(text)/16), 0 // the index of each term's posting
	a.Words(text, func(start, end int) bool {
		terms = a.Terms(terms[:0], text[start:end])
		for _, t := range terms {
			i, ok := at[key{t.Text, t.Form}]
			if !ok {
				term := strings.Clone(t.Text) // it may be a part of the text
				i = len(out.Postings)
				at[key{term, t.Form}] = i
				if t.Form {
					term = FormMark + term
				}
				out.Postings = append(out.Postings, Posting{Term: term})
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
		if p := out.Postings[i].Positions; !slices.IsSorted(p) { // the parts of one word may be out of order
			slices.Sort(p)
		}
	}
	slices.SortFunc(out.Postings, func(a, b Posting) int { return cmp.Compare(a.Term, b.Term) })
	return out
}

// Text returns the terms of a field, without forms, with spaces between them. Each term appears as often as it occurs
// in the field. word encodes a term for the server.
func (f Field) Text(word func(term string) string) string {
	var out []string
	for _, p := range f.Postings {
		if !strings.HasPrefix(p.Term, FormMark) {
			out = append(out, slices.Repeat([]string{word(p.Term)}, p.Frequency)...)
		}
	}
	return strings.Join(out, " ")
}
