package onyx

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/store"
)

// Random returns at most n chunks that the filters match. seed decides which chunks it chooses, and their order. The
// same seed gives the same chunks in an unchanged index. Random chooses only among the chunks that the store returns in
// one answer of the largest size.
func (x *Index) Random(ctx context.Context, f Filters, n int, seed uint64) ([]sheaf.ID, error) {
	if n < 1 || n > store.MaxLimit {
		return nil, sheaf.Invalidf("random chunks: %d are wanted: must be within 1..%d", n, store.MaxLimit)
	}
	text := store.TextRequest{Query: sheaf.Bool{}, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}},
		K1: store.DefaultK1, B: store.DefaultB}
	all, err := x.retrieve(ctx, store.Request{Limit: x.largest(store.Request{Text: &text}), Text: &text}, f)
	if err != nil {
		return nil, err
	}
	ids, hashes := make([]sheaf.ID, len(all)), make(map[sheaf.ID]uint64, len(all))
	for i := range all {
		ids[i] = all[i].ID
		hashes[ids[i]] = xxh3.HashStringSeed(string(ids[i]), seed)
	}
	slices.SortFunc(ids, func(a, b sheaf.ID) int { return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b)) })
	return ids[:min(n, len(ids))], nil
}

// largest returns the largest limit that the store accepts for requests like req.
func (x *Index) largest(req store.Request) int {
	s, ok := x.store.(store.Selective)
	if !ok {
		return store.MaxLimit
	}
	refused := sort.Search(store.MaxLimit, func(i int) bool {
		req.Limit = i + 1
		return s.Supports(req) != nil
	})
	return max(1, refused) // if the store refuses 1 too, its error says why
}
