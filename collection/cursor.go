package collection

import (
	"cmp"
	"container/list"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"sync"
	"time"

	"sheaf"
)

// kept is a ranking with what it was asked for. Its pages are cut from it, so a
// changing index neither repeats nor loses a result between them.
type kept struct {
	*ranked
	request    SearchRequest
	query      sheaf.Query
	generation uint64
	owner      string // of the cursors: see Reader.owner
	facets     map[string][]Facet

	key   [keyBytes]byte
	used  time.Time
	bytes int64 // about what the ranking takes
}

const keyBytes = 12

// Bounds of what is kept: rankings, results in all of them, their memory where there is
// more than one, and for how long after they were used last. Results have a bound of
// memory too since a thousand explanations of a long query take 250 MB.
const (
	maxRankings  = 512
	maxKeptHits  = 64 << 10
	maxKeptBytes = 64 << 20
	rankingAge   = 10 * time.Minute
)

// rankings are those whose cursors are out, the least recently used first to
// go.
type rankings struct {
	mu    sync.Mutex
	byKey map[[keyBytes]byte]*list.Element
	order list.List // of *kept, the last used first
	hits  int
	bytes int64
}

func newRankings() *rankings { return &rankings{byKey: map[[keyBytes]byte]*list.Element{}} }

// paged is a ranking of a query, to be shown in pages. The text that was searched for, which
// of a query like a document is all of that, is not kept.
func (r *Reader) paged(q SearchRequest, parsed sheaf.Query, found *ranked) *kept {
	q.like, parsed.Text = nil, ""
	return &kept{ranked: found, request: q, query: parsed, generation: r.Generation(), owner: r.owner(), bytes: found.bytes()}
}

// pack makes of k what is kept of it: with packed hits, since those that were found hold on to
// memory that they share with others, and without what only who searched is told.
func (k *kept) pack() {
	if k.result.Hits == nil {
		return // it is remembered
	}
	f := &ranked{kept: *k.result, hits: pack(k.result.Hits), documents: k.documents, at: k.at}
	f.result = &f.kept
	f.kept.Hits, f.kept.Took, f.kept.Trace, f.kept.Expansion = nil, nil, nil, nil
	k.ranked, k.bytes = f, f.bytes()
}

// owner is whose cursors those of a reader are: of a caller, as long as they may see the same.
func (r *Reader) owner() string { return string(r.guard.owner[:]) + r.grant.Caller }

func (s *rankings) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byKey)
	s.order.Init()
	s.hits, s.bytes = 0, 0
}

// keep returns the cursor of the page of k that begins at from.
func (s *rankings) keep(k *kept, from, limit int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if e := s.byKey[k.key]; e != nil && e.Value == k {
		s.order.MoveToFront(e)
	} else {
		_, _ = rand.Read(k.key[:]) // it never fails: see crypto/rand
		s.evict(k.len(), k.bytes, now)
		s.byKey[k.key] = s.order.PushFront(k)
		s.hits, s.bytes = s.hits+k.len(), s.bytes+k.bytes
	}
	k.used = now
	token := binary.BigEndian.AppendUint16(append([]byte{}, k.key[:]...), uint16(from))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint16(token, uint16(limit)))
}

// evict makes room for a ranking of n results.
func (s *rankings) evict(n int, bytes int64, now time.Time) {
	for e := s.order.Back(); e != nil; e = s.order.Back() {
		oldest := e.Value.(*kept)
		if now.Sub(oldest.used) <= rankingAge && s.order.Len() < maxRankings && s.hits+n <= maxKeptHits && s.bytes+bytes <= maxKeptBytes {
			return
		}
		s.hits, s.bytes = s.hits-oldest.len(), s.bytes-oldest.bytes
		delete(s.byKey, oldest.key)
		s.order.Remove(e)
	}
}

// find is the ranking that a cursor belongs to, with the place and length of
// its page. A cursor that was given to somebody else is unknown.
func (s *rankings) find(cursor, owner string) (k *kept, from, limit int, err error) {
	token, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(token) != keyBytes+4 || base64.RawURLEncoding.EncodeToString(token) != cursor {
		return nil, 0, 0, ErrExpired // none that a search gave
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byKey[[keyBytes]byte(token)]
	if e == nil {
		return nil, 0, 0, ErrExpired
	}
	k = e.Value.(*kept)
	if k.owner != owner || time.Since(k.used) > rankingAge {
		return nil, 0, 0, ErrExpired
	}
	k.used = time.Now()
	s.order.MoveToFront(e)
	from, limit = int(binary.BigEndian.Uint16(token[keyBytes:])), int(binary.BigEndian.Uint16(token[keyBytes+2:]))
	if from > k.len() || limit < 1 || limit > MaxLimit {
		return nil, 0, 0, ErrExpired // somebody changed it
	}
	return k, from, limit, nil
}

// Page is the page of an earlier search that a cursor stands for. A cursor that
// no search gave, that is no longer kept, or that was given to another caller is
// [ErrExpired]; one of another search is [ErrConflict]. as is the search that the caller
// believes the cursor to belong to: its Text as the answer showed it, Filter, Profile and
// Sort, each "" for whatever it was.
func (r *Reader) Page(ctx context.Context, cursor string, as SearchRequest) (*Answer, error) {
	k, from, limit, err := r.c.rankings.find(cursor, r.owner())
	if err != nil {
		return nil, err
	}
	for _, of := range []struct{ what, believed, is string }{
		{"query", as.Text, cmp.Or(k.request.label, k.request.Text)}, {"profile", as.Profile, cmp.Or(k.request.Profile, k.result.Profile)},
		{"filter", as.Filter, k.request.Filter}, {"sort", as.Sort, k.request.Sort},
	} {
		if of.believed != "" && of.believed != of.is {
			return nil, conflictError("cursor", "it belongs to another %s, %q", of.what, of.is)
		}
	}
	if err := TakeTurn(ctx); err != nil {
		return nil, err
	}
	return r.page(ctx, k, foundHits{}, from, limit, nil)
}
