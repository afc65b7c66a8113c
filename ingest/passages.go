package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/chunk"
)

// servedPassages are the passages for models that get one passage per call, such as servers. Models that read whole
// sentences profit from longer passages.
var servedPassages = chunk.Passages{Words: 80, Stride: 60}

// cheapPassages are the passages for a model.WindowEmbedder, which adds up vectors of words. Short passages that
// overlap work better for it (doc/quality.md).
var cheapPassages = chunk.Passages{Words: 40, Stride: 30}

// PassagesOf returns how texts are cut into passages for an embedder.
func PassagesOf(e model.Embedder) chunk.Passages {
	if _, ok := e.(model.WindowEmbedder); ok {
		return cheapPassages
	}
	return servedPassages
}

// completeBodies appends text for word search to the bodies of chunks: words of removed lists, and property values.
// words[i] has the words of the lists that takeLists removed from chunks[i].
func (o *Options) completeBodies(doc *sheaf.Document, chunks []store.Chunk, words []string) {
	found := ""
	if o.Chunk.Chunker == "window" {
		found = o.Chunk.Window.Found(doc)
	}
	for i := range chunks {
		if f := bodyOf(&chunks[i]); f != nil {
			f.Text += words[i] + found
		}
	}
}

// passages returns the texts to embed for one chunk. Each text has the titles above, a passage of body, and suffix.
func passages(c *sheaf.Chunk, body string, p chunk.Passages, suffix string) []string {
	heading := strings.Join(c.Hierarchy, headingMark)
	starts := p.AppendStarts(nil, body)
	if len(starts) == 0 {
		return []string{heading + suffix}
	}
	out := make([]string, p.Count(len(starts)))
	for i := range out {
		w := p.Window(starts, len(body), i)
		out[i] = heading + "\n" + strings.TrimSpace(chunk.Squeezed(body[w.Start:w.End])) + suffix
	}
	return out
}

// headingMark separates the titles above a passage.
const headingMark = " › "

// withoutVectors returns the chunks that have no vectors.
func withoutVectors(chunks []store.Chunk) (lacking []*store.Chunk) {
	for i := range chunks {
		if len(chunks[i].Vectors) == 0 {
			lacking = append(lacking, &chunks[i])
		}
	}
	return lacking
}

// embed adds vectors to the chunks of one document. byID has the chunks of doc, and suffix follows every passage. If a
// model on a server gives no vector for a passage, doc gets a warning. For a model.WindowEmbedder, the vectors are in
// *memory, which grows if needed.
func embed(ctx context.Context, e model.Embedder, doc *sheaf.Document, byID map[sheaf.ID]*sheaf.Chunk,
	chunks []*store.Chunk, suffix string, memory *[]float32) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("embed %s: %w", doc.ID, err)
		}
	}()
	if whole, ok := e.(model.WindowEmbedder); ok {
		return embedWindows(ctx, whole, byID, chunks, suffix, memory)
	}
	var texts []string
	counts := make([]int, len(chunks))
	for i := range chunks {
		c := byID[chunks[i].ID]
		parts := passages(c, textOf(chunks[i]), PassagesOf(e), suffix)
		counts[i] = len(parts)
		texts = append(append(texts, parts...), c.Title)
	}
	vectors, err := ask(ctx, e, model.Passage, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("%w: model %s gave %d vectors for %d texts", sheaf.ErrUnavailable, e.Model(), len(vectors),
			len(texts))
	}
	for i, v := range vectors {
		if v != nil && !store.IsUnit(v, e.Dims()) {
			return fmt.Errorf("%w: model %s gave no vector of length 1 and %d dimensions for text %d", sheaf.ErrUnavailable,
				e.Model(), e.Dims(), i)
		}
	}
	var lacking []string // the titles above passages without a vector
	for i := range chunks {
		n := counts[i]
		if slices.ContainsFunc(vectors[:n], func(v []float32) bool { return v == nil }) {
			lacking = append(lacking, strings.Join(byID[chunks[i].ID].Hierarchy, headingMark))
		}
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, store.VectorBody, vectors[:n])
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, store.VectorTitle, vectors[n:n+1])
		vectors = vectors[n+1:]
	}
	if n := len(lacking); n > 0 {
		doc.Warnings = append(doc.Warnings, sheaf.Warning{Message: fmt.Sprintf("the model gave no vector for text in %d of "+
			"%d chunks, such as %q; search by meaning does not find this text", n, len(chunks), lacking[0])})
	}
	return nil
}

