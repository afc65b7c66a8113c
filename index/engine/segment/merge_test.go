package segment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/offheap"
)

// TestMergeMemory checks that a merge uses at most MergeBytes for chunks, whatever identifiers and documents they
// have.
func TestMergeMemory(t *testing.T) {
	must.Whole(t, "it merges 60,000 chunks")
	t.Run("chunks of documents", func(t *testing.T) { mergeMemory(t, 0) })
	t.Run("some are documents", func(t *testing.T) { mergeMemory(t, 2) })
}

// mergeMemory merges three parts. In own of them, each chunk is its own document.
func mergeMemory(t *testing.T, own int) {
	rng := rand.New(rand.NewPCG(41, 1))
	dir := t.TempDir()
	var sources []Source
	said := int64(0)
	for part := range 3 {
		b := NewBuilder([]string{"a", "b"})
		for i := range 20_000 {
			id := fmt.Sprintf("%0100x/%d", i/100, i*3+part)
			doc := id[:101]
			if part < own {
				doc = id
			}
			must.Do(t, must.Err(b.Begin(id, doc)))
			addToken(b, 0, fmt.Appendf(nil, "%d", rng.IntN(20_000)), 0)
			b.Mark(b.Column("c", Value{Kind: 1, Text: fmt.Sprint(rng.IntN(20_000))}))
		}
		path := filepath.Join(dir, fmt.Sprint(part))
		must.Do(t, Flush(vfs.Disk{}, path, 0, b))
		r := openSegment(t, path)
		sources = append(sources, Source{Reader: r})
		said += r.MergeBytes()
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) + offheap.Beside()
	}
	before, most, calls := heap(), int64(0), 0
	err := Merge(context.Background(), vfs.Disk{}, filepath.Join(dir, "m"), 2, sources,
		func(context.Context, int64) error {
			calls++
			most = max(most, heap()-before)
			return nil
		})
	must.Do(t, err)
	t.Logf("%d bytes of %d, looked at %d times", most, said, calls)
	check.That(t, most <= said && calls >= 50, "a merge of %d bytes by its sources took %d (looked at %d times)", said,
		most, calls)
}

// TestDocumentsOfOneChunk checks a segment whose chunks are documents of the same identifier. Such
// a segment has no table of documents, and finds them alone and after a merge.
func TestDocumentsOfOneChunk(t *testing.T) {
	dir := t.TempDir()
	made := func(name string, chunks ...string) *Reader {
		b := NewBuilder([]string{"body"})
		defer b.Forget()
		for _, id := range chunks {
			doc, _, _ := strings.Cut(id, "#")
			must.Do(t, must.Err(b.Begin(id, doc)))
			addToken(b, 0, []byte("word"), 0)
		}
		path := filepath.Join(dir, name)
		must.Do(t, Flush(vfs.Disk{}, path, 0, b))
		return openSegment(t, path)
	}
	merged := func(name string, readers ...*Reader) *Reader {
		var sources []Source
		for _, r := range readers {
			s := Source{Reader: r}
			if r.Chunks() > 1 {
				s.Deleted = NewBitset(r.Chunks())
				s.Deleted.Set(1)
			}
			sources = append(sources, s)
		}
		path := filepath.Join(dir, name)
		must.Do(t, Merge(t.Context(), vfs.Disk{}, path, 1, sources, nil))
		return openSegment(t, path)
	}
	single, other, mixed := made("single", "b", "gone", "a"), made("other", "c"), made("mixed", "d", "gone", "d#1", "e")
	for _, c := range []struct {
		name   string
		reader *Reader
		table  int // number of entries
		want   map[string][]uint32
	}{
		{"single", single, 0, map[string][]uint32{"a": {2}, "b": {0}, "d": nil}},
		{"mixed", mixed, 3, map[string][]uint32{"d": {0, 2}, "e": {3}, "d#1": nil}},
		{"two", merged("two", single, other), 0, map[string][]uint32{"b": {0}, "a": {1}, "c": {2}, "gone": nil}},
		{"all", merged("all", single, mixed, other), 5,
			map[string][]uint32{"a": {1}, "b": {0}, "c": {5}, "d": {2, 3}, "e": {4}, "gone": nil}},
	} {
		faults := c.reader.Check(t.Context())
		check.That(t, len(faults) == 0, "%s: %v", c.name, faults)
		check.That(t, c.reader.docs.count == c.table, "%s: a table of %d documents, want %d", c.name, c.reader.docs.count,
			c.table)
		for doc, want := range c.want {
			set := NewBitset(c.reader.Chunks())
			found := must.Get(c.reader.Document(set, doc))
			wanted := NewBitset(c.reader.Chunks())
			for _, o := range want {
				wanted.Set(o)
			}
			check.That(t, found == (want != nil) && slices.Equal(set, wanted), "%s: document %q is %x, want %x", c.name, doc,
				set, wanted)
		}
	}
	n := single.Documents()
	check.That(t, n == 3, "%d documents of single chunks, want 3", n)
}
