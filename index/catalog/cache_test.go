package catalog

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
)

// TestCache checks that the cache returns the last value put. It holds at most two generations;
// each may exceed the limit by one value.
func TestCache(t *testing.T) {
	const size, limit = 10, 100
	c := cache[sheaf.ID, int]{limit: limit}
	if _, ok := c.get("t:0.md"); ok {
		t.Error("an empty cache has a value")
	}
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 2000 {
		n := random.IntN(40)
		doc := sheaf.ID(fmt.Sprintf("t:%d.md", n))
		if got, ok := c.get(doc); ok {
			if found++; got != n {
				t.Fatalf("%s has the value %d", doc, got)
			}
		}
		c.put(doc, n, size)
		if got, ok := c.get(doc); !ok || got != n {
			t.Fatalf("%s was put last and is %d, %v", doc, got, ok)
		}
		if kept := len(c.new) + len(c.old); kept > 2*(limit/size+1) {
			t.Fatalf("%d values are kept", kept)
		}
	}
	if found < 100 {
		t.Errorf("only %d values were found", found)
	}
}

// TestConcurrentCache uses a cache from several goroutines. The race detector finds the faults.
func TestConcurrentCache(t *testing.T) {
	c := cache[sheaf.ID, string]{limit: 64}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 500 {
				doc := sheaf.ID(fmt.Sprintf("t:%d.md", i%30))
				c.put(doc, string(doc), 8)
				if got, ok := c.get(doc); ok && got != string(doc) {
					t.Errorf("%s has the value %s", doc, got)
				}
			}
		})
	}
	all.Wait()
}

// TestOutlinesAreBounded checks that a view keeps only about as many outlines as its limit allows.
func TestOutlinesAreBounded(t *testing.T) {
	c, err := Open(vfs.Disk{}, t.TempDir(), Options{})
	must(t, err)
	defer c.Close()
	var put []Record
	for i := range 3000 {
		path := fmt.Sprintf("%d.md", i)
		doc := sheaf.Document{ID: sheaf.DocumentID("t", path), Tree: "t", Path: path, Title: path}
		for k := range 1 + min(i/3, 1) {
			doc.Chunks = append(doc.Chunks, sheaf.Chunk{ID: doc.ID + sheaf.ID(fmt.Sprintf("#%d", k)), Doc: doc.ID,
				Parent: doc.ID, Depth: 1, Position: k, Title: path, Slug: fmt.Sprint(k)})
		}
		put = append(put, Record{Document: doc})
	}
	must(t, c.Update(t.Context(), Update{Put: put}))
	v := c.View()
	defer v.Close()
	v.outlines.limit = 256 << 10
	once := func(from int) (size int) {
		for i := from; i < len(put); i++ {
			doc := &put[i].Document
			o := v.Outline(doc.ID)
			if o == nil || v.Node(doc.Chunks[0].ID) == nil {
				t.Fatalf("%s is missing: %v", doc.ID, v.Err())
			}
			size += outlineSize(o)
		}
		return size
	}
	size := once(0)
	if size < 2*v.outlines.limit {
		t.Fatalf("all outlines take %d bytes: too few to tell", size)
	}
	before := heapInUse()
	for range 20 {
		once(3)
	}
	if grown := heapInUse() - before; grown > size {
		t.Errorf("decoding %d bytes of outlines 20 times keeps %d bytes", size, grown)
	}
	runtime.KeepAlive(put)
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
