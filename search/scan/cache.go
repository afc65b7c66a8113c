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
}

type cached struct {
	doc   *loaded
	bytes int64
}

// resize sets the bound, and drops what exceeds it.
func (c *cache) resize(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order == nil {
		c.order, c.at = list.New(), map[string]*list.Element{}
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
	delete(c.at, entry.doc.key)
}

// get is the file as it was cut when it had this size and time, or nil.
func (c *cache) get(key string, size int64, modTime time.Time) *loaded {
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

// put remembers a document, in the place of an earlier form of it.
func (c *cache) put(d *loaded) {
	bytes := d.memory()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[d.key]; e != nil {
		c.remove(e)
	}
	if bytes > c.limit {
		return
	}
	c.at[d.key] = c.order.PushFront(&cached{d, bytes})
	c.used += bytes
	c.evict()
}
