package main

import (
	"runtime/debug"
	"testing"

	"sheaf/internal/offheap"
)

// TestSaveMemory checks that indexing lowers the collector's limit to the rest of the allowed
// memory, and restores the limit afterwards.
func TestSaveMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	const files, some = 10 << 20, 20 << 20
	adjust, restore := saveMemory(files)
	var list offheap.List[byte]
	defer list.Free()
	list.Grow(some)
	adjust()
	if got, want := limit(), files+indexMemory-offheap.Beside(); got != want {
		t.Errorf("limit %d with %d bytes taken beside the heap, want %d", got, some, want)
	}
	list.Grow(files + indexMemory)
	adjust()
	if got, want := limit(), int64(files+indexMemory)-offheap.Beside(); got != max(want, (files+indexMemory)/2) {
		t.Errorf("limit %d with more taken than allowed, want half", got)
	}
	restore()
	if got := limit(); got != before {
		t.Errorf("limit %d afterwards, want %d", got, before)
	}
}
