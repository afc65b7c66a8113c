package segment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"sheaf/vfs"
)

// TestMergeMemory: a merge holds no more memory for chunks than MergeBytes says, however
// long their identifiers are.
func TestMergeMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	dir := t.TempDir()
	var sources []Source
	said := int64(0)
	for part := range 3 {
		b := NewBuilder([]string{"a", "b"})
		for i := range 20_000 {
			id := fmt.Sprintf("%0100x/%d", i/100, i*3+part)
			if _, err := b.Begin(id, id[:101]); err != nil {
				t.Fatal(err)
			}
			addToken(b, 0, fmt.Appendf(nil, "%d", rng.IntN(20_000)), 0)
			b.Mark(b.Column("c", Value{Kind: 1, Text: fmt.Sprint(rng.IntN(20_000))}))
		}
		path := filepath.Join(dir, fmt.Sprint(part))
		if err := Flush(vfs.Disk{}, path, b); err != nil {
			t.Fatal(err)
		}
		r := openSegment(t, path)
		sources = append(sources, Source{Reader: r})
		said += r.MergeBytes()
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, calls := heap(), int64(0), 0
	err := Merge(context.Background(), vfs.Disk{}, filepath.Join(dir, "m"), sources, func(context.Context, int64) error {
		calls++
		most = max(most, heap()-before)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of %d, looked at %d times", most, said, calls)
	if most > said+1<<20 || calls < 50 { // buffers of files are 1 MB at most
		t.Errorf("a merge of %d bytes by its sources took %d (looked at %d times)", said, most, calls)
	}
}
