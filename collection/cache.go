package collection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"sheaf"
)

// DefaultCacheBytes is what a collection remembers of its answers when nobody says
// how much.
const DefaultCacheBytes = 32 << 20

// stamp is a state of the index: the generation of the catalog and the version of
// the store, 0 for a store that tells none. What was found at one stamp is found
// at it again.
type stamp struct{ generation, version uint64 }

func (s stamp) compare(t stamp) int {
	return cmp.Or(cmp.Compare(s.generation, t.generation), cmp.Compare(s.version, t.version))
}

// cache remembers what was found at the newest stamp: the answers of searches, and
// for the lab what branches retrieved and how their scores came about. It is shared
// by all callers; a key holds its caller with their filter, so nobody is given what
// another may see. What was used last is kept, as much as fits into limit bytes.
// Whoever asks for what is being found waits for it.
type cache struct {
	limit int64

	mu      sync.Mutex
	at      stamp
	entries map[cacheKey]int32 // where each is in slots
	slots   []cached           // a ring in the order of their use, the last first; slot 0 joins its ends
	free    []int32            // slots that hold nothing
	bytes   int64
	flights map[flightKey]*flight
	counts  CacheCounts
	// parameters and legs are those of the answer that was remembered last.
	parameters map[string]string
	legs       []string
}

// CacheCounts say how searches were answered and what is remembered.
type CacheCounts struct {
	// Found were remembered, Shared waited for the same search of another
	// request, Missed were searched for and remembered, Passed were searched
	// for and cannot be remembered.
	Found, Shared, Missed, Passed uint64
	// Entries are remembered now, and take about Bytes.
	Entries int
	Bytes   int64
}

type cacheKey [sha256.Size]byte

// cached is what is remembered, whose value must not be changed, between its neighbors
// in the order of use. All lie in one piece of memory.
type cached struct {
	key           cacheKey
	value         any
	bytes         int64
	before, after int32
}

// flightKey is what is sought, and where.
type flightKey struct {
	at  stamp
	key cacheKey
}

// flight is a search on its way. found is what it found when everybody may have it.
type flight struct {
	done  chan struct{}
	found any
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, entries: map[cacheKey]int32{}, slots: make([]cached, 1), flights: map[flightKey]*flight{}}
}

// get is what is remembered of a key at a stamp; nil for nothing.
func (c *cache) get(at stamp, key cacheKey) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(at, key)
}

// find is get; c.mu must be held.
func (c *cache) find(at stamp, key cacheKey) any {
	i, ok := c.entries[key]
	if !ok || c.at != at {
		return nil
	}
	c.leave(i)
	c.lead(i)
	return c.slots[i].value
}

// leave takes a slot out of the order of use, lead makes it the last used; c.mu must be held.
func (c *cache) leave(i int32) {
	e := &c.slots[i]
	c.slots[e.before].after, c.slots[e.after].before = e.after, e.before
}

func (c *cache) lead(i int32) {
	first := c.slots[0].after
	c.slots[i].before, c.slots[i].after = 0, first
	c.slots[0].after, c.slots[first].before = i, i
}

// put remembers a value that takes about so many bytes. Of an older stamp nothing
// is remembered, of a newer one nothing else.
func (c *cache) put(at stamp, key cacheKey, value any, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch at.compare(c.at) {
	case -1:
		return
	case 1:
		c.at, c.bytes = at, 0
		clear(c.entries)
		clear(c.slots)
		c.slots, c.free = c.slots[:1], c.free[:0]
	}
	bytes += cachedBytes
	if _, known := c.entries[key]; known || bytes > c.limit {
		return
	}
	i := int32(len(c.slots))
	if n := len(c.free); n > 0 {
		i, c.free = c.free[n-1], c.free[:n-1]
	} else {
		c.slots = append(c.slots, cached{})
	}
	c.slots[i] = cached{key: key, value: value, bytes: bytes}
	c.lead(i)
	c.entries[key] = i
	c.take(bytes)
}

// grow says that a value takes so many bytes more, if it is remembered.
func (c *cache) grow(key cacheKey, value any, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.entries[key]
	if !ok || c.slots[i].value != value {
		return
	}
	c.slots[i].bytes += bytes
	c.take(bytes)
}

// shared is parameters and the names of branches in memory that other answers share, if
// the last has the same.
func (c *cache) shared(parameters map[string]string, legs []string) (map[string]string, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(c.parameters, parameters) {
		c.parameters = parameters
	}
	if !slices.Equal(c.legs, legs) {
		c.legs = legs
	}
	return c.parameters, c.legs
}

// take counts bytes, and forgets what was used longest ago where they are too many;
// c.mu must be held.
func (c *cache) take(bytes int64) {
	for c.bytes += bytes; c.bytes > c.limit; {
		i := c.slots[0].before
		c.leave(i)
		delete(c.entries, c.slots[i].key)
		c.bytes -= c.slots[i].bytes
		c.slots[i] = cached{}
		c.free = append(c.free, i)
	}
}

