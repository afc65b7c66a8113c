package collection

import (
	"cmp"
	"container/list"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"sheaf"
	"sheaf/search"
)

// DefaultCacheBytes bounds the cached answers when Options set no bound.
const DefaultCacheBytes = 32 << 20

// answerAge is how long an answer is kept after its last use.
const answerAge = 10 * time.Minute

// stamp is a state of the index: the generation of the catalog and the version of the store, or 0 for a store without
// versions. The same question has the same answer at the same stamp.
type stamp struct{ generation, version uint64 }

// answerKey is a hash of a question and of everything that its answer depends on.
type answerKey [sha256.Size]byte

// answer is the ranking of one question. All its pages are cut from it, so that a change of the index neither
// repeats nor loses a result between them.
type answer struct {
	key     answerKey
	request SearchRequest
	query   sheaf.Query
	result  *search.Result
	// documents has the documents of scanned results. It is nil when the catalog has them.
	documents documents
	scanned   *search.Scanned // for a person on this machine, when files were scanned
	at        stamp
	visible   answerKey // names what its caller sees

	mu    sync.Mutex
	shown []*Result // by place; nil: not shown yet
}

// answers is a cache of answers for repeated questions and for cursors. It bounds the bytes and drops the least
// recently used answer first. It is safe for concurrent use.
type answers struct {
	limit int64
	off   bool // repeated questions are computed again; cursors still work

	mu      sync.Mutex
	byKey   map[cursorKey]*list.Element
	order   list.List // of *storedAnswer, most recently used first
	bytes   int64
	flights map[answerKey]*flight
	counts  CacheCounts
}

// storedAnswer is an answer in the cache.
type storedAnswer struct {
	*answer
	bytes int64
	used  time.Time
}

// flight is an answer that one request computes and others wait for.
type flight struct {
	done   chan struct{}
	answer *answer // nil: each request computes its own
}

// CacheCounts says where answers came from and how large the cache is.
type CacheCounts struct {
	// Found answers were in the cache. Shared answers came from another request with the same question at the same
	// time. Missed answers were computed. Passed answers were computed and cannot be cached.
	Found, Shared, Missed, Passed uint64
	// Entries is the number of cached answers; they take about Bytes.
	Entries int
	Bytes   int64
}

// newAnswers returns an empty cache. A limit of 0 means DefaultCacheBytes. With a negative limit, only cursors find
// cached answers.
func newAnswers(limit int64) *answers {
	bound := cmp.Or(max(limit, 0), DefaultCacheBytes)
	return &answers{limit: bound, off: limit < 0, byKey: map[cursorKey]*list.Element{}, flights: map[answerKey]*flight{}}
}

// origin says where an answer came from.
type origin uint8

const (
	computed origin = iota
	found
	shared
)

// get returns the answer of a question: from the cache, from another request that computes it now, or from compute.
// compute also says whether others may have its answer. When the other request fails, get calls compute.
func (s *answers) get(
	ctx context.Context, key answerKey, compute func() (a *answer, share bool, err error),
) (*answer, origin, error) {
	s.mu.Lock()
	if a := s.lookUp(key.cursor()); a != nil && a.key == key {
		s.counts.Found++
		s.mu.Unlock()
		return a, found, nil
	}
	f := s.flights[key]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flights[key] = f
		s.counts.Missed++
		s.mu.Unlock()
		a, err := s.computeFor(f, key, compute)
		return a, computed, err
	}
	s.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, shared, ctx.Err()
	}
	if f.answer != nil {
		s.count(func(n *CacheCounts) { n.Shared++ })
		return f.answer, shared, nil
	}
	s.count(func(n *CacheCounts) { n.Missed++ })
	a, _, err := compute()
	return a, computed, err
}

// computeFor computes the answer for all requests that wait for f. It wakes them even if compute panics.
func (s *answers) computeFor(f *flight, key answerKey, compute func() (*answer, bool, error)) (*answer, error) {
	defer func() {
		s.mu.Lock()
		delete(s.flights, key)
		s.mu.Unlock()
		close(f.done)
	}()
	a, share, err := compute()
	if err == nil && share {
		f.answer = a
	}
	return a, err
}

// lookUp returns an answer and marks it as used; nil when there is none. The caller holds mu.
func (s *answers) lookUp(key cursorKey) *answer {
	e := s.byKey[key]
	if e == nil {
		return nil
	}
	stored := e.Value.(*storedAnswer)
	if time.Since(stored.used) > answerAge {
		s.remove(e)
		return nil
	}
	stored.used = time.Now()
	s.order.MoveToFront(e)
	return stored.answer
}

// put caches an answer, or updates its size after more of its results were shown. An answer above
// the limit stays only for its cursor, until the next such answer.
func (s *answers) put(a *answer, forCursor bool) {
	bytes := a.bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := a.key.cursor()
	e := s.byKey[key]
	switch {
	case e != nil && e.Value.(*storedAnswer).answer == a:
		s.order.MoveToFront(e)
	case bytes > s.limit && !forCursor:
		return
	default:
		if e != nil {
			s.remove(e)
		}
		e = s.order.PushFront(&storedAnswer{answer: a})
		s.byKey[key] = e
	}
	stored := e.Value.(*storedAnswer)
	s.bytes += bytes - stored.bytes
	stored.bytes, stored.used = bytes, time.Now()
	for last := s.order.Back(); last != e; last = s.order.Back() {
		if s.bytes <= s.limit && time.Since(last.Value.(*storedAnswer).used) <= answerAge {
			break
		}
		s.remove(last)
	}
}

