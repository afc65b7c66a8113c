package lru_test

import (
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/lru"
)

// TestCache checks that the least recently used value goes first, and the limit of one value.
func TestCache(t *testing.T) {
	var c lru.Cache[string, int]
	c.Put("none", 1, 1)
	_, ok := c.Get("none")
	check.That(t, !ok, "the zero cache holds a value")
	c.Limit(10)
	for _, key := range []string{"a", "b", "c"} {
		c.Put(key, 1, 3)
	}
	c.Get("a")
	c.Put("d", 2, 4)
	c.Put("large", 3, 11)
	holds := func(keys ...string) {
		t.Helper()
		n := 0
		for _, key := range []string{"a", "b", "c", "d", "large"} {
			if _, ok := c.Get(key); ok {
				n++
			}
		}
		for _, key := range keys {
			_, ok := c.Get(key)
			check.That(t, ok, "%s is gone", key)
		}
		values, _ := c.Size()
		check.That(t, n == len(keys) && values == n, "%d values, want %v", n, keys)
	}
	holds("a", "c", "d")
	c.Put("a", 5, 1)
	v, _ := c.Get("a")
	check.That(t, v == 5, "a is %d, want the later value", v)
	_, size := c.Size()
	check.That(t, size == 8, "size %d, want 8", size)
	c.Limit(4)
	holds("a")
}
