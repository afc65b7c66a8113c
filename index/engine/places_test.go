package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// placeName returns the identifier of a chunk. Identifiers have all lengths, from empty to long.
func placeName(view int, ordinal uint32) string {
	name := fmt.Sprintf("%d/%d", view, ordinal)
	switch {
	case view == 0 && ordinal == 0:
		return ""
	case ordinal%1000 == 7:
		return name + strings.Repeat("x", 5000)
	}
	return name + strings.Repeat("y", int(ordinal%97))
}

// TestChunkCache checks that the cache returns what several goroutines put there, and still holds most
// recent entries. Identifiers that it returned stay unchanged after it drops their entries.
func TestChunkCache(t *testing.T) {
	const views, chunks, rounds = 3, 60_000, 40_000
	c := newPlaces()
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(41, uint64(worker)))
			kept := map[string]string{} // by the expected identifier
			recent := 0
			for i := range rounds {
				view, ordinal := rng.IntN(views), uint32(rng.IntN(chunks))
				want := placeName(view, ordinal)
				id, ok := c.at(view, ordinal)
				if !ok {
					buffer := []byte(want)
					id = c.put(buffer, view, ordinal)
					clear(buffer) // the buffer belongs to the caller
				}
				if id != want {
					t.Errorf("chunk %d of %d is called %.40q, want %.40q", ordinal, view, id, want)
					return
				}
				if c.of(want) == nil {
					c.found(want, view, ordinal)
				}
				if p := c.of(want); p != nil && (int(p.view) != view || p.ordinal != ordinal) {
					t.Errorf("%.40q is said to be %d of %d, want %d of %d", want, p.ordinal, p.view, ordinal, view)
					return
				} else if p != nil {
					recent++
				}
				if i%20 == 0 {
					kept[want] = id
				}
				if p := c.of(fmt.Sprint("not there ", i)); p != nil {
					t.Errorf("%d of %d is found by another name", p.ordinal, p.view)
				}
			}
			runtime.GC()
			for want, id := range kept {
				if id != want {
					t.Errorf("%.40q has become %.40q", want, id)
				}
			}
			if recent < rounds*99/100 {
				t.Errorf("%d of %d are found by their names right after", recent, rounds)
			}
		})
	}
	wait.Wait()
}

// TestChunkCacheLookup checks a chunk that the cache does not find by its identifier. After a lookup it
// does, whether or not it has the chunk by its ordinal.
func TestChunkCacheLookup(t *testing.T) {
	c := newPlaces()
	for ordinal := range uint32(placeSlots) {
		c.put([]byte(placeName(0, ordinal)), 0, ordinal)
	}
	remembered, forgotten := 0, 0
	for ordinal := range uint32(placeSlots) {
		name := placeName(0, ordinal)
		if c.of(name) != nil {
			continue
		}
		if _, ok := c.at(0, ordinal); ok {
			remembered++
		} else {
			forgotten++
		}
		c.found(name, 0, ordinal)
		if p := c.of(name); p == nil || p.view != 0 || p.ordinal != ordinal {
			t.Fatalf("%.40q is not found where it stands", name)
		}
	}
	if remembered == 0 || forgotten == 0 {
		t.Errorf("%d chunks were remembered by their ordinals alone, %d not at all", remembered, forgotten)
	}
}

// TestChunkCacheMemory checks that a cached chunk uses the bytes of its identifier and a few more, and
// that dropped chunks use none.
func TestChunkCacheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it remembers a million chunks")
	}
	const name = 80
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // empties the pools
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	c := newPlaces()
	id := []byte(strings.Repeat("x", name))
	for i := range uint32(20 * placeSlots) {
		copy(id, fmt.Sprintf("%08d", i))
		c.put(id, 0, i)
	}
	if most, taken := placeSlots*(name+16+64)+1<<20, heap()-before; taken > most || taken < placeSlots*name/2 {
		t.Errorf("%d chunks are remembered in %d bytes, want %d at most", placeSlots, taken, most)
	}
	runtime.KeepAlive(c)
}

// TestChunkCacheKeepsMostChunks puts a third as many chunks as there are slots. It checks that nearly all are
// found by their identifiers, and nearly all by their ordinals.
func TestChunkCacheKeepsMostChunks(t *testing.T) {
	const chunks = placeSlots / 3
	c := newPlaces()
	names := make([]string, chunks)
	for i := range names {
		names[i] = fmt.Sprintf("notes/%d.md#part", i)
		c.put([]byte(names[i]), 0, uint32(i))
	}
	byID, byOrdinal := 0, 0
	for i, name := range names {
		if c.of(name) != nil {
			byID++
		}
		if _, ok := c.at(0, uint32(i)); ok {
			byOrdinal++
		}
	}
	if byID < chunks*95/100 || byOrdinal < chunks*95/100 {
		t.Errorf("of %d chunks %d are found by their identifiers and %d by their ordinals", chunks, byID, byOrdinal)
	}
}
