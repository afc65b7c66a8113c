package catalog

import (
	"fmt"
	"runtime"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestRecordsAreBounded checks that a view keeps only about as many records as its limit allows.
func TestRecordsAreBounded(t *testing.T) {
	must.Whole(t, "it measures memory")
	c := must.Get(Open(vfs.Disk{}, t.TempDir(), Options{}))
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
	must.Do(t, c.Update(t.Context(), Update{Put: put}))
	v := c.View()
	defer v.Close()
	const limit = 512 << 10
	v.records.Limit(limit)
	once := func(from int) (size int) {
		for i := from; i < len(put); i++ {
			doc := &put[i].Document
			o := v.Outline(doc.ID)
			must.That(t, o != nil && v.Node(doc.Chunks[0].ID) != nil, "%s is missing: %v", doc.ID, v.Err())
			size += recordSize(&must.Get(v.outlined(doc.ID)).Record)
		}
		return size
	}
	size := once(0)
	must.That(t, size >= 2*limit, "all records take %d bytes: too few to tell", size)
	before := heapInUse()
	for range 20 {
		once(3)
	}
	grown := heapInUse() - before
	check.That(t, grown <= size, "decoding %d bytes of records 20 times keeps %d bytes", size, grown)
	runtime.KeepAlive(put)
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
