package collection

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"sheaf"
	"sheaf/internal/arena"
	"sheaf/internal/lru"
	"sheaf/search"
)

// DefaultCacheBytes is the size limit of the answer cache if Options set no limit.
const DefaultCacheBytes = 32 << 20

// answerAge is how long the cache returns an answer after the last use of this answer.
const answerAge = 10 * time.Minute

// stamp identifies a state of the index: the generation of the catalog, and the version of the store. A store without
// versions has version 0. At one stamp, equal questions get equal answers.
type stamp struct{ generation, version uint64 }

// answerKey is a hash of a question and of everything else that determines the answer.
type answerKey [sha256.Size]byte

// answer is the cached ranking of one question. All pages of its results come from this ranking. So a later page
// neither repeats nor skips a result, even if the index has changed.
type answer struct {
	key     answerKey
	request SearchRequest
	query   sheaf.Query
	result  *search.Result
	// documents holds the documents of results that a scan of files found. For results from the catalog it is nil.
	documents documents
	scanned   *search.Scanned // for a person on this machine, if files were scanned
	state     stamp
	visible   string       // fingerprint of what the caller sees
	used      atomic.Int64 // time of the last use, in Unix nanoseconds
}

// answers is a cache of answers, for repeated questions and for cursors. If the cache exceeds its limit in bytes, it
// drops the least recently used answers. It is safe for concurrent use.
type answers struct {
	limit   int64
	off     bool // repeated questions are computed again; cursors still work
	cache   lru.Cache[cursorKey, *answer]
	counts  [passed + 1]atomic.Uint64
	flights singleflight.Group // the answers that requests compute now
}

// CacheCounts says how many answers came from the cache, and how large the cache is.
type CacheCounts struct {
	// Found counts answers from the cache, and Missed counts computed ones. Shared counts answers that a concurrent
	// request with the same question computed. Passed counts computed answers that must not be cached.
	Found, Shared, Missed, Passed uint64
	// Entries is the number of cached answers. Bytes is roughly how much memory they take.
	Entries int
	Bytes   int64
}

// newAnswers returns an empty cache that holds at most limit bytes, or DefaultCacheBytes if limit is 0. If limit is
// negative, only cursors find cached answers.
func newAnswers(limit int64) *answers {
	s := &answers{limit: cmp.Or(max(limit, 0), DefaultCacheBytes), off: limit < 0}
	s.cache.Limit(s.limit)
	return s
}

// origin says where an answer came from. CacheCounts counts the answers of each origin.
type origin uint8

const (
	found origin = iota
	shared
	computed
	passed
)

// get returns the answer of a question from the cache, or from another request that is computing it. If neither has the
// answer, get calls compute. Other requests may wait for the answer of compute, and get it if toShare is true. If they
// do not get it, they call their own compute.
func (s *answers) get(key answerKey, compute func() (a *answer, toShare bool, err error)) (a *answer, from origin,
	err error) {
	defer func() { s.counts[from].Add(1) }()
	if a := s.lookUp(key.cursor()); a != nil && a.key == key {
		return a, found, nil
	}
	from = shared
	other, _, _ := s.flights.Do(string(key[:]), func() (any, error) {
		var toShare bool
		from = computed
		if a, toShare, err = compute(); !toShare {
			return nil, nil
		}
		return a, nil
	})
	switch {
	case from == computed:
		return a, computed, err
	case other != nil:
		return other.(*answer), shared, nil
	}
	a, _, err = compute()
	return a, computed, err
}

// lookUp returns the cached answer of a key, or nil if the cache has no such answer. It marks the answer as used.
func (s *answers) lookUp(key cursorKey) *answer {
	a, _ := s.cache.Get(key)
	if a == nil || time.Since(time.Unix(0, a.used.Load())) > answerAge {
		return nil
	}
	a.used.Store(time.Now().UnixNano())
	return a
}

// put caches an answer. It drops an answer that is larger than the whole cache. If a cursor needs the answer
// (forCursor), put keeps even such a large answer until the next call of put.
func (s *answers) put(a *answer, forCursor bool) {
	bytes := a.bytes()
	if forCursor {
		bytes = min(bytes, s.limit)
	}
	a.used.Store(time.Now().UnixNano())
	s.cache.Put(a.key.cursor(), a, bytes)
}

func (s *answers) state() CacheCounts {
	n := CacheCounts{Found: s.counts[found].Load(), Shared: s.counts[shared].Load(), Missed: s.counts[computed].Load(),
		Passed: s.counts[passed].Load()}
	n.Entries, n.Bytes = s.cache.Size()
	return n
}

// randomKey returns the key of an answer that no repeated question may find, only a cursor.
func randomKey() (key answerKey) {
	_, _ = rand.Read(key[:]) // crypto/rand never fails
	return key
}

// keyOf hashes plain values: numbers, texts, lists, maps and structs of these. Different values have different keys.
func keyOf(parts ...any) answerKey { return sha256.Sum256(fmt.Appendf(nil, "%#v", parts)) }

// bytes estimates how much memory an answer takes.
func (a *answer) bytes() int64 {
	const fixed, each = 4 << 10, 1 << 10 // the request, the result and its parameters; a hit without its texts
	size := fixed + len(a.result.Hits)*each
	for i := range a.result.Hits {
		h := &a.result.Hits[i]
		size += 4*len(h.ID) + 2*len(h.Breadcrumb) + each*len(h.Constituents)
		for _, tag := range h.Tags {
			size += 16 + len(tag)
		}
		if h.Explanation != nil {
			text, _ := json.Marshal(h.Explanation) // its numbers are finite
			size += 2 * len(text)
		}
	}
	facets, _ := json.Marshal(a.result.Facets)
	return int64(size + 2*len(facets))
}

// ownHit copies a hit. The copy shares no memory with the catalog, and has no Evidence (input of the confidence). The
// memory of its strings comes from texts.
func ownHit(h search.Hit, texts *arena.Texts) search.Hit {
	id := func(id sheaf.ID) sheaf.ID { return sheaf.ID(texts.Join(string(id))) }
	h.ID, h.Doc = id(h.ID), id(h.Doc)
	h.Path, h.Title, h.Breadcrumb = texts.Join(h.Path), texts.Join(h.Title), texts.Join(h.Breadcrumb)
	h.Hierarchy, h.Tags = texts.Own(h.Hierarchy), texts.Own(h.Tags)
	h.Constituents, h.Legs, h.Evidence = slices.Clone(h.Constituents), slices.Clone(h.Legs), nil
	for i := range h.Constituents {
		c := &h.Constituents[i]
		c.ID, c.Title = id(c.ID), texts.Join(c.Title)
	}
	if h.Confidence != nil {
		h.Confidence = new(*h.Confidence)
	}
	return h
}
