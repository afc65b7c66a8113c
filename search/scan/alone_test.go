package scan_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
)

// entered counts those that embed at once. While the first waits for a second nobody
// else is done, so that the most there are is no matter of time.
type entered struct {
	model.Embedder
	now, most atomic.Int32
	second    chan struct{} // closed when two are in; nil for no waiting
}

func (e *entered) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	now := e.now.Add(1)
	defer e.now.Add(-1)
	if now > e.most.Load() {
		e.most.Store(now)
	}
	if e.second != nil {
		if now == 2 {
			close(e.second)
		}
		<-e.second
	} else {
		time.Sleep(20 * time.Millisecond) // others would come meanwhile
	}
	return e.Embedder.Embed(ctx, p, texts)
}

// A search that nobody is to help embeds one file after another, and finds the same.
func TestScanAlone(t *testing.T) {
	root := t.TempDir()
	for i := range 2 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i, ".md")), []byte("# Word\n\nA word of it.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var candidates [2]int
	for i, alone := range []bool{false, true} {
		e := &entered{Embedder: hashed.New(64)}
		ctx := context.Background()
		if alone {
			ctx = store.Alone(ctx)
		} else {
			e.second = make(chan struct{})
		}
		s, err := scan.New(scan.Options{Root: root, Analyzer: english(t), Embedder: e})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Scan(ctx, search.ScanRequest{Queries: []string{"word"}, Words: sheaf.Match{Text: "word"}, MaxFiles: 10, MemoryBytes: 10 << 20, ChunkChars: 6000, Vectors: true, MaxVectors: 10})
		if err != nil {
			t.Fatal(err)
		}
		candidates[i] = got.Candidates
		if want := int32(2 - i); e.most.Load() != want {
			t.Errorf("alone %v: %d files are embedded at once, want %d", alone, e.most.Load(), want)
		}
	}
	if candidates[0] != 2 || candidates[1] != 2 {
		t.Errorf("candidates %v", candidates)
	}
}
