package self

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/eval"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/chunk"
)

// Kind is the source of a query.
type Kind string

// These are the kinds of query, by their source.
const (
	Heading    Kind = "heading"    // the title of a section asks for the section
	Anchor     Kind = "anchor"     // the words of a link ask for its target
	Alias      Kind = "alias"      // another name of a document asks for the document
	Phrase     Kind = "phrase"     // consecutive words of only one chunk ask for this chunk
	Paraphrase Kind = "paraphrase" // a sentence with dropped words asks for its chunk
	// Absent is a query for a document that the search excludes, so the search can find only similar documents. Foreign is
	// a query about a subject that the documents do not have. Neither query has an answer.
	Absent  Kind = "absent"
	Foreign Kind = "foreign"
)

// Kinds are the kinds of query that have an answer, in the order of reports.
var Kinds = []Kind{Heading, Anchor, Alias, Phrase, Paraphrase}

// Impossible reports whether a query of this kind has no answer.
func (k Kind) Impossible() bool { return k == Absent || k == Foreign }

// Item is a query with its answer.
type Item struct {
	// ID has the kind of the query and a number.
	ID   string
	Kind Kind
	Text string
	// Doc is the document that answers the query. Target is the chunk that answers it, or Doc if the whole document
	// answers it. Both are "" if there is no answer.
	Doc, Target sheaf.ID
	// Without are documents to exclude from the search. For Anchor, these are the documents with the link. For Absent, the
	// document that would answer the query is among them.
	Without []sheaf.ID
}

// Filter returns a filter that excludes the documents in Without. If Without is empty, it returns nil.
func (i *Item) Filter() sheaf.Filter {
	if len(i.Without) == 0 {
		return nil
	}
	return sheaf.Not{Filter: sheaf.TextIn(sheaf.ColumnDoc, i.Without...)}
}

// Wanted says how many queries to make.
type Wanted struct {
	// PerKind is the wanted number of queries of each kind. If the documents have too little text, there are fewer.
	PerKind int
	// Impossible is the wanted number of queries of each kind that has no answer.
	Impossible int
	Seed       uint64
}

// These limit reading. A sample is enough for a large collection.
const (
	docsPerItem    = 30 // documents examined for each wanted query of a kind
	perDocument    = 2  // queries of a kind from one document
	maxDocumentLen = 1 << 20
)

// maker makes queries for one collection.
type maker struct {
	c       *eval.Collection
	counter store.Counter
	wanted  Wanted
	r       *rand.Rand
	items   map[Kind][]Item
	// seen has an entry for each query so far, made from the kind and the terms of the query.
	seen map[string]bool
	// counts maps a term to the number of chunks that have it.
	counts map[string]int
}

// Make makes queries from the documents of c, sorted by kind and number. It skips unreadable documents. The same
// documents and w give the same queries. If the store cannot count, Make returns sheaf.ErrUnsupported.
func Make(ctx context.Context, c *eval.Collection, w Wanted) ([]Item, error) {
	counter, ok := c.Searcher.Backend.(store.Counter)
	if !ok {
		return nil, fmt.Errorf("make queries: counting words: %w by this store", sheaf.ErrUnsupported)
	}
	m := &maker{c: c, counter: counter, wanted: w, r: rand.New(rand.NewPCG(w.Seed, 0x17e3)), items: map[Kind][]Item{},
		seen: map[string]bool{}, counts: map[string]int{}}
	var docs []sheaf.ID
	for id := range m.c.View.Files() {
		docs = append(docs, id)
	}
	slices.Sort(docs)
	m.r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	for n, id := range docs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(Kinds, m.wants) || n >= docsPerItem*m.wanted.PerKind {
			break
		}
		if err := m.document(ctx, id); err != nil {
			return nil, err
		}
	}
	if err := m.impossible(ctx); err != nil {
		return nil, err
	}
	var out []Item
	for _, k := range append(slices.Clone(Kinds), Absent, Foreign) {
		for i, item := range m.items[k] {
			item.ID = fmt.Sprintf("%s-%03d", k, i+1)
			out = append(out, item)
		}
	}
	return out, m.c.Err()
}

