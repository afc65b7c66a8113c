package benchmark

import (
	"errors"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/offheap"
)

// TestStoppedBuildReleasesMemory checks that a build that ends early releases its memory.
func TestStoppedBuildReleasesMemory(t *testing.T) {
	before := offheap.InUse()
	e := &own{task: TaskWords}
	docs := slices.Repeat([]Document{{ID: "a", Title: "one", Text: "some words"}}, 2*batchChunks)
	docs[len(docs)-1].ID = ""
	if err := e.Build(t.Context(), t.TempDir(), docs, nil); !errors.Is(err, sheaf.ErrInvalid) {
		t.Fatalf("a chunk without an ID: %v", err)
	}
	if left := offheap.InUse() - before; left != 0 {
		t.Errorf("%d bytes are not given back", left)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
