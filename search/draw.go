package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/store"
)

// columnRandom is the column of an order that is drawn; its seed follows, after a colon.
const columnRandom = "random"

// RandomOrder is the order that a seed draws, for Options.Order.
func RandomOrder(seed uint64) *store.Order {
	return &store.Order{Column: columnRandom + ":" + strconv.FormatUint(seed, 10)}
}

// ReadRandomOrder reads "random", which draws a seed, and "random:7". Anything else is
// nil; what begins as one of these and is none, as "-random" and "random:x" do, is
// sheaf.ErrInvalid.
func ReadRandomOrder(text string) (*store.Order, error) {
	if text == columnRandom {
		return RandomOrder(uint64(rand.Uint32())), nil
	}
	plain := strings.TrimPrefix(text, "-")
	seed, random, err := seedOf(plain)
	switch {
	case plain == columnRandom, plain != text && (random || err != nil):
		return nil, sheaf.Invalidf("order %q: a draw has no direction: want %s or %s:SEED, without a dash", text, columnRandom, columnRandom)
	case err != nil || !random:
		return nil, err
	}
	return RandomOrder(seed), nil
}

// seedOf is the seed of a column that is drawn; random is false for any other column.
func seedOf(column string) (seed uint64, random bool, err error) {
	text, random := strings.CutPrefix(column, columnRandom+":")
	if !random {
		return 0, false, nil
	}
	if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
		return 0, false, sheaf.Invalidf("order %q: the seed must be a whole number of 0..%d, as in %s:7", column, uint64(math.MaxUint64), columnRandom)
	}
	return seed, true, nil
}

// Drawn is what [Draw] draws.
type Drawn struct {
	Hits sheaf.Ranking
	// From is how many were drawn from, Total how many match, as far as the store can count.
	From, Total int
	// Part says that more match than the store gives at once, or may, where it cannot
	// count: those that were drawn from are the best by score.
	Part bool
}

// Draw finds req.Limit of what req matches, as a seed says: the same for the same seed
// while nothing changes, and most of the same when little does.
func Draw(ctx context.Context, st store.Backend, req store.Request, seed uint64) (*Drawn, error) {
	want := req.Limit
	req.Limit = largest(st, req)
	all, err := st.Retrieve(ctx, req)
	if err != nil {
		return nil, err
	}
	d := &Drawn{From: len(all), Total: len(all)}
	if len(all) == req.Limit { // there may be more
		d.Part = true
		if counter, ok := st.(store.Counter); ok {
			n, err := counter.Count(ctx, req)
			if err != nil && !errors.Is(err, sheaf.ErrUnsupported) {
				return nil, err
			}
			d.Total, d.Part = max(d.Total, n), err != nil || n > d.From
		}
	}
	lots := make([]lot, len(all))
	for i := range all {
		lots[i] = lot{xxh3.HashStringSeed(string(all[i].ID), seed), i}
	}
	slices.SortFunc(lots, func(a, b lot) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(all[a.at].ID, all[b.at].ID))
	})
	d.Hits = make(sheaf.Ranking, min(want, len(lots)))
	for i := range d.Hits {
		d.Hits[i] = all[lots[i].at]
	}
	return d, nil
}

// lot is what a hit draws, and where it is.
type lot struct {
	hash uint64
	at   int
}

// largest is the largest limit that a store takes for requests like req.
func largest(st store.Backend, req store.Request) int {
	s, ok := st.(store.Selective)
	if !ok {
		return store.MaxLimit
	}
	refused := sort.Search(store.MaxLimit, func(i int) bool {
		req.Limit = i + 1
		return s.Supports(req) != nil
	})
	return max(1, refused) // of 1 the store says why not
}

// drawn finds some of what a query matches, as the seed of its order says.
func (r *run) drawn(ctx context.Context, req store.Request, seed uint64) (sheaf.Ranking, error) {
	d, err := Draw(ctx, r.searcher.Backend, req, seed)
	if err != nil {
		return nil, err
	}
	r.result.Total = d.Total
	from := strconv.Itoa(d.From)
	switch {
	case d.Total > d.From:
		from = fmt.Sprintf("the best %d of %d, which the store gives at once", d.From, d.Total)
	case d.Part:
		from = fmt.Sprintf("the best %d, which the store gives at once; more may match", d.From)
	}
	r.note("drawn at random from %s: %s draws the same", from, RandomOrder(seed).Column)
	return r.known(d.Hits), nil
}
