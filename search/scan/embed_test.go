package scan_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
)

// picky is a model that refuses texts with the word "stone".
type picky struct{ hashed.Embedder }

func (p picky) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	if strings.Contains(strings.Join(texts, "\n"), "stone") {
		return nil, errors.New("too hard")
	}
	return p.Embedder.Embed(ctx, purpose, texts)
}

// TestOneFileWithoutVectors checks that a file that the model refuses does not stop vectors of other files.
func TestOneFileWithoutVectors(t *testing.T) {
	s := must.Get(scan.New(scan.Options{Root: folder(t,
		map[string]string{"a.md": "alpha\n", "b.md": "alpha stone\n", "c.md": "alpha\n"}), Tree: "vault",
		Analyzer: english(t), Embedder: picky{hashed.New(64)}}))
	r := must.Get(s.Scan(t.Context(), search.ScanRequest{Queries: []string{"alpha"}, Words: sheaf.Match{Text: "alpha"},
		Vectors: true,
		Limits:  profile.Scan{Files: 10, ChunkChars: 6000, MemoryBytes: 20 << 20, MaxVectors: 9}}))
	vector := make([]float32, 64)
	vector[0] = 1
	hits, err := r.Backend.Retrieve(t.Context(),
		store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: vector}})
	if err != nil || len(hits) != 2 || !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "b.md: too hard")
	}) {
		t.Errorf("%d of 3 sections have vectors, warnings %q: %v", len(hits), r.Warnings, err)
	}
}
