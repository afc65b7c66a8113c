package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sheaf"
	"sheaf/analysis"
	"sheaf/search"
)

// Of the memory 35 % are for sections that are remembered and 65 % for the index, and
// both keep to it.
func TestMemoryIsSplit(t *testing.T) {
	if cut, index := split(100 << 20); cut != 35<<20 || index != 65<<20 {
		t.Errorf("100 MB are split into %d and %d", cut, index)
	}
	root := t.TempDir()
	const files = 400
	for i := range files {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i, ".md")), []byte("A word of it.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Root: root, Analyzer: a})
	if err != nil {
		t.Fatal(err)
	}
	req := search.ScanRequest{Queries: []string{"word"}, Words: sheaf.Match{Text: "word"}, MaxFiles: files, ChunkChars: 6000}
	kept := map[int64]int{}
	for _, memory := range []int64{1 << 20, 20 << 20} {
		req.MemoryBytes = memory
		if _, err := s.Scan(context.Background(), req); err != nil {
			t.Fatal(err)
		}
		if want := memory * 35 / 100; s.cache.limit != want || s.cache.used > want {
			t.Errorf("of %d bytes, sections take %d of %d, want at most %d", memory, s.cache.used, s.cache.limit, want)
		}
		kept[memory] = s.cache.order.Len()
	}
	if kept[20<<20] != files || kept[1<<20] == 0 || kept[1<<20] >= files {
		t.Errorf("remembered are %v of %d files", kept, files)
	}
}