// ask sends texts to a model and returns its vectors. A panic of the model becomes an error.
func ask(ctx context.Context, e model.Embedder, purpose model.Purpose,
	texts []string) (vectors [][]float32, err error) {
	defer model.Caught(e.Model(), &err)
	return e.Embed(ctx, purpose, texts)
}

// Answers reports whether a model works: whether it embeds a plain word. A working model that refuses another text does
// so because of that text.
func Answers(ctx context.Context, e model.Embedder) bool {
	// Embed the word as a query: a query fails at once if the server is known to be down.
	vectors, err := ask(ctx, e, model.Query, []string{"vectors"})
	return err == nil && len(vectors) == 1 && (vectors[0] == nil || store.IsUnit(vectors[0], e.Dims()))
}

// embedWindows works like embed, for an embedder that takes whole texts. The suffix comes before the passages, because
// such an embedder expects the shared text first. embedWindows stores the vectors in the slice *memory, which grows if
// needed. If memory is nil, it makes a new slice. A panic of the model becomes an error.
func embedWindows(ctx context.Context, e model.WindowEmbedder, at map[sheaf.ID]*sheaf.Chunk, chunks []*store.Chunk,
	suffix string, memory *[]float32) (err error) {
	defer model.Caught(e.Model(), &err)
	if memory == nil {
		memory = new([]float32)
	}
	if cap(*memory) > 1<<20 { // after a very long text
		*memory = nil
	}
	p, numbers := PassagesOf(e), (*memory)[:0]
	var starts []int
	add := func(c *store.Chunk, field, heading, body string) error {
		starts = p.AppendStarts(starts[:0], body)
		first := len(numbers)
		numbers, err = e.AppendWindows(ctx, numbers, heading, body, starts, p.Words, p.Stride)
		if err == nil && len(numbers) > first {
			passages := make([][]float32, 0, (len(numbers)-first)/e.Dims())
			passages = slices.AppendSeq(passages, slices.Chunk(numbers[first:], e.Dims()))
			c.Vectors = append(c.Vectors, store.Vectors{Name: field, Passages: passages})
		}
		return err
	}
	for _, c := range chunks {
		above := strings.Join(at[c.ID].Hierarchy, headingMark) + suffix
		if err := add(c, store.VectorBody, above, textOf(c)); err != nil {
			return err
		}
		if err := add(c, store.VectorTitle, at[c.ID].Title, ""); err != nil {
			return err
		}
	}
	*memory = numbers
	return nil
}

func chunksOf(doc *sheaf.Document) map[sheaf.ID]*sheaf.Chunk {
	at := make(map[sheaf.ID]*sheaf.Chunk, len(doc.Chunks))
	for i := range doc.Chunks {
		at[doc.Chunks[i].ID] = &doc.Chunks[i]
	}
	return at
}

// bodyOf returns the body field of a chunk, or nil if the chunk has none.
func bodyOf(c *store.Chunk) *store.Field {
	for i := range c.Fields {
		if c.Fields[i].Name == sheaf.FieldBody {
			return &c.Fields[i]
		}
	}
	return nil
}

func textOf(c *store.Chunk) string {
	if f := bodyOf(c); f != nil {
		return f.Text
	}
	return ""
}

// appendVectors appends vectors. It skips nil vectors, which mean texts that the model does not know.
func appendVectors(to []store.Vectors, name string, vectors [][]float32) []store.Vectors {
	known := make([][]float32, 0, len(vectors))
	for _, v := range vectors {
		if v != nil {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return to
	}
	return append(to, store.Vectors{Name: name, Passages: known})
}

// errNoModel means that vectors are missing because no model is configured. A later run with a model adds them.
var errNoModel = errors.New("no model is configured")

// refusedFor is the longest time in which a run still asks an embedder that refuses every document. The limit matters
// because a failing server takes seconds for each document, with the pauses between attempts.
const refusedFor = time.Minute

// embedding records during a run whether the embedder works.
type embedding struct {
	wanted bool // documents indexed earlier have vectors
	// fault is the error of an embedder that failed, or nil. The run does not call a failed embedder again.
	fault error
	// refusing is the time since which the embedder has refused every document. It is zero after a success.
	refusing time.Time
}

// embedChunks adds vectors to the chunks that have none, if there is an embedder that works. A document that the
// embedder refuses waits for its vectors; the other documents are not delayed.
func (r *runner) embedChunks(ctx context.Context, doc *sheaf.Document, at map[sheaf.ID]*sheaf.Chunk,
	chunks []store.Chunk, memory *[]float32) error {
	lacking := withoutVectors(chunks)
	switch {
	case len(lacking) == 0, r.o.Embedder == nil && !r.embedding.wanted:
		return nil
	case r.o.Embedder == nil:
		return errNoModel
	}
	r.mu.Lock()
	fault := r.embedding.fault
	r.mu.Unlock()
	if fault != nil {
		return fault
	}
	began, suffix := time.Now(), ""
	if r.o.Chunk.Chunker == "window" {
		suffix, _ = r.o.Chunk.Window.Enrich(doc)
	}
	err := embed(ctx, r.o.Embedder, doc, at, lacking, suffix, memory)
	if err != nil && ctx.Err() != nil {
		return err
	}
	// Other documents need not wait for a server that is down.
	answers := err == nil || Answers(ctx, r.o.Embedder)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.embedding.refusing = time.Time{}
		return nil
	}
	if r.embedding.refusing.IsZero() {
		r.embedding.refusing = began
	}
	r.report.EmbedError = err.Error()
	if !answers || time.Since(r.embedding.refusing) > refusedFor {
		r.embedding.fault = err
	}
	return err
}

