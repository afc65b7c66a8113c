package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sheaf"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/chunk"
)

// Passages of other embedders than those for which windows are cheap: each is a
// text that a server is asked for, and models that read whole sentences make use
// of more of them.
var servedPassages = chunk.Passages{Words: 80, Stride: 60}

// cheapPassages are those of model.WindowEmbedder. Smaller ones, with a part
// of each in the next, are found better by vectors that are sums of words:
// doc/quality.md.
var cheapPassages = chunk.Passages{Words: 40, Stride: 30}

// PassagesOf says how texts are cut for an embedder. Every passage is embedded
// under the titles above it.
func PassagesOf(e model.Embedder) chunk.Passages {
	if _, ok := e.(model.WindowEmbedder); ok {
		return cheapPassages
	}
	return servedPassages
}

// suffixOf is what is embedded behind every passage of a document: its properties,
// when windows are made so, without those that say who may see it.
func (o *Options) suffixOf(doc *sheaf.Document) string {
	if o.Chunk.Chunker != "window" || !o.Chunk.Window.MetadataSuffix {
		return ""
	}
	suffix, _ := o.Chunk.Window.Enrich(doc)
	return suffix
}

// addFound adds to the bodies of a document's chunks what words find at their end, when windows
// are made so. The chunks have their vectors already, which have a suffix of their own.
func (o *Options) addFound(doc *sheaf.Document, chunks []store.Chunk) {
	if o.Chunk.Chunker != "window" {
		return
	}
	found := o.Chunk.Window.Found(doc)
	for i := range chunks {
		for j := range chunks[i].Fields {
			if f := &chunks[i].Fields[j]; f.Name == sheaf.FieldBody {
				f.Text += found
			}
		}
	}
}

// passages are the texts of one chunk that are embedded, with suffix behind each.
func passages(c *sheaf.Chunk, body string, p chunk.Passages, suffix string) []string {
	heading := strings.Join(c.Hierarchy, headingMark)
	starts := p.Starts(body)
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

// headingMark stands between the titles above a passage.
const headingMark = " › "

// embed gives the chunks of one document their vectors; at are the chunks by ID,
// suffix stands behind every passage. Vectors of windows lie in the memory of to, until it is used again.
func embed(ctx context.Context, e model.Embedder, doc *sheaf.Document, at map[sheaf.ID]*sheaf.Chunk, chunks []store.Chunk, suffix string, to *space) error {
	if w, ok := e.(model.WindowEmbedder); ok {
		if err := to.embed(ctx, w, at, chunks, suffix); err != nil {
			return fmt.Errorf("embed %s: %w", doc.ID, err)
		}
		return nil
	}
	var texts []string
	counts := make([]int, len(chunks))
	for i := range chunks {
		c := at[chunks[i].ID]
		parts := passages(c, bodyOf(&chunks[i]), PassagesOf(e), suffix)
		counts[i] = len(parts)
		texts = append(append(texts, parts...), c.Title)
	}
	vectors, err := ask(ctx, e, model.Passage, texts)
	if err != nil {
		return fmt.Errorf("embed %s: %w", doc.ID, err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed %s: %w: model %s gave %d vectors for %d texts", doc.ID, sheaf.ErrUnavailable, e.Model(), len(vectors), len(texts))
	}
	for i, v := range vectors {
		if v != nil && !store.IsUnit(v, e.Dims()) {
			return fmt.Errorf("embed %s: %w: model %s gave no vector of length 1 and %d dimensions for text %d", doc.ID, sheaf.ErrUnavailable, e.Model(), e.Dims(), i)
		}
	}
	for i := range chunks {
		n := counts[i]
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, store.VectorBody, vectors[:n])
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, store.VectorTitle, vectors[n:n+1])
		vectors = vectors[n+1:]
	}
	return nil
}

// ask asks a model for vectors, of which a panic is an error.
func ask(ctx context.Context, e model.Embedder, purpose model.Purpose, texts []string) (vectors [][]float32, err error) {
	defer model.Caught(e.Model(), &err)
	return e.Embed(ctx, purpose, texts)
}

// Answers reports whether a model gives a vector for a plain word: then what it refuses is
// for good, and others are not.
func Answers(ctx context.Context, e model.Embedder) bool {
	// As for a query, which fails at once where the server of the model is known to be away.
	vectors, err := ask(ctx, e, model.Query, []string{"vectors"})
	return err == nil && len(vectors) == 1 && (vectors[0] == nil || store.IsUnit(vectors[0], e.Dims()))
}

// space is memory for the vectors of some chunks, which is used again and again.
type space struct {
	numbers  []float32
	counts   []int // of each chunk: passages, and 1 with a title
	starts   []int
	passages [][]float32
	fields   []store.Vectors
}

// embed does what the function embed does, with an embedder that takes whole texts.
// The suffix stands with the titles, above the passages, where that embedder wants
// what they share.
func (s *space) embed(ctx context.Context, e model.WindowEmbedder, at map[sheaf.ID]*sheaf.Chunk, chunks []store.Chunk, suffix string) error {
	p, dims, embedder := PassagesOf(e), e.Dims(), e.Model()
	s.numbers, s.counts = s.numbers[:0], s.counts[:0]
	add := func(heading, body string) (err error) {
		defer model.Caught(embedder, &err)
		before := len(s.numbers)
		s.starts = p.AppendStarts(s.starts[:0], body)
		s.numbers, err = e.AppendWindows(ctx, s.numbers, heading, body, s.starts, p.Words, p.Stride)
		s.counts = append(s.counts, (len(s.numbers)-before)/dims)
		return err
	}
	for i := range chunks {
		c := at[chunks[i].ID]
		if err := add(strings.Join(c.Hierarchy, headingMark)+suffix, bodyOf(&chunks[i])); err != nil {
			return err
		}
		if err := add(c.Title, ""); err != nil {
			return err
		}
	}
	s.passages = slices.Grow(s.passages[:0], len(s.numbers)/dims)
	s.fields = slices.Grow(s.fields[:0], len(s.counts))
	for v := range slices.Chunk(s.numbers, dims) {
		s.passages = append(s.passages, v)
	}
	rest := s.passages
	for i := range chunks {
		first := len(s.fields)
		for j, name := range [...]string{store.VectorBody, store.VectorTitle} {
			n := s.counts[2*i+j]
			if n > 0 {
				s.fields = append(s.fields, store.Vectors{Name: name, Passages: rest[:n:n]})
			}
			rest = rest[n:]
		}
		chunks[i].Vectors = append(chunks[i].Vectors, s.fields[first:]...)
	}
	return nil
}

func chunksOf(doc *sheaf.Document) map[sheaf.ID]*sheaf.Chunk {
	at := make(map[sheaf.ID]*sheaf.Chunk, len(doc.Chunks))
	for i := range doc.Chunks {
		at[doc.Chunks[i].ID] = &doc.Chunks[i]
	}
	return at
}

func bodyOf(c *store.Chunk) string {
	for _, f := range c.Fields {
		if f.Name == sheaf.FieldBody {
			return f.Text
		}
	}
	return ""
}

// appendVectors adds the vectors that are there; a text of which the model knows
// nothing has none.
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
