package segment

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"sheaf/vfs"
)

// TestBuilderAgain: a builder that was reset writes the same bytes as a new one,
// whatever it held before.
func TestBuilderAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	dir := t.TempDir()
	fill := func(b *Builder, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 7))
		for i := range 1 + rng.IntN(200) {
			if _, err := b.Begin(fmt.Sprintf("%d/%d", seed, i), fmt.Sprint(seed, i/5)); err != nil {
				t.Fatal(err)
			}
			for position := range rng.IntN(30) {
				b.Token(rng.IntN(2), b.Term(fmt.Appendf(nil, "t%d", rng.IntN(100+10*int(seed)))), uint32(position))
			}
			b.Column("c", Value{Kind: 1, Text: fmt.Sprint(rng.IntN(9))})
			if err := b.Vectors("v", [][]float32{{rng.Float32(), rng.Float32(), float32(seed)}}); err != nil {
				t.Fatal(err)
			}
		}
		if rng.IntN(2) == 0 {
			b.RemoveDocument(fmt.Sprint(seed, 0))
			b.RemoveChunk(fmt.Sprintf("%d/%d", seed, 7))
		}
	}
	write := func(b *Builder, name string) []byte {
		path := filepath.Join(dir, name)
		if err := b.Flush(vfs.Disk{}, path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	used := NewBuilder([]string{"a", "b"})
	for round := range 8 {
		seed := rng.Uint64N(50)
		fresh := NewBuilder([]string{"a", "b"})
		fill(used, seed)
		fill(fresh, seed)
		if used.Len() == 0 {
			continue
		}
		if !bytes.Equal(write(used, "used"), write(fresh, "fresh")) {
			t.Fatalf("round %d, seed %d: the files differ", round, seed)
		}
		if used.Reset(); !used.Empty() || used.Len() != 0 {
			t.Fatalf("round %d: the builder is not empty", round)
		}
	}
}

// TestEachShared: what two segments share is found, however their identifiers lie.
func TestEachShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	dir := t.TempDir()
	for round := range 20 {
		spread := 1 + rng.IntN(2000)
		var readers [2]*Reader
		var ids [2]map[string]uint32
		for side := range readers {
			b := NewBuilder([]string{"a"})
			ids[side] = map[string]uint32{}
			base := rng.IntN(3000)
			for range 1 + rng.IntN(600) {
				id := fmt.Sprintf("%05d", base+rng.IntN(spread))
				if _, ok := ids[side][id]; ok {
					continue
				}
				at, err := b.Begin(id, "d")
				if err != nil {
					t.Fatal(err)
				}
				ids[side][id] = at
			}
			path := filepath.Join(dir, fmt.Sprint(round, side))
			if err := b.Flush(vfs.Disk{}, path); err != nil {
				t.Fatal(err)
			}
			var err error
			if readers[side], err = Open(vfs.Disk{}, path); err != nil {
				t.Fatal(err)
			}
			defer readers[side].Close()
		}
		want := map[[2]uint32]bool{}
		for id, a := range ids[0] {
			if b, ok := ids[1][id]; ok {
				want[[2]uint32{a, b}] = true
			}
		}
		got := map[[2]uint32]bool{}
		if err := EachShared(readers[0], readers[1], func(a, b uint32) { got[[2]uint32{a, b}] = true }); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Fatalf("round %d: %d are shared, want %d", round, len(got), len(want))
		}
	}
}