// count returns how many chunks match q in any field.
func (m *maker) count(ctx context.Context, q sheaf.TextQuery) (int, error) {
	return m.counter.Count(ctx, store.Request{Limit: 1, Text: search.AnyField(q)})
}

// wants reports whether kind k has fewer queries than wanted.
func (m *maker) wants(k Kind) bool { return len(m.items[k]) < m.wanted.PerKind }

// add adds an item. If its kind already has an item with the same terms, add returns false.
func (m *maker) add(item Item) bool {
	key := string(item.Kind) + "\x00" + strings.Join(m.terms(item.Text), " ")
	if m.seen[key] {
		return false
	}
	m.seen[key] = true
	m.items[item.Kind] = append(m.items[item.Kind], item)
	return true
}

// terms returns the terms of text. It leaves out function words.
func (m *maker) terms(text string) []string {
	var out []string
	for _, t := range m.c.Searcher.Analyzer.MatchTokens(text + " ?") {
		if !t.Form {
			out = append(out, t.Term)
		}
	}
	return out
}

// termCountWithin reports whether the number of content terms with a letter in text is within low..high.
func (m *maker) termCountWithin(text string, low, high int) bool {
	n := 0
	for _, t := range m.terms(text) {
		if strings.ContainsFunc(t, unicode.IsLetter) {
			n++
		}
	}
	return n >= low && n <= high
}

// document makes queries from one document.
func (m *maker) document(ctx context.Context, id sheaf.ID) error {
	doc, ok := m.c.View.Document(id)
	if !ok || len(doc.Chunks) == 0 || doc.Chunks[len(doc.Chunks)-1].Span.End > maxDocumentLen {
		return nil
	}
	if m.wants(Alias) {
		m.aliases(&doc)
	}
	if m.wants(Anchor) {
		m.anchors(&doc)
	}
	if m.wants(Heading) {
		if err := m.headings(ctx, &doc); err != nil {
			return err
		}
	}
	if !m.wants(Phrase) && !m.wants(Paraphrase) {
		return nil
	}
	text, err := m.c.View.Text(id)
	if err != nil {
		return nil // it changed since it was indexed; use others
	}
	return m.bodies(ctx, &doc, text)
}

func (m *maker) aliases(doc *sheaf.Document) {
	n := 0
	for _, alias := range doc.Aliases {
		if n == perDocument || strings.EqualFold(alias, doc.Title) || !m.termCountWithin(alias, 1, 8) {
			continue
		}
		if m.add(Item{Kind: Alias, Text: alias, Doc: doc.ID, Target: doc.ID}) {
			n++
		}
	}
}

func (m *maker) headings(ctx context.Context, doc *sheaf.Document) error {
	n := 0
	for _, i := range m.r.Perm(len(doc.Chunks)) {
		c := &doc.Chunks[i]
		if n == perDocument || !m.wants(Heading) {
			return nil
		}
		if !c.HasHeading() || c.ID == doc.ID || strings.EqualFold(c.Title, doc.Title) || !m.termCountWithin(c.Title, 2, 10) {
			continue
		}
		count, err := m.count(ctx, sheaf.Phrase{Text: c.Title, Field: sheaf.FieldTitle})
		if err != nil {
			return err
		}
		if count == 1 && m.add(Item{Kind: Heading, Text: c.Title, Doc: doc.ID, Target: c.ID}) {
			n++
		}
	}
	return nil
}

// anchors makes queries from the texts of links that lead to other documents. The documents with these links are
// excluded from the search, because they only point to the answer.
func (m *maker) anchors(doc *sheaf.Document) {
	n := 0
	for _, i := range m.r.Perm(len(doc.Chunks)) {
		for _, l := range doc.Chunks[i].Links {
			if n == perDocument || !m.wants(Anchor) {
				return
			}
			target, ok := m.c.View.Resolve(doc.ID, l)
			text := strings.TrimSpace(l.Text)
			if !ok || l.Text == l.Target || looksLikeAddress(text) || !m.termCountWithin(text, 2, 12) {
				continue
			}
			c, ok := m.c.View.Chunk(target)
			if !ok || c.Doc == doc.ID {
				continue
			}
			without, one := m.linkers(c.Doc, text)
			if !slices.Contains(without, doc.ID) {
				without = append(without, doc.ID)
			}
			if one && m.add(Item{Kind: Anchor, Text: text, Doc: c.Doc, Target: target, Without: without}) {
				n++
			}
		}
	}
}

