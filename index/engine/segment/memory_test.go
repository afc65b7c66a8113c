package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/offheap"
)

// fillLarge adds chunks to b until it reports the allowed memory.
func fillLarge(t *testing.T, b *Builder, rng *rand.Rand, names int, allowed int64) {
	t.Helper()
	vector := make([]float32, 64)
	for i := 0; b.Bytes() < allowed; i++ {
		must.Do(t, must.Err(b.Begin(fmt.Sprintf("%p/%d", b, i), fmt.Sprintf("%p/%d", b, i/7))))
		for field := range b.fields {
			tokens := make([]Token, rng.IntN(300))
			for k := range tokens {
				tokens[k] = Token{b.Term(fmt.Appendf(nil, "name%d", rng.IntN(1+rng.IntN(names)))), uint32(k)}
			}
			b.Tokens(field, tokens)
		}
		if rng.IntN(2) == 0 {
			for k := range vector {
				vector[k] = rng.Float32()
			}
			must.Do(t, b.Vectors("v", [][]float32{vector}))
		}
	}
}

// TestMemoryIsCounted checks that builders use the memory that they report while they are filled.
// While they are written, alone or together, they may also use the spare memory. Afterwards they
// use none. Builders have few or many names.
func TestMemoryIsCounted(t *testing.T) {
	must.Whole(t, "it fills builders with many megabytes")
	rng := rand.New(rand.NewPCG(51, 2))
	before := offheap.InUse()
	for _, c := range []struct{ builders, names int }{{1, 1000}, {1, 100_000}, {3, 1000}, {3, 50_000}} {
		var builders []*Builder
		said, held := int64(0), int64(0)
		for range c.builders {
			b := NewBuilder([]string{"a", "b", "c"})
			fillLarge(t, b, rng, c.names, 6<<20/int64(c.builders))
			builders = append(builders, b)
			said, held = said+b.Bytes(), held+b.offHeapBytes()
		}
		// Lists have up to a quarter of spare capacity; pages and blocks of texts have unused ends.
		took := offheap.InUse() - before
		if room := took - held; room < 0 || room > held/4+int64(c.builders)<<19 {
			t.Errorf("%+v: %d bytes are taken, the builders say %d", c, took, held)
		}
		most := int64(0)
		disk := &vfs.Faulty{FS: vfs.Disk{}, Fail: func(vfs.Op, string) error {
			most = max(most, offheap.InUse()-before)
			return nil
		}}
		without := int64(0)
		for _, spare := range []int64{0, 1 << 20, 1 << 30} {
			most = 0
			must.Do(t, Flush(disk, filepath.Join(t.TempDir(), "s"), spare, builders...))
			t.Logf("%+v, %d to spare: said %d, held %d, at most %d", c, spare, said, took, most)
			check.That(t, most-spare <= said+said/8 && most >= said/2,
				"%+v: %d bytes are taken while builders are written that say %d, with %d to spare", c, most, said, spare)
			if spare == 0 {
				without = most
			} else if spare == 1<<30 && c.names == 1000 && most <= without { // other cases read everything once anyway
				t.Errorf("%+v: nothing of what is to spare is taken", c)
			}
		}
		if now := offheap.InUse() - before; now > took+took/8 { // a builder keeps the order of its terms
			t.Errorf("%+v: %d bytes are taken after a flush, %d before it", c, now, took)
		}
		for _, b := range builders {
			b.Forget()
		}
		now := offheap.InUse() - before
		must.That(t, now == 0, "%+v: %d bytes are not given back", c, now)
	}
}

// TestMemoryIsFreed checks that flushes and merges free all memory beside the heap, even after failures and
// cancellations.
func TestMemoryIsFreed(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 3))
	before := offheap.InUse()
	build := func(part, chunks int) *Builder {
		b := NewBuilder([]string{"a", "b"})
		for i := range chunks {
			must.Do(t, must.Err(b.Begin(fmt.Sprintf("%d/%d", part, i), fmt.Sprintf("%d/%d", part, i/3))))
			addToken(b, i%2, fmt.Appendf(nil, "%d", rng.IntN(500)), 0)
			b.Mark(b.Column("c", Value{Kind: 1, Text: fmt.Sprint(rng.IntN(50))}))
			must.Do(t, b.Vectors("v", [][]float32{{1, rng.Float32()}}))
		}
		b.RemoveChunk(fmt.Sprintf("%d/7", part))
		return b
	}
	// atEach calls work with a file system that fails or cancels from call n on, until work succeeds.
	atEach := func(name string, cancels bool, work func(ctx context.Context, disk vfs.FS) error) {
		t.Helper()
		failed := 0
		for n := 0; ; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			calls, reached := 0, false
			err := work(ctx, &vfs.Faulty{FS: vfs.NewMem(), Fail: func(vfs.Op, string) error {
				if calls++; calls <= n {
					return nil
				}
				reached = true
				if cancels {
					cancel()
					return nil
				}
				return syscall.ENOSPC
			}})
			cancel()
			left := offheap.InUse() - before
			must.That(t, left == 0, "%s, stopped after %d calls: %d bytes are not given back (%v)", name, n, left, err)
			if err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err != nil {
				failed++
			}
			if !reached {
				break
			}
		}
		check.That(t, failed != 0, "%s was never stopped", name)
	}
	atEach("flush", false, func(_ context.Context, disk vfs.FS) error {
		one, two := build(0, 100), build(1, 100)
		defer one.Forget()
		defer two.Forget()
		return Flush(disk, "s", 0, one, two)
	})
	var sources []Source
	dir := t.TempDir()
	for part := range 2 {
		b := build(part, 600)
		path := filepath.Join(dir, fmt.Sprint(part))
		must.Do(t, Flush(vfs.Disk{}, path, 0, b))
		b.Forget()
		r := openSegment(t, path)
		deleted := NewBitset(r.Chunks())
		deleted.Set(3)
		sources = append(sources, Source{Reader: r, Deleted: deleted})
	}
	merge := func(ctx context.Context, disk vfs.FS) error { return Merge(ctx, disk, "m", 2, sources, nil) }
	atEach("merge", false, merge)
	atEach("cancelled merge", true, merge)
}
