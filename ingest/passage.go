package ingest

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/backend"
	"sheaf/inference"
)

// Passages have at most passageWords words and begin passageStride words after
// one another, so that neighbours share some; each is embedded under the titles
// above it. Characters of scripts without spaces count as half a word.
const (
	passageWords  = 80
	passageStride = 60
)

// passages are the texts of one chunk that are embedded.
func passages(c *sheaf.Chunk, body string) []string {
	heading := strings.Join(c.Hierarchy, " › ")
	starts := wordStarts(body)
	if len(starts) == 0 {
		return []string{heading}
	}
	var out []string
	for first := 0; ; first += passageStride {
		from, to := starts[first], len(body)
		last := first+passageWords >= len(starts)
		if !last {
			to = starts[first+passageWords]
		}
		out = append(out, heading+"\n"+strings.TrimSpace(body[from:to]))
		if last {
			return out
		}
	}
}

// wordStarts are the bytes at which words begin.
func wordStarts(s string) []int {
	var starts []int
	inWord, dense := false, 0
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r):
			if dense%2 == 0 {
				starts = append(starts, i)
			}
			dense++
			inWord = false
		case unicode.IsSpace(r):
			inWord = false
		case !inWord:
			inWord = true
			starts = append(starts, i)
		}
		i += size
	}
	return starts
}

// embed gives the chunks of one document their vectors.
func embed(ctx context.Context, e inference.Embedder, doc *sheaf.Document, chunks []backend.Chunk) error {
	at := make(map[sheaf.ID]*sheaf.Chunk, len(doc.Chunks))
	for i := range doc.Chunks {
		at[doc.Chunks[i].ID] = &doc.Chunks[i]
	}
	var texts []string
	counts := make([]int, len(chunks))
	for i := range chunks {
		c, body := at[chunks[i].ID], ""
		for _, f := range chunks[i].Fields {
			if f.Name == sheaf.FieldBody {
				body = f.Text
			}
		}
		parts := passages(c, body)
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
