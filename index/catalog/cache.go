package catalog

import (
	"sync"

	"sheaf"
)

// cache keeps values of recently used documents. It has two generations of about limit bytes each:
// when the new generation is full, it becomes the old one, and the earlier old one is dropped. The
// zero value with a limit is ready. It is safe for concurrent use.
type cache[V any] struct {
	limit    int
	mu       sync.RWMutex
	new, old map[sheaf.ID]V
	bytes    int // size of new
}

// get returns the value of a document; false when the cache has none.
func (c *cache[V]) get(id sheaf.ID) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if value, ok = c.new[id]; !ok {
		value, ok = c.old[id]
	}
	return value, ok
}

// put keeps the value of a document; size is its approximate size in bytes.
func (c *cache[V]) put(id sheaf.ID, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes > c.limit || c.new == nil {
		c.old, c.new, c.bytes = c.new, map[sheaf.ID]V{}, 0
	}
	if _, ok := c.new[id]; !ok {
		c.new[id] = value
		c.bytes += size
	}
}
