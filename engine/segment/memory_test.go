package segment

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"sheaf/internal/offheap"
	"sheaf/vfs"
)

// fillLarge adds chunks to b until it says that it takes as much as allowed.
func fillLarge(t *testing.T, b *Builder, rng *rand.Rand, names int, allowed int64) {
	t.Helper()
	vector := make([]float32, 64)
	for i := 0; b.Bytes() < allowed; i++ {
		if _, err := b.Begin(fmt.Sprintf("%p/%d", b, i), fmt.Sprintf("%p/%d", b, i/7)); err != nil {
			t.Fatal(err)
		}
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
			if err := b.Vectors("v", [][]float32{vector}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMemoryIsCounted: what builders say that they take is what they take, while they
// are filled, and while they are written, alone or together, with few names or many;
// afterwards they take nothing.
func TestMemoryIsCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 2))
	before := offheap.InUse()
	for _, c := range []struct{ builders, names int }{{1, 1000}, {1, 100_000}, {3, 1000}, {3, 50_000}} {
		var builders []*Builder
		said, held := int64(0), int64(0)
		for range c.builders {
			b := NewBuilder([]string{"a", "b", "c"})
			fillLarge(t, b, rng, c.names, 6<<20/int64(c.builders))
			builders = append(builders, b)
			said, held = said+b.Bytes(), held+b.held()
		}
		// Lists have up to a quarter of room, pages and pieces of texts some at their ends.
		took := offheap.InUse() - before
		if room := took - held; room < 0 || room > held/4+int64(c.builders)<<19 {
			t.Errorf("%+v: %d bytes are taken, the builders say %d", c, took, held)
		}
		most := int64(0)
		disk := &vfs.Faulty{FS: vfs.Disk{}, Fail: func(vfs.Op, string) error {
			most = max(most, offheap.InUse()-before)
			return nil
		}}
		if err := Flush(disk, filepath.Join(t.TempDir(), "s"), builders...); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: said %d, held %d, at most %d", c, said, took, most)
		if most > said+said/8 || most < said/2 {
			t.Errorf("%+v: %d bytes are taken while builders are written that say %d", c, most, said)
		}
		if now := offheap.InUse() - before; now > took+took/8 { // the order of the terms is kept
			t.Errorf("%+v: %d bytes are taken after a flush, %d before it", c, now, took)
		}
		for _, b := range builders {
			b.Forget()
		}
		if now := offheap.InUse() - before; now != 0 {
			t.Fatalf("%+v: %d bytes are not given back", c, now)
		}
	}
}
