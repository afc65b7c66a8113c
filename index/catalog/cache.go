package catalog

import (
	"sync"

	"sheaf"
)

// caches hold the recently read data of a view.
type caches struct {
	outlines  cache[sheaf.ID, *sheaf.Outline]
	records   cache[sheaf.ID, *Record]
	texts     cache[sheaf.ID, sourceText]
	links     cache[sheaf.ID, linksFrom] // every query needs them; a size counts the linked documents
	backlinks cache[sheaf.ID, []sheaf.ID]
	names     cache[calledBy, *named]
	folders   cache[string, int] // sizes of folders, by tree, ":" and folder
}

func (c *caches) limit() {
	c.outlines.limit = 20 << 20 // bytes: about 100,000 sections
	c.records.limit = 32 << 20  // bytes
	c.texts.limit = 10 << 20    // bytes
	c.links.limit = 32 << 10
	c.backlinks.limit = 256
	c.names.limit = 2 << 10
	c.folders.limit = 2 << 10
}

// cache keeps recently used values. It has two generations of about limit size each: when the new
// generation is full, it becomes the old one, and the earlier old one is dropped. The zero value
// with a limit is ready. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	limit    int
	mu       sync.RWMutex
	new, old map[K]V
	size     int // of new
}

// get returns the value of a key, and false if the cache has none.
func (c *cache[K, V]) get(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if value, ok = c.new[key]; !ok {
		value, ok = c.old[key]
	}
	return value, ok
}

// put stores the value of a key; size is in the unit of the limit.
func (c *cache[K, V]) put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size > c.limit || c.new == nil {
		c.old, c.new, c.size = c.new, map[K]V{}, 0
	}
	if _, ok := c.new[key]; !ok {
		c.new[key] = value
		c.size += size
	}
}