// linkers returns the documents that have a link to doc with this text. few is false for more than 20 documents: the
// link then is part of a navigation, and makes no query.
func (m *maker) linkers(doc sheaf.ID, text string) (ids []sheaf.ID, few bool) {
	const most = 20
	for _, r := range m.c.View.References(doc) {
		if from, ok := m.c.View.Chunk(r.From); ok && from.Doc != doc &&
			strings.EqualFold(strings.TrimSpace(r.Link.Text), text) {
			ids = append(ids, from.Doc)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids, len(ids) <= most
}

func looksLikeAddress(s string) bool {
	return strings.Contains(s, "://") || strings.ContainsAny(s, "/\\") ||
		!strings.ContainsAny(s, " \u00a0") && strings.Contains(s, ".")
}

//go:embed foreign.txt
var foreignText string

// foreign lists questions from many fields, which a collection probably does not answer. If a chunk has all terms of a
// question, the collection may have an answer. Make then skips the question.
var foreign = strings.Split(strings.TrimSpace(foreignText), "\n")

// impossible makes queries that the documents do not answer.
func (m *maker) impossible(ctx context.Context) error {
	var from []Item
	for _, k := range []Kind{Anchor, Paraphrase, Heading} {
		from = append(from, m.items[k]...)
	}
	m.r.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	for _, item := range from {
		if len(m.items[Absent]) == m.wanted.Impossible {
			break
		}
		without := append(slices.Clone(item.Without), item.Doc)
		slices.Sort(without)
		m.add(Item{Kind: Absent, Text: item.Text, Without: slices.Compact(without)})
	}
	for _, i := range m.r.Perm(len(foreign)) {
		if len(m.items[Foreign]) == m.wanted.Impossible {
			break
		}
		var all sheaf.Bool
		for _, t := range m.terms(foreign[i]) {
			all.Must = append(all.Must, sheaf.Match{Text: t})
		}
		n, err := m.count(ctx, all)
		if err != nil {
			return err
		}
		if n == 0 {
			m.add(Item{Kind: Foreign, Text: foreign[i]})
		}
	}
	return nil
}

// These are limits for making queries from the bodies of chunks.
const (
	phraseWords    = 3  // raw words of a phrase
	phraseTries    = 12 // positions tried in a chunk
	rareChunks     = 50 // largest number of chunks that have a rare word
	sentenceLow    = 7  // smallest number of terms of a sentence to use
	sentenceHigh   = 30 // largest number of terms of a sentence to use
	keptLow        = 3  // terms that must be left
	droppedInThree = 1  // about how many of three words are dropped
)

// bodies makes queries from the bodies of a document's chunks.
func (m *maker) bodies(ctx context.Context, doc *sheaf.Document, text []byte) error {
	phrases, paraphrases := 0, 0
	for _, i := range m.r.Perm(len(doc.Chunks)) {
		c := &doc.Chunks[i]
		if phrases+paraphrases >= 2*perDocument {
			return nil
		}
		if len(c.Members) > 0 {
			continue
		}
		sentences := m.sentences(chunk.IndexedText(doc, c, string(text)).Text)
		if len(sentences) == 0 {
			continue
		}
		if phrases < perDocument && m.wants(Phrase) {
			phrase, err := m.rarePhrase(ctx, sentences)
			if err != nil {
				return err
			}
			if phrase != "" && m.add(Item{Kind: Phrase, Text: phrase, Doc: doc.ID, Target: c.ID}) {
				phrases++
			}
		}
		if paraphrases < perDocument && m.wants(Paraphrase) {
			if p := m.paraphrase(sentences[m.r.IntN(len(sentences))]); p != "" &&
				m.add(Item{Kind: Paraphrase, Text: p, Doc: doc.ID, Target: c.ID}) {
				paraphrases++
			}
		}
	}
	return nil
}

var (
	linkMarks  = regexp.MustCompile(`!?\[\[([^\]|]*\|)?([^\]]*)\]\]|!?\[([^\]]*)\]\([^)]*\)`)
	plainMarks = strings.NewReplacer("*", "", "`", "", "_", " ", "~", "", "\u00a0", " ")
	sentenceAt = regexp.MustCompile(`[.!?;:][ \t]|[。！？；]`)
)

// sentences returns the sentences of a body without formatting, if they have sentenceLow to sentenceHigh terms. It
// skips code, tables, quotes, HTML and lists of links.
func (m *maker) sentences(body string) []string {
	var out []string
	code := false
	var paragraph strings.Builder
	flush := func() {
		for _, s := range sentenceAt.Split(paragraph.String(), -1) {
			if s = strings.TrimSpace(s); m.termCountWithin(s, sentenceLow, sentenceHigh) {
				out = append(out, s)
			}
		}
		paragraph.Reset()
	}
	for line := range strings.SplitSeq(body, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			code = !code
			trimmed = ""
		}
		if code || trimmed == "" || strings.HasPrefix(line, "    ") || strings.ContainsRune("|<>#[!{:=", rune(trimmed[0])) {
			flush()
			continue
		}
		if item := strings.TrimLeft(trimmed, "-+*0123456789.) "); item != trimmed && len(item) < len(trimmed) {
			flush()
			trimmed = item
		}
		paragraph.WriteString(plainMarks.Replace(linkMarks.ReplaceAllString(trimmed, "$2$3")))
		paragraph.WriteByte(' ')
	}
	flush()
	return out
}

// words returns the words of a sentence as they are written.
func (m *maker) words(sentence string) []string {
	var out []string
	m.c.Searcher.Analyzer.Words(sentence, func(start, end int) bool {
		out = append(out, sentence[start:end])
		return true
	})
	return out
}

// rarePhrase returns consecutive words that only one chunk has. If a few tries find none, it returns "".
func (m *maker) rarePhrase(ctx context.Context, sentences []string) (string, error) {
	for range phraseTries {
		s := sentences[m.r.IntN(len(sentences))]
		words := m.words(s)
		if len(words) < phraseWords {
			continue
		}
		at := m.r.IntN(len(words) - phraseWords + 1)
		phrase := strings.Join(words[at:at+phraseWords], " ")
		if !m.termCountWithin(phrase, 2, 3*phraseWords) {
			continue
		}
		if rare, err := m.holdsRare(ctx, phrase); err != nil || !rare {
			if err != nil {
				return "", err
			}
			continue
		}
		n, err := m.count(ctx, sheaf.Phrase{Text: phrase, Field: sheaf.FieldBody})
		if err != nil {
			return "", err
		}
		if n == 1 {
			return phrase, nil
		}
	}
	return "", nil
}

// holdsRare reports whether text has a term that few chunks have. A phrase without such a term makes a bad query:
// people do not remember it, and stores count it slowly.
func (m *maker) holdsRare(ctx context.Context, text string) (bool, error) {
	for _, t := range m.terms(text) {
		df, ok := m.counts[t]
		if !ok {
			var err error
			if df, err = m.count(ctx, sheaf.Match{Text: t}); err != nil {
				return false, err
			}
			m.counts[t] = df
		}
		if df > 0 && df <= rareChunks {
			return true, nil
		}
	}
	return false, nil
}

// paraphrase returns a sentence in lower case without about a third of its words, or "" if it gets too short.
func (m *maker) paraphrase(sentence string) string {
	var kept []string
	words := m.words(sentence)
	for _, w := range words {
		if m.r.IntN(3) >= droppedInThree {
			kept = append(kept, strings.ToLower(w))
		}
	}
	text := strings.Join(kept, " ")
	if len(kept) == len(words) || !m.termCountWithin(text, keptLow, sentenceHigh) {
		return ""
	}
	return text
}
