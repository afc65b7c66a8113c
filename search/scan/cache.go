package scan

import (
	"container/list"
	"sync"
	"time"
)

// cache remembers the cut files that were used last, within a bound of bytes. The zero cache stores nothing.
type cache struct {
	mu    sync.Mutex
	limit int64
	used  int64
	order *list.List // of *cached, newest first
	at    map[string]*list.Element
}

type cached struct {
	doc   *loaded
	bytes int64
}

// resize sets the bound and drops what exceeds it.
func (c *cache) resize(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.order == nil {
		c.order, c.at = list.New(), map[string]*list.Element{}
	}
	c.limit = limit
	c.evict()
}

// The caller of evict holds c.mu.
func (c *cache) evict() {
	for c.used > c.limit {
		c.remove(c.order.Back())
	}
}

// The caller of remove holds c.mu.
func (c *cache) remove(e *list.Element) {
	entry := c.order.Remove(e).(*cached)
	c.used -= entry.bytes
	delete(c.at, entry.doc.key)
}

// get returns the file as it was cut with this size and time, or nil.
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

// put stores a document in place of its earlier version.
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
