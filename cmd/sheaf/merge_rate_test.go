package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/store"
	"sheaf/text/analysis"
)

// TestMergeRate checks that a merge rate of 0 keeps all parts of an index, and that another rate
// joins them.
func TestMergeRate(t *testing.T) {
	dir := t.TempDir()
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parts := func() int {
		names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	const writes = 20
	for _, rate := range []int64{0, 64 << 20} {
		st, err := openEngine(&config.Config{Values: config.Values{Engine: config.Engine{IndexMemory: 1 << 20,
			MergeRate: rate}}}, dir, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range writes {
			id := sheaf.ID(fmt.Sprintf("t:%d-%d", rate, i))
			c := store.Chunk{ID: id, Doc: id, Fields: []store.Field{{Name: sheaf.FieldBody, Text: "a word"}}}
			if err := st.Write(t.Context(), store.Batch{Replace: []sheaf.ID{id}, Chunks: []store.Chunk{c}}); err != nil {
				t.Fatal(err)
			}
		}
		for end := time.Now().Add(time.Minute); rate > 0 && parts() >= writes && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if n := parts(); (n < writes) != (rate > 0) {
			t.Errorf("merge rate %d: %d parts after writes %d", rate, n, writes)
		}
	}
}
