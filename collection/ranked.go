package collection

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// ranked is the ranking that answers a search: what is remembered of it, for all
// pages and for everybody who asks the same and may see the same.
type ranked struct {
	// result holds the hits, which lie in room, until they are remembered, hits then. It is
	// kept then, which is unused before.
	result    *search.Result
	kept      search.Result
	room      *search.Room
	hits      packed
	documents documents // of results that were found in files, else nil
	// at is the state of the index. shown are the snippets of the results that have been
	// shown.
	at    stamp
	shown snippets
	// key is what it is remembered by.
	key cacheKey
}

// len is the number of hits.
func (f *ranked) len() int {
	return max(len(f.result.Hits), f.hits.n)
}

// hit is one of the hits, which must not be changed: of those that were found, if the caller
// has them; room is memory for it, until it is used again.
func (f *ranked) hit(i int, found []search.Hit, room *search.Hit) *search.Hit {
	switch {
	case found != nil:
		return &found[i]
	case f.result.Hits == nil:
		f.hits.into(room, i)
		return room
	}
	return &f.result.Hits[i]
}

// hitRooms are memory for hits that are packed when they are found, and for nobody else.
var hitRooms = sync.Pool{New: func() any { return new(search.Room) }}

// foundHits are the hits of a ranking as they were found, and the memory that they lie in,
// for who found them: others have them packed.
type foundHits struct {
	hits []search.Hit
	room *search.Room
}

// release ends the use of the hits, and of what they point to but texts and explanations:
// other searches then use its memory.
func (h foundHits) release() {
	if h.room != nil {
		h.room.Clear()
		hitRooms.Put(h.room)
	}
}

// own makes of the ranking what may be remembered: without what only the search itself
// was for, in few pieces of memory and sharing none with anything larger but the
// parameters and the names of branches, which are mostly those of the answer before. The hits
// are for who found them.
func (f *ranked) own(c *cache) foundHits {
	found := foundHits{f.result.Hits, f.room}
	f.hits, f.room = pack(found.hits), nil
	f.kept = *f.result
	f.result = &f.kept
	f.kept.Hits, f.kept.Took = nil, nil
	f.kept.Parameters, f.kept.Legs = c.shared(f.kept.Parameters, f.kept.Legs)
	if f.kept.Answerable != nil {
		f.kept.Answerable = answerable[*f.kept.Answerable]
	}
	return found
}

// answerable are the values that answers share.
var answerable = map[bool]*bool{false: new(false), true: new(true)}

// bytes is about what it takes before any of it is shown.
func (f *ranked) bytes() int64 {
	const fixed = 36 * bits.UintSize // the result and its parameters are mostly words
	n := fixed + f.hits.bytes()
	for i := range f.result.Hits { // of one that is not remembered
		n += 4*hitBytes + explanationBytes(f.result.Hits[i].Explanation)
	}
	for _, facet := range f.result.Facets {
		for _, v := range facet.Values {
			n += hitBytes + int64(len(v.Value.Text))
		}
	}
	return n
}

// asked is all that a ranking depends on beside the state of the index.
type asked struct {
	query      sheaf.Query
	profile    uint64 // its edition
	parameters map[string]string
	facets     []string
	sort       string
	explain    bool
	count      bool
	now        int64 // by which ages are measured, in Unix seconds; 0 when there are none
	confidence *search.Calibration
	// What the caller may see.
	owner  string
	filter sheaf.Filter
}

// rank answers a query with its ranking: the one that is remembered, that another
// request is finding, or that is searched for now. Its hits are there as they were found when
// it was searched for, and are to be released. The times are those of what was done.
func (r *Reader) rank(ctx context.Context, q *SearchRequest, parsed sheaf.Query, p loadedProfile) (_ *ranked, _ foundHits, _ []search.Timing, err error) {
	defer func() { r.c.seen(err) }()
	by, err := order(q.Sort)
	if err != nil {
		return nil, foundHits{}, nil, err
	}
	plan, err := p.profile.Plan(q.Window, q.Parameters)
	if err != nil {
		return nil, foundHits{}, nil, inParameters(err)
	}
	now := r.c.now()
	opt := search.Options{Parameters: q.Parameters, Explain: q.Explain, Facets: columnsOf(q.Facets), Count: q.Count, Order: by}
	confidence := r.confidence(p.profile)
	seek := func() (*ranked, error) {
		if err := TakeTurn(ctx); err != nil {
			return nil, err
		}
		ctx := ctx
		if !r.guard.distant && crowded(ctx) {
			ctx = store.Alone(ctx)
		}
		ctx = r.guard.forViewer(ctx)
		s := r.searcher(ctx)
		s.Now = func() time.Time { return now }
		s.Confidence = confidence
		opt := opt
		opt.Room = hitRooms.Get().(*search.Room)
		result, err := s.Search(ctx, parsed, p.profile, opt)
		if err != nil {
			return nil, err
		}
		if err := r.Err(); err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		found, err := r.newRanked(result)
		if err == nil {
			found.room = opt.Room
		}
		return found, err
	}
	if r.c.cache == nil || !r.told || p.profile.Scans() {
		if r.c.cache != nil {
			r.c.cache.count(func(n *CacheCounts) { n.Passed++ })
		}
		found, err := seek()
		if err != nil {
			return nil, foundHits{}, nil, err
		}
		return found, foundHits{}, found.result.Took, nil
	}
	what := asked{query: parsed, profile: p.edition, parameters: q.Parameters, facets: q.Facets, sort: q.Sort, explain: q.Explain, count: q.Count,
		owner: r.grant.Fingerprint(), filter: r.guard.filter}
	if plan.Dated() {
		what.now = now.Unix()
	}
	if confidence != nil {
		what.confidence = confidence(p.profile)
	}
	return r.remembered(ctx, keyOf("rank", what, r.guard.viewer), seek)
}

// confidence is how sure the answers of a profile are, read once for a request; nil
// when the collection says nothing of it.
func (r *Reader) confidence(p *profile.Profile) func(*profile.Profile) *search.Calibration {
	if r.c.o.Confidence == nil {
		return nil
	}
	read := sync.OnceValue(func() *search.Calibration { return r.c.o.Confidence(p) })
	return func(*profile.Profile) *search.Calibration { return read() }
}

// remembered is what is remembered of key, or else what seek finds, which is
// remembered when it is whole and nothing has changed meanwhile.
func (r *Reader) remembered(ctx context.Context, key cacheKey, seek func() (*ranked, error)) (*ranked, foundHits, []search.Timing, error) {
	start, cache := time.Now(), r.c.cache
	var took []search.Timing
	var hits foundHits
	value, how, err := cache.share(ctx, r.at, key, func() (any, bool, error) {
		found, err := seek()
		if err != nil {
			return nil, false, err
		}
		took = found.result.Took
		whole := !found.result.Degraded && len(found.result.Warnings) == 0 && !found.result.Short
		// A pinned store stands still, so this is asked for those that others write to
		// while they are searched.
		if at, told := stampOf(r.view, r.guard.store); whole && told && at == r.at {
			hits = found.own(cache)
			found.key = key
			cache.put(r.at, key, found, found.bytes())
		}
		return found, whole, nil
	})
	if err != nil {
		return nil, foundHits{}, nil, err
	}
	result := value.(*ranked)
	switch how {
	case found:
		return result, foundHits{}, []search.Timing{{Step: "cache", Duration: time.Since(start)}}, nil
	case shared:
		return result, foundHits{}, []search.Timing{{Step: "cache: wait", Duration: time.Since(start)}}, nil
	}
	return result, hits, took, nil
}
