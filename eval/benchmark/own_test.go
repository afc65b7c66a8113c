package benchmark

import (
	"errors"
	"testing"

	"sheaf/internal/offheap"
)

// TestBuildEnds: a build that ends early releases its memory.
func TestBuildEnds(t *testing.T) {
	before := offheap.InUse()
	e := &own{task: TaskWords}
	gone, batches := errors.New("the corpus is gone"), 0
	err := e.build(t.Context(), t.TempDir(), func() ([]Document, [][]float32, error) {
		if batches++; batches > 1 {
			return nil, nil, gone
		}
		return []Document{{ID: "a", Title: "one", Text: "some words"}}, nil, nil
	})
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	if left := offheap.InUse() - before; left != 0 {
		t.Errorf("%d bytes are not given back", left)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
