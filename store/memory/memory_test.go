package memory_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

func open(t testing.TB) store.Backend { return memory.New(storetest.Analyzer(t, "en")) }

func TestConformance(t *testing.T) { storetest.Run(t, storetest.Options{Open: open}) }

// words is a store without vectors.
type words struct{ *memory.Backend }

func (w words) Write(ctx context.Context, batch store.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	batch.Chunks = slices.Clone(batch.Chunks)
	for i := range batch.Chunks {
		batch.Chunks[i].Vectors = nil
	}
	return w.Backend.Write(ctx, batch)
}

func (w words) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if req.Vector != nil {
		return nil, fmt.Errorf("%w: vectors", sheaf.ErrUnsupported)
	}
	return w.Backend.Retrieve(ctx, req)
}

// TestConformanceOfWords checks that a store that refuses vectors passes the suite.
func TestConformanceOfWords(t *testing.T) {
	storetest.Run(t, storetest.Options{
		Open:  func(t testing.TB) store.Backend { return words{open(t).(*memory.Backend)} },
		Lacks: func(req store.Request) bool { return req.Vector != nil },
	})
}
