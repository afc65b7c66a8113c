package ingest

import (
	"context"
	"fmt"
	"strings"

	"sheaf"
	"sheaf/backend"
	"sheaf/chunk"
	"sheaf/inference"
)

// Passages of other embedders than those for which windows are cheap: each is a
// text that a server is asked for, and models that read whole sentences make use
// of more of them.
var servedPassages = chunk.Passages{Words: 80, Stride: 60}

// cheapPassages are those of inference.WindowEmbedder. Smaller ones, with a part
// of each in the next, are found better by vectors that are sums of words:
// doc/quality.md.
var cheapPassages = chunk.Passages{Words: 40, Stride: 30}

// PassagesOf says how texts are cut for an embedder. Every passage is embedded
// under the titles above it.
func PassagesOf(e inference.Embedder) chunk.Passages {
	if _, ok := e.(inference.WindowEmbedder); ok {
		return cheapPassages
	}
	return servedPassages
}

// passages are the texts of one chunk that are embedded.
func passages(c *sheaf.Chunk, body string, p chunk.Passages) []string {
	heading := strings.Join(c.Hierarchy, headingMark)
	starts := p.Starts(body)
	if len(starts) == 0 {
		return []string{heading}
	}
	out := make([]string, p.Count(len(starts)))
	for i := range out {
		w := p.Window(starts, len(body), i)
		out[i] = heading + "\n" + strings.TrimSpace(body[w.Start:w.End])
	}
	return out
}

// headingMark stands between the titles above a passage.
const headingMark = " › "

// embed gives the chunks of one document their vectors.
func embed(ctx context.Context, e inference.Embedder, doc *sheaf.Document, chunks []backend.Chunk) error {
	if w, ok := e.(inference.WindowEmbedder); ok {
		return embedWindows(ctx, w, doc, chunks)
	}
	at := chunksOf(doc)
	var texts []string
	counts := make([]int, len(chunks))
	for i := range chunks {
		c := at[chunks[i].ID]
		parts := passages(c, bodyOf(&chunks[i]), PassagesOf(e))
		counts[i] = len(parts)
		texts = append(append(texts, parts...), c.Title)
	}
	vectors, err := e.Embed(ctx, inference.Passage, texts)
	if err != nil {
		return fmt.Errorf("embed %s: %w", doc.ID, err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed %s: %w: model %s gave %d vectors for %d texts", doc.ID, sheaf.ErrUnavailable, e.Model(), len(vectors), len(texts))
	}
	for i := range chunks {
		n := counts[i]
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, backend.VectorBody, vectors[:n])
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, backend.VectorTitle, vectors[n:n+1])
		vectors = vectors[n+1:]
	}
	return nil
}

// embedWindows does what embed does, with an embedder that takes whole texts.
func embedWindows(ctx context.Context, e inference.WindowEmbedder, doc *sheaf.Document, chunks []backend.Chunk) error {
	at := chunksOf(doc)
	p := PassagesOf(e)
	titles := make([]string, len(chunks))
	for i := range chunks {
		c, body := at[chunks[i].ID], bodyOf(&chunks[i])
		titles[i] = c.Title
		vectors, err := e.EmbedWindows(ctx, strings.Join(c.Hierarchy, headingMark), body, p.Starts(body), p.Words, p.Stride)
		if err != nil {
			return fmt.Errorf("embed %s: %w", doc.ID, err)
		}
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, backend.VectorBody, vectors)
	}
	vectors, err := e.Embed(ctx, inference.Passage, titles)
	if err != nil {
		return fmt.Errorf("embed %s: %w", doc.ID, err)
	}
	for i := range chunks {
		chunks[i].Vectors = appendVectors(chunks[i].Vectors, backend.VectorTitle, vectors[i:i+1])
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

func bodyOf(c *backend.Chunk) string {
	for _, f := range c.Fields {
		if f.Name == sheaf.FieldBody {
			return f.Text
		}
	}
	return ""
}

// appendVectors adds the vectors that are there; a text of which the model knows
// nothing has none.
func appendVectors(to []backend.Vectors, name string, vectors [][]float32) []backend.Vectors {
	known := make([][]float32, 0, len(vectors))
	for _, v := range vectors {
		if v != nil {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return to
	}
	return append(to, backend.Vectors{Name: name, Passages: known})
}