// cachedBytes is what remembering takes beside the value.
const cachedBytes = 256

// outcome says how an answer was come by.
type outcome uint8

const (
	missed outcome = iota
	found
	shared
)

// share is what is remembered of a key at a stamp, or what another request that
// asks for it now finds, or what seek finds, which remembers it itself. Seek says
// whether others may have what it found; when they may not, or when it fails, each
// of those who waited seeks for itself: that one gives up makes no other fail.
func (c *cache) share(ctx context.Context, at stamp, key cacheKey, seek func() (value any, forAll bool, err error)) (any, outcome, error) {
	c.mu.Lock()
	if value := c.find(at, key); value != nil {
		c.counts.Found++
		c.mu.Unlock()
		return value, found, nil
	}
	where := flightKey{at, key}
	f := c.flights[where]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.flights[where] = f
		c.counts.Missed++
		c.mu.Unlock()
		return c.fly(where, f, seek)
	}
	c.mu.Unlock()
	EndTurn(ctx) // the one that is waited for may need it
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, shared, ctx.Err()
	}
	if f.found != nil {
		c.count(func(n *CacheCounts) { n.Shared++ })
		return f.found, shared, nil
	}
	c.count(func(n *CacheCounts) { n.Missed++ })
	value, _, err := seek()
	return value, missed, err
}

// fly seeks for everybody who waits for f, and ends it even when seek panics.
func (c *cache) fly(key flightKey, f *flight, seek func() (any, bool, error)) (any, outcome, error) {
	defer func() {
		c.mu.Lock()
		delete(c.flights, key)
		c.mu.Unlock()
		close(f.done)
	}()
	value, forAll, err := seek()
	if err == nil && forAll {
		f.found = value
	}
	return value, missed, err
}

func (c *cache) count(change func(*CacheCounts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.counts)
}

// state is the counts with what is remembered.
func (c *cache) state() CacheCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts
	n.Entries, n.Bytes = len(c.entries), c.bytes
	return n
}

// keyOf is the key of what parts say: trees of plain values, filters and queries
// among them. Parts that differ in anything have other keys.
func keyOf(parts ...any) cacheKey {
	room := keyRooms.Get().(*[]byte)
	defer keyRooms.Put(room)
	b := (*room)[:0]
	for _, p := range parts {
		b = appendPlain(b, reflect.ValueOf(&p).Elem())
	}
	*room = b
	return sha256.Sum256(b)
}

// keyRooms are memory to write keys in.
var keyRooms = sync.Pool{New: func() any { return new([]byte) }}

// appendPlain writes a value so that no other value of its type is written alike:
// lists with their length, and what stands behind an interface with its type.
func appendPlain(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float32, reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Slice:
		if v.IsNil() { // no bound, where an empty list lets nothing through
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		return appendElements(b, v)
	case reflect.Array:
		return appendElements(b, v)
	case reflect.Map:
		keys := v.MapKeys() // of texts
		slices.SortFunc(keys, func(x, y reflect.Value) int { return cmp.Compare(x.String(), y.String()) })
		b = binary.AppendUvarint(b, uint64(len(keys)))
		for _, key := range keys {
			b = appendPlain(appendPlain(b, key), v.MapIndex(key))
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendPlain(b, v.Field(i))
		}
		return b
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, 0)
		}
		b = append(b, 1)
		if v.Kind() == reflect.Interface {
			b = appendPlain(b, reflect.ValueOf(v.Elem().Type().String()))
		}
		return appendPlain(b, v.Elem())
	case reflect.Func:
		if v.IsNil() {
			return append(b, 0)
		}
	}
	panic("a key of the cache holds a " + v.Type().String())
}

func appendElements(b []byte, v reflect.Value) []byte {
	for i := range v.Len() {
		b = appendPlain(b, v.Index(i))
	}
	return b
}

// Sizes in memory, about.
const (
	hitBytes    = 128
	partBytes   = int64(unsafe.Sizeof(sheaf.Explanation{}))
	detailBytes = 100
)

// rankingBytes is about what a ranking takes.
func rankingBytes(ranking sheaf.Ranking) int64 {
	n := int64(0)
	for i := range ranking {
		h := &ranking[i]
		n += hitBytes + int64(len(h.ID)) + 16*int64(len(h.Legs)) + rankingBytes(h.Constituents) + explanationBytes(h.Explanation)
	}
	return n
}

// explanationBytes is about what an explanation takes.
func explanationBytes(e *sheaf.Explanation) int64 {
	if e == nil {
		return 0
	}
	n := partBytes + int64(len(e.Label)) + detailBytes*int64(len(e.Details))
	for i := range e.Parts {
		n += explanationBytes(&e.Parts[i])
	}
	return n
}
