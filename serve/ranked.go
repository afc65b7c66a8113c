package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sheaf"
	"sheaf/backend"
	"sheaf/eval/calibrate"
	"sheaf/profile"
	"sheaf/search"
)

// ranked is the ranking that answers a search: what is remembered of it, for all
// pages and for everybody who asks the same and may see the same.
type ranked struct {
	result    *search.Result
	matches   *int
	documents documents // of results that were found in files, else nil
	// at is the state of the index. shown are the results as they are shown, of
	// those that have been.
	at    stamp
	shown []atomic.Pointer[Result]
	// key is what it is remembered by.
	key cacheKey
}

// bytes is about what it takes before any of it is shown.
func (f *ranked) bytes() int64 {
	const (
		fixed  = 5 << 10                                                                          // the result, its parameters and times
		hit    = int64(unsafe.Sizeof(search.Hit{}) + unsafe.Sizeof(atomic.Pointer[Result]{}) + 8) // with its confidence
		header = int64(unsafe.Sizeof(""))
	)
	n := int64(fixed)
	for i := range f.result.Hits {
		h := &f.result.Hits[i]
		n += hit + int64(len(h.ID)+len(h.Doc)+len(h.Title)+len(h.Breadcrumb)+len(h.Path)) + int64(len(h.Legs))*int64(unsafe.Sizeof(sheaf.Leg{})) + explanationBytes(h.Explanation)
		for _, texts := range [...][]string{h.Hierarchy, h.Tags} {
			for _, text := range texts {
				n += header + int64(len(text))
			}
		}
		for _, c := range h.Constituents {
			n += int64(unsafe.Sizeof(c)) + int64(len(c.ID)+len(c.Title))
		}
	}
	for _, facet := range f.result.Facets {
		for _, v := range facet.Values {
			n += hitBytes + int64(len(v.Value.Text))
		}
	}
	return n
}

// shownBytes is about what a result takes that is shown of a hit, beside the hit.
func shownBytes(r *Result) int64 {
	n := int64(unsafe.Sizeof(*r)) + int64(len(r.Snippet)+len(r.File)) + int64(len(r.Legs))*int64(unsafe.Sizeof(Leg{})) + int64(len(r.Matches))*int64(unsafe.Sizeof(Span{}))
	n += int64(len(r.Constituents)) * int64(unsafe.Sizeof(Constituent{}))
	if r.Date != nil {
		n += int64(unsafe.Sizeof(*r.Date))
	}
	return n
}

// own copies what the hits hold: texts into one, lists of a kind into one. A title is a
// part of all that the catalog read of its document, and the places in the branches a
// part of those of every candidate, which would stay in memory with it; and few large
// pieces of memory are less to look through for what is garbage than many small ones.
func (f *ranked) own() {
	hits := f.result.Hits
	var texts, legs, parts int
	for i := range hits {
		h := &hits[i]
		texts, legs, parts = texts+len(h.Hierarchy)+len(h.Tags), legs+len(h.Legs), parts+len(h.Constituents)
	}
	lists, places, constituents := make([]string, 0, texts), make([]sheaf.Leg, 0, legs), make([]search.Constituent, 0, parts)
	confidences := make([]float64, 0, len(hits))
	all := make([]*string, 0, 5*len(hits)+texts+2*parts)
	for i := range hits {
		h := &hits[i]
		h.Hierarchy, h.Tags = together(&lists, h.Hierarchy), together(&lists, h.Tags)
		h.Legs, h.Constituents = together(&places, h.Legs), together(&constituents, h.Constituents)
		if h.Confidence != nil {
			confidences = append(confidences, *h.Confidence)
			h.Confidence = &confidences[len(confidences)-1]
		}
		h.Evidence = nil // what the confidence was made of
		all = append(all, (*string)(&h.ID), (*string)(&h.Doc), &h.Title, &h.Breadcrumb, &h.Path)
		for j := range h.Constituents {
			all = append(all, (*string)(&h.Constituents[j].ID), &h.Constituents[j].Title)
		}
	}
	for i := range lists {
		all = append(all, &lists[i])
	}
	size := 0
	for _, text := range all {
		size += len(*text)
	}
	var joined strings.Builder
	joined.Grow(size)
	for _, text := range all {
		joined.WriteString(*text)
	}
	rest := joined.String()
	for _, text := range all {
		n := len(*text)
		*text, rest = rest[:n], rest[n:]
	}
}