// grow updates the size of a cached answer.
func (s *answers) grow(a *answer) {
	s.mu.Lock()
	e := s.byKey[a.key.cursor()]
	known := e != nil && e.Value.(*storedAnswer).answer == a
	s.mu.Unlock()
	if known {
		s.put(a, true)
	}
}

func (s *answers) remove(e *list.Element) {
	stored := e.Value.(*storedAnswer)
	delete(s.byKey, stored.key.cursor())
	s.order.Remove(e)
	s.bytes -= stored.bytes
}

func (s *answers) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byKey)
	s.order.Init()
	s.bytes = 0
}

func (s *answers) count(change func(*CacheCounts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

func (s *answers) state() CacheCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts
	n.Entries, n.Bytes = s.order.Len(), s.bytes
	return n
}

// randomKey returns a key that only a cursor can find.
func randomKey() (key answerKey) {
	_, _ = rand.Read(key[:]) // crypto/rand never fails
	return key
}

// shownBefore returns a result that was shown before, or nil.
func (a *answer) shownBefore(i int) *Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown == nil {
		return nil
	}
	return a.shown[i]
}

// keepShown stores shown results by their places.
func (a *answer) keepShown(results map[int]*Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown == nil {
		a.shown = make([]*Result, len(a.result.Hits))
	}
	for i, r := range results {
		a.shown[i] = r
	}
}

// ownHit copies a hit so that it shares no memory with the catalog. The copy lacks the inputs of confidence.
func ownHit(h search.Hit) search.Hit {
	h.ID, h.Doc = sheaf.ID(strings.Clone(string(h.ID))), sheaf.ID(strings.Clone(string(h.Doc)))
	h.Path, h.Title, h.Breadcrumb = strings.Clone(h.Path), strings.Clone(h.Title), strings.Clone(h.Breadcrumb)
	h.Hierarchy, h.Tags = ownTexts(h.Hierarchy), ownTexts(h.Tags)
	h.Constituents, h.Legs, h.Evidence = slices.Clone(h.Constituents), slices.Clone(h.Legs), nil
	for i := range h.Constituents {
		c := &h.Constituents[i]
		c.ID, c.Title = sheaf.ID(strings.Clone(string(c.ID))), strings.Clone(c.Title)
	}
	if h.Confidence != nil {
		h.Confidence = new(*h.Confidence)
	}
	return h
}

func ownTexts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = strings.Clone(list[i])
	}
	return list
}

// bytes estimates the size of an answer.
func (a *answer) bytes() int64 {
	const fixed = 4 << 10 // the request, the result and its parameters
	seen := map[unsafe.Pointer]bool{}
	n := fixed + heapBytes(reflect.ValueOf(a.result.Hits), seen) + heapBytes(reflect.ValueOf(a.result.Facets), seen)
	a.mu.Lock()
	defer a.mu.Unlock()
	return n + heapBytes(reflect.ValueOf(a.shown), seen)
}

// heapBytes estimates the size of the memory behind a value. It counts shared memory once.
func heapBytes(v reflect.Value, seen map[unsafe.Pointer]bool) (n int64) {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); len(text) > 0 && !seen[unsafe.Pointer(unsafe.StringData(text))] {
			seen[unsafe.Pointer(unsafe.StringData(text))] = true
			n = int64(len(text)+15) &^ 15
		}
	case reflect.Slice:
		n = int64(v.Len()) * int64(v.Type().Elem().Size())
		for i := range v.Len() {
			n += heapBytes(v.Index(i), seen)
		}
	case reflect.Map:
		const eight, entry = 450, 8 // the size of a map with up to eight values, and of one entry
		if v.Len() > 0 {
			n = eight + entry*int64(v.Len())
		}
	case reflect.Pointer:
		if p := v.UnsafePointer(); p != nil && !seen[p] {
			seen[p] = true
			n = int64(v.Type().Elem().Size()) + heapBytes(v.Elem(), seen)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return 0
		}
		for i := range v.NumField() {
			n += heapBytes(v.Field(i), seen)
		}
	}
	return n
}

// keyOf hashes plain values, filters and queries. Different values have different keys.
func keyOf(parts ...any) answerKey {
	b := make([]byte, 0, 1<<10)
	for _, p := range parts {
		b = appendPlain(b, reflect.ValueOf(&p).Elem())
	}
	return sha256.Sum256(b)
}

// appendPlain encodes a value uniquely among values of its type: lists with their length, and interfaces with the
// type of their value.
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
		if v.IsNil() { // nil sets no bound; an empty list matches nothing
			return append(b, 0)
		}
		return appendElements(binary.AppendUvarint(b, uint64(v.Len())+1), v)
	case reflect.Array:
		return appendElements(b, v)
	case reflect.Map:
		keys := v.MapKeys() // texts
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
