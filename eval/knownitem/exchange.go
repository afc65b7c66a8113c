package knownitem

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"sheaf"
	"sheaf/chunk"
)

// Exchanged asks for a chunk by a sentence of it in which a word is exchanged for
// another one that its document does not have.
const Exchanged Kind = "exchanged"

// Exchange makes queries of kind [Exchanged], at most o.PerKind. others are the
// words, small letters, that may stand for a word. The same documents, words,
// options and seed give the same queries.
func Exchange(ctx context.Context, s Source, others map[string][]string, o Options) ([]Item, error) {
	m := &maker{Source: s, o: o, r: rand.New(rand.NewPCG(o.Seed, 0xe8c4)), items: map[Kind][]Item{}, seen: map[string]bool{}, counts: map[string]int{}}
	var docs []sheaf.ID
	for id := range s.View.Files() {
		docs = append(docs, id)
	}
	slices.Sort(docs)
	m.r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	for n, id := range docs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !m.wants(Exchanged) || n >= docsPerItem*o.PerKind {
			break
		}
		m.exchange(id, others)
	}
	return numbered(m.items[Exchanged]), s.View.Err()
}

// exchange makes the queries that one document gives.
func (m *maker) exchange(id sheaf.ID, others map[string][]string) {
	doc, ok := m.View.Document(id)
	if !ok || len(doc.Chunks) == 0 || doc.Chunks[len(doc.Chunks)-1].Span.End > maxDocumentLen {
		return
	}
	text, err := m.View.Text(id)
	if err != nil {
		return
	}
	all := strings.ToLower(string(text))
	found := 0
	for _, i := range m.r.Perm(len(doc.Chunks)) {
		c := &doc.Chunks[i]
		if len(c.Members) > 0 {
			continue
		}
		before, after := chunk.IndexedText(&doc, c, text)
		for _, sentence := range m.sentences(string(before) + string(after)) {
			if found >= perDocument || !m.wants(Exchanged) {
				return
			}
			if asked := m.exchanged(sentence, all, others); asked != "" && m.add(Item{Kind: Exchanged, Text: asked, Doc: id, Target: c.ID}) {
				found++
			}
		}
	}
}

// exchanged is a sentence with one word exchanged and about a third of the others
// left out; "" when it has no such word or too little is left. all is the text of
// the document in small letters.
func (m *maker) exchanged(sentence, all string, others map[string][]string) string {
	words := m.words(sentence)
	for i, word := range words {
		for _, other := range others[strings.ToLower(word)] {
			if strings.Contains(all, other) {
				continue
			}
			var kept []string
			for j, w := range words {
				switch {
				case i == j:
					kept = append(kept, other)
				case m.r.IntN(3) >= droppedInThree:
					kept = append(kept, strings.ToLower(w))
				}
			}
			if asked := strings.Join(kept, " "); m.says(asked, keptLow, sentenceHigh) {
				return asked
			}
		}
	}
	return ""
}
