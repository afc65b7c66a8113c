package catalog

import (
	"sync"

	"sheaf"
)

// recent keeps what was decoded lately of documents, about limit bytes of it twice:
// what was decoded now, and what was before, which goes when the former is full. What is
// asked for again and again is decoded once in that time: taking it along would keep the
// pieces of memory that it shares with what nobody asks for. It is safe for concurrent
// use.
type recent[T any] struct {
	limit       int
	mu          sync.RWMutex
	now, before map[sheaf.ID]*T
	bytes       int // of now
	// turn is called when what was decoded before goes; it may be nil.
	turn func()
}

// get is what is kept of a document, nil when nothing is.
func (c *recent[T]) get(id sheaf.ID) *T {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if kept := c.now[id]; kept != nil {
		return kept
	}
	return c.before[id]
}

// put keeps value, which takes about size bytes. id must not share the memory of
// anything larger than a piece of a room.
func (c *recent[T]) put(id sheaf.ID, value *T, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes > c.limit || c.now == nil {
		first := c.now == nil
		c.before, c.now, c.bytes = c.now, map[sheaf.ID]*T{}, 0
		if c.turn != nil && !first {
			c.turn()
		}
	}
	if c.now[id] == nil {
		c.now[id] = value
		c.bytes += size
	}
}
