package catalog

import (
	"sync"

	"sheaf"
)

// recent keeps what was decoded lately of documents, about limit bytes of it twice:
// what was asked for now, and what was before, which goes when the former is full.
// It is safe for concurrent use.
type recent[T any] struct {
	limit       int
	mu          sync.RWMutex
	now, before map[sheaf.ID]aged[T]
	bytes       int // of now
	// turn is called when what was asked for before goes; it may be nil.
	turn func()
}

type aged[T any] struct {
	value *T
	size  int
}

// get is what is kept of a document, nil when nothing is.
func (c *recent[T]) get(id sheaf.ID) *T {
	c.mu.RLock()
	kept, ok := c.now[id]
	var old aged[T]
	if !ok {
		old = c.before[id]
	}
	c.mu.RUnlock()
	if old.value != nil {
		c.put(id, old.value, old.size)
		return old.value
	}
	return kept.value
}

// put keeps value, which takes about size bytes. id must not share the memory of
// anything larger.
func (c *recent[T]) put(id sheaf.ID, value *T, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes > c.limit || c.now == nil {
		first := c.now == nil
		c.before, c.now, c.bytes = c.now, map[sheaf.ID]aged[T]{}, 0
		if c.turn != nil && !first {
			c.turn()
		}
	}
	if c.now[id].value == nil {
		c.now[id] = aged[T]{value, size}
		c.bytes += size
	}
}
