package scan

import (
	"container/list"
	"sync"
	"time"
)

// cache remembers cut files, the ones used last, within a bound of bytes. The
// zero cache holds nothing.
type cache struct {
	mu    sync.Mutex
	limit int64
	used  int64
	order *list.List // *cached, the newest first
	at    map[string]*list.Element
	byDoc map[*document]*list.Element
}

type cached struct {
	key   string
	doc   *document
	bytes int64
}

// resize sets the bound, and drops what exceeds it.
func (c *cache) resize(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order == nil {
		c.order, c.at, c.byDoc = list.New(), map[string]*list.Element{}, map[*document]*list.Element{}
	}
	c.limit = limit
	c.evict()
}

// evict needs c.mu.
func (c *cache) evict() {
	for c.used > c.limit {
		c.remove(c.order.Back())
	}
}

// remove needs c.mu.
func (c *cache) remove(e *list.Element) {
	entry := c.order.Remove(e).(*cached)
	c.used -= entry.bytes
	delete(c.at, entry.key)
	delete(c.byDoc, entry.doc)
}

// get is the file as it was cut when it had this size and time, or nil.
func (c *cache) get(key string, size int64, modTime time.Time) *document {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[key]
	if e == nil {
		return nil
	}
	d := e.Value.(*cached).doc
	if d.size != size || !d.modTime.Equal(modTime) {
		c.remove(e)
		return nil
	}
	c.order.MoveToFront(e)
	return d
}

func (c *cache) put(key string, d *document) {
	bytes := d.memory()
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes > c.limit {
		return
	}
	if e := c.at[key]; e != nil {
		c.remove(e)
	}
	e := c.order.PushFront(&cached{key, d, bytes})
	c.at[key], c.byDoc[d] = e, e
	c.used += bytes
	c.evict()
}

// replace puts a document in the place of an earlier form of it.
func (c *cache) replace(old, d *document) {
	c.mu.Lock()
	e := c.byDoc[old]
	c.mu.Unlock()
	if e != nil {
		c.put(e.Value.(*cached).key, d)
	}
}

// chunkBytes is about what a chunk takes besides its texts.
const chunkBytes = 600

// memory is about how many bytes a document takes: the file itself, whose copy
// the parts of the document share, the texts of the entries, and the vectors.
func (d *document) memory() int64 {
	n := d.size + d.textBytes + int64(len(d.entries)+1)*chunkBytes
	for i := range d.entries {
		for _, v := range d.entries[i].Vectors {
			for _, p := range v.Passages {
				n += int64(4 * len(p))
			}
		}
	}
	return n
}
