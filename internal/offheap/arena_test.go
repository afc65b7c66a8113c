package offheap

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// TestManyBlocks checks that a program can take and free more blocks than a system allows mappings,
// with other blocks between them.
func TestManyBlocks(t *testing.T) {
	if probe := take(cellBytes); !probe.mapped {
		t.Skip("memory is of the heap here")
	} else {
		probe.free()
	}
	before := InUse()
	blocks := make([]List[byte], 140_000)
	for i := range blocks {
		blocks[i].Grow(pieceBytes)
	}
	for i := 0; i < len(blocks); i += 2 {
		blocks[i].Free()
	}
	if held := InUse() - before; held != int64(len(blocks)/2*pieceBytes) {
		t.Errorf("%d bytes in use for %d blocks", held, len(blocks)/2)
	}
	if runtime.GOOS == "linux" {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(maps, []byte("\n")); n > 10_000 {
			t.Errorf("%d mappings", n)
		}
	}
	for i := range blocks {
		blocks[i].Free()
	}
	if left := InUse() - before; left != 0 || len(arenas.open) > 0 {
		t.Errorf("%d bytes and %d arenas are not given back", left, len(arenas.open))
	}
}

// TestCells checks that a cell has one owner at a time, and that a cell taken again is zeros.
func TestCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	var held []block
	var marks []byte
	for range 2000 {
		if rng.IntN(5) < 3 {
			b := take(cellBytes)
			if bytes.Count(b.bytes, []byte{0}) != cellBytes {
				t.Fatal("a new cell holds something")
			}
			mark := byte(1 + rng.IntN(255))
			for i := range b.bytes {
				b.bytes[i] = mark
			}
			held, marks = append(held, b), append(marks, mark)
		} else if len(held) > 0 {
			i, last := rng.IntN(len(held)), len(held)-1
			if bytes.Count(held[i].bytes, marks[i:i+1]) != cellBytes {
				t.Fatal("a cell is not what was written to it")
			}
			held[i].free()
			held[i], marks[i] = held[last], marks[last]
			held, marks = held[:last], marks[:last]
		}
	}
	for i := range held {
		held[i].free()
	}
	if len(arenas.open) > 0 {
		t.Errorf("%d arenas are not given back", len(arenas.open))
	}
}