// together appends a list to those of its kind, which has room for it, and is its copy
// there.
func together[T any](all *[]T, list []T) []T {
	if list == nil {
		return nil
	}
	from := len(*all)
	*all = append(*all, list...)
	return (*all)[from:len(*all):len(*all)]
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
	confidence *calibrate.Logistic
	// What the caller may see.
	owner  string
	filter sheaf.Filter
}

// rank answers a query with its ranking: the one that is remembered, that another
// request is finding, or that is searched for now. The times are those of what was
// done.
func (r *Reader) rank(ctx context.Context, q *SearchRequest, parsed sheaf.Query, p loadedProfile) (*ranked, []search.Timing, error) {
	by, err := order(q.Sort)
	if err != nil {
		return nil, nil, err
	}
	plan, err := p.profile.Plan(q.Window, q.Parameters)
	if err != nil {
		return nil, nil, inParameters(err)
	}
	now := r.c.now()
	opt := search.Options{Parameters: q.Parameters, Explain: q.Explain, Facets: columnsOf(q.Facets), Order: by}
	confidence := r.confidence(p.profile)
	seek := func() (*ranked, error) {
		if err := TakeTurn(ctx); err != nil {
			return nil, err
		}
		ctx := ctx
		if !r.guard.distant && crowded(ctx) {
			ctx = backend.Alone(ctx)
		}
		s := r.searcher(ctx)
		s.Now = func() time.Time { return now }
		s.Confidence = confidence
		result, err := s.Search(ctx, parsed, p.profile, opt)
		if err != nil {
			return nil, err
		}
		if err := r.Err(); err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		found, err := r.newRanked(result)
		if err == nil && q.Count {
			err = r.countInto(ctx, found, parsed)
		}
		return found, err
	}
	if r.c.cache == nil || !r.told || p.profile.Scans() {
		if r.c.cache != nil {
			r.c.cache.count(func(n *CacheCounts) { n.Passed++ })
		}
		found, err := seek()
		if err != nil {
			return nil, nil, err
		}
		return found, found.result.Took, nil
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
func (r *Reader) confidence(p *profile.Profile) func(*profile.Profile) *calibrate.Logistic {
	if r.c.o.Confidence == nil {
		return nil
	}
	read := sync.OnceValue(func() *calibrate.Logistic { return r.c.o.Confidence(p) })
	return func(*profile.Profile) *calibrate.Logistic { return read() }
}

// countInto counts what matches beside what was found. What was found is the answer
// also when the store cannot count or time runs out: without the number, and saying so.
func (r *Reader) countInto(ctx context.Context, found *ranked, q sheaf.Query) error {
	n, err := r.count(ctx, q)
	switch {
	case err == nil:
		found.matches = &n
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sheaf.ErrUnavailable):
		found.result.Degraded = true
		found.result.Warnings = append(found.result.Warnings, fmt.Sprintf("what matches was not counted: %v", err))
	default:
		return err
	}
	return nil
}

// remembered is what is remembered of key, or else what seek finds, which is
// remembered when it is whole and nothing has changed meanwhile.
func (r *Reader) remembered(ctx context.Context, key cacheKey, seek func() (*ranked, error)) (*ranked, []search.Timing, error) {
	start, cache := time.Now(), r.c.cache
	value, how, err := cache.share(ctx, r.at, key, func() (any, bool, error) {
		found, err := seek()
		if err != nil {
			return nil, false, err
		}
		whole := !found.result.Degraded && len(found.result.Warnings) == 0
		// A pinned store stands still, so this is asked for those that others write to
		// while they are searched.
		if at, told := stampOf(r.view, r.guard.store); whole && told && at == r.at {
			found.own()
			found.key = key
			cache.put(r.at, key, found, found.bytes())
		}
		return found, whole, nil
	})
	if err != nil {
		return nil, nil, err
	}
	result := value.(*ranked)
	switch how {
	case found:
		return result, []search.Timing{{Step: "cache", Duration: time.Since(start)}}, nil
	case shared:
		return result, []search.Timing{{Step: "cache: wait", Duration: time.Since(start)}}, nil
	}
	return result, slices.Clone(result.result.Took), nil
}
