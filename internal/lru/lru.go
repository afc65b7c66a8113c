// Package lru has a cache that drops the least recently used values.
package lru

import (
	"container/list"
	"sync"
)

// Cache stores values up to a total size, at first 0: see [Cache.Limit]. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu          sync.Mutex
	limit, used int64
	order       list.List // of *entry, the last used first
	at          map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// Limit sets the largest total size. It drops values if the cache exceeds this size.
func (c *Cache[K, V]) Limit(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = size
	c.evict()
}

// Get returns the value of a key, or false for an unknown key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[key]
	if e == nil {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put stores a value of this size. It replaces an earlier value of the key. It does not store a value above the limit.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[key]; e != nil {
		c.remove(e)
	}
	if size > c.limit {
		return
	}
	if c.at == nil {
		c.at = map[K]*list.Element{}
	}
	c.at[key] = c.order.PushFront(&entry[K, V]{key, value, size})
	c.used += size
	c.evict()
}

// evict drops the least recently used values until the rest fits the limit. The caller holds c.mu.
func (c *Cache[K, V]) evict() {
	for c.used > c.limit {
		c.remove(c.order.Back())
	}
}

// remove drops the value in e. The caller holds c.mu.
func (c *Cache[K, V]) remove(e *list.Element) {
	old := c.order.Remove(e).(*entry[K, V])
	c.used -= old.size
	delete(c.at, old.key)
}

// Size returns the number of values and their total size.
func (c *Cache[K, V]) Size() (values int, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.at), c.used
}
