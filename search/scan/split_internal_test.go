package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sheaf"
	"sheaf/ingest"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// TestMemoryIsSplit checks that cached sections use at most 35 % of the memory, and the index at most 65 %.
func TestMemoryIsSplit(t *testing.T) {
	if cut, index := split(100 << 20); cut != 35<<20 || index != 65<<20 {
		t.Errorf("100 MB are split into %d and %d", cut, index)
	}
	root := t.TempDir()
	const files = 400
	for i := range files {
		must.Do(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i, ".md")), []byte("A word of it.\n"), 0o644))
	}
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	s := must.Get(New(Options{Root: root, Analyzer: a}))
	req := search.ScanRequest{Queries: []string{"word"}, Words: sheaf.Match{Text: "word"},
		Limits: profile.Scan{Files: files, ChunkChars: 6000}}
	kept := map[int64]int{}
	for _, bytes := range []int64{1 << 20, 20 << 20} {
		req.Limits.MemoryBytes = bytes
		got := must.Get(s.Scan(context.Background(), req))
		sections, size := s.cache.Size()
		if most := bytes * 35 / 100; size > most {
			t.Errorf("of %d bytes, sections take %d, want at most %d", bytes, size, most)
		}
		kept[bytes] = sections
		_, index := split(bytes)
		g := gatherAgain(t, s, req, index)
		if got.Candidates != len(g.docs) || g.full != (bytes == 1<<20) {
			t.Errorf("of %d bytes, %d candidates, where %d fit; full is %v", bytes, got.Candidates, len(g.docs), g.full)
		}
		used := entryBytes * int64(g.chunks)
		for _, d := range g.docs {
			used += d.bytes
		}
		if used > index || g.full && used < index*9/10 {
			t.Errorf("of %d bytes the index takes %d of %d", bytes, used, index)
		}
	}
	if kept[20<<20] != files || kept[1<<20] == 0 || kept[1<<20] >= files {
		t.Errorf("remembered are %v of %d files", kept, files)
	}
}

// gatherAgain fills an index of at most the given bytes with the matches of a request.
func gatherAgain(t *testing.T, s *Scanner, req search.ScanRequest, index int64) *gathered {
	t.Helper()
	files, _, err := ingest.Files(context.Background(), s.o.Root, s.o.Walk)
	must.Do(t, err)
	f := must.Get(s.match(context.Background(), files, req))
	g := must.Get(s.gather(context.Background(), f, req, memory.NewFor(s.o.Analyzer, req.Words), index))
	return g
}