// Embed adds vectors to the chunks of one document that have none. It embeds each title, and each passage under its
// titles.
func Embed(ctx context.Context, e model.Embedder, doc *sheaf.Document, entries []store.Chunk) error {
	return embed(ctx, e, doc, chunksOf(doc), withoutVectors(entries), "", nil)
}

// A list of links that share a word, such as "Staging environments" and "Production environments", repeats that word.
// By its many repetitions, the list would outrank the linked documents. So the vectors of a section leave such a list
// out. Word search gets each word of the list once. A list whose word is also in a title stays.

// takeLists removes lists of similar links from the bodies of chunks, before these get their vectors. It returns the
// words of the removed lists, each word once, by index of the chunk.
func (o *Options) takeLists(doc *sheaf.Document, at map[sheaf.ID]*sheaf.Chunk, chunks []store.Chunk) []string {
	words := make([]string, len(chunks))
	if o.Analyzer == nil || chunk.KindOf(doc.Path) != chunk.KindMarkdown {
		return words
	}
	for i := range chunks {
		f := bodyOf(&chunks[i])
		if f == nil {
			continue
		}
		var kept, listed strings.Builder
		from := 0
		for _, list := range chunk.LinkLists(f.Text) {
			if o.share(list.Links, at[chunks[i].ID].Hierarchy) {
				kept.WriteString(f.Text[from:list.Start])
				from = list.End
				listed.WriteString("\n")
				o.writeOnce(&listed, f.Text[list.Start:list.End])
			}
		}
		if from > 0 {
			kept.WriteString(f.Text[from:])
			f.Text, words[i] = kept.String(), listed.String()
		}
	}
	return words
}

// share reports whether many links share a content word that no title has. Many means at least three links, and at
// least three quarters of all links.
func (o *Options) share(links, titles []string) bool {
	enough := func(n int) bool { return n >= 3 && n*4 >= len(links)*3 }
	in, last := map[string]int{}, map[string]int{} // by term: how many links have it, and which link had it last
	most := 0
	for i, link := range links {
		if !enough(most + len(links) - i) {
			return false
		}
		text := link
		if end := strings.LastIndex(link, "]("); end >= 0 {
			text = link[:end] // without the address
		}
		if _, address, bare := strings.Cut(link, "://"); bare && link[0] != '[' {
			_, text, _ = strings.Cut(address, "/") // without the host
		}
		o.terms(text, func(_ string, terms []string) {
			for _, t := range terms {
				if last[t] <= i && !o.Analyzer.FunctionWord(t) {
					in[t]++
					last[t], most = i+1, max(most, in[t])
				}
			}
		})
	}
	for _, title := range titles {
		o.terms(title, func(_ string, terms []string) {
			for _, t := range terms {
				delete(in, t)
			}
		})
	}
	for _, n := range in {
		if enough(n) {
			return true
		}
	}
	return false
}

// writeOnce writes the words of text in order. It skips a word if earlier words had all its terms.
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

// terms calls the function visit with each word of text and the terms of the word. It leaves out the unstemmed terms,
// whose [analysis.Term.Form] is set. The slice of terms is valid until visit returns.
func (o *Options) terms(text string, visit func(word string, terms []string)) {
	var names []string
	terms := o.Analyzer.Terms(nil, "")
	o.Analyzer.Words(text, func(start, end int) bool {
		terms, names = o.Analyzer.Terms(terms[:0], text[start:end]), names[:0]
		for _, t := range terms {
			if !t.Form {
				names = append(names, t.Text)
			}
		}
		visit(text[start:end], names)
		return true
	})
}
