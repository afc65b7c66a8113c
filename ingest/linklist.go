package ingest

import (
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/text/chunk"
)

// A bare list of links whose items all share a word, such as "Staging environments" and
// "Production environments", says that word more often than the documents that it links to.
// So it would outrank them, by words and by meaning, although no title above it has the word.
// Such a list gets no part in the vectors of its section, and each of its words is indexed once.

// takeLists removes such lists from the bodies of a document's chunks, before the chunks get
// their vectors. It returns the words of the lists, by the place of the chunk.
func (o *Options) takeLists(doc *sheaf.Document, at map[sheaf.ID]*sheaf.Chunk, chunks []store.Chunk) []string {
	words := make([]string, len(chunks))
	if o.Analyzer == nil || chunk.KindOf(doc.Path) != chunk.KindMarkdown {
		return words
	}
	for i := range chunks {
		if f := bodyOf(&chunks[i]); f != nil {
			f.Text, words[i] = o.withoutLists(at[chunks[i].ID], f.Text)
		}
	}
	return words
}

// withoutLists returns the body of a chunk without the lists whose items share a word, and the
// words of these.
func (o *Options) withoutLists(c *sheaf.Chunk, body string) (left, words string) {
	var kept, listed strings.Builder
	from := 0
	for _, list := range chunk.LinkLists(body) {
		if !o.share(list.Items, c.Hierarchy) {
			continue
		}
		kept.WriteString(body[from:list.Start])
		from = list.End
		listed.WriteString("\n")
		o.writeOnce(&listed, body[list.Start:list.End])
	}
	if from == 0 {
		return body, ""
	}
	kept.WriteString(body[from:])
	return kept.String(), listed.String()
}

// share reports whether all items have a word in common that tells something
// and stands in none of the titles.
func (o *Options) share(items, titles []string) bool {
	in, titled := map[string]int{}, map[string]bool{}
	for _, title := range titles {
		o.terms(title, func(_ string, terms []string) {
			for _, t := range terms {
				titled[t] = true
			}
		})
	}
	for _, item := range items {
		text := item
		if end := strings.LastIndex(item, "]("); end >= 0 {
			text = item[:end] // without the address
		}
		own := map[string]bool{}
		o.terms(text, func(_ string, terms []string) {
			for _, t := range terms {
				own[t] = own[t] || !o.Analyzer.FunctionWord(t)
			}
		})
		for t, tells := range own {
			if !tells || titled[t] {
				continue
			}
			if in[t]++; in[t] == len(items) {
				return true
			}
		}
	}
	return false
}

// writeOnce writes the words of text of which a term is new, in order.
func (o *Options) writeOnce(b *strings.Builder, text string) {
	seen := map[string]bool{}
	o.terms(text, func(word string, terms []string) {
		known := true
		for _, t := range terms {
			known = known && seen[t]
			seen[t] = true
		}
		if !known {
			b.WriteString(word)
			b.WriteByte(' ')
		}
	})
}

// terms calls with each word of text and its terms, without the forms of stems; they are there
// until the next word.
func (o *Options) terms(text string, with func(word string, terms []string)) {
	var names []string
	terms := o.Analyzer.Terms(nil, "")
	o.Analyzer.Words(text, func(start, end int) bool {
		terms, names = o.Analyzer.Terms(terms[:0], text[start:end]), names[:0]
		for _, t := range terms {
			if !t.Form {
				names = append(names, t.Text)
			}
		}
		with(text[start:end], names)
		return true
	})
}
