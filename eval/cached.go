package eval

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/store"
)

// Cached returns a copy of c that caches vectors and the rankings of the store. So the copy retrieves hits only once
// for rankings that differ only in fusion, boosts or aggregation. If the store is not a completeStore, the copy caches
// only vectors. The latencies of the copy mean nothing. Closing c also closes the copy.
func (c *Collection) Cached() *Collection {
	out, s := *c, *c.Searcher
	if full, ok := s.Backend.(completeStore); ok {
		s.Backend = &cachedBackend{completeStore: full, legs: map[xxh3.Uint128]sheaf.Ranking{}}
	}
	if s.Embed != nil {
		s.SetEmbed(embedOnce(s.Embed))
	}
	out.Searcher = &s
	return &out
}

// completeStore has all interfaces that a search looks for in a store. If [cachedBackend] lacked one of these
// interfaces, a search in it would rank in another way.
type completeStore interface {
	store.Backend
	store.Batcher
	store.Counter
	store.Explainer
	store.Matcher
	store.Scorer
	store.Selective
	Batches() bool
}

// cachedBackend caches the rankings that a store returned.
type cachedBackend struct {
	completeStore
	mu   sync.Mutex
	legs map[xxh3.Uint128]sheaf.Ranking
}

// Retrieve implements store.Backend. Callers share the cached ranking, because stages never change their input.
func (b *cachedBackend) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	key := keyOf(&req)
	b.mu.Lock()
	leg, ok := b.legs[key]
	b.mu.Unlock()
	if ok {
		return leg, nil
	}
	leg, err := b.completeStore.Retrieve(ctx, req)
	if err == nil {
		b.mu.Lock()
		b.legs[key] = leg
		b.mu.Unlock()
	}
	return leg, err
}

// keyOf returns a hash that identifies a request.
func keyOf(req *store.Request) xxh3.Uint128 {
	h := xxh3.New()
	fmt.Fprintf(h, "%d\x00%#v\x00%#v\x00", req.Limit, req.Filter, req.Within)
	if req.Text != nil {
		fmt.Fprintf(h, "%#v", *req.Text)
	}
	if v := req.Vector; v != nil {
		fmt.Fprintf(h, "%s\x00%d\x00", v.Field, v.Candidates)
		if v.Matching != nil {
			fmt.Fprintf(h, "%#v", *v.Matching)
		}
		_ = binary.Write(h, binary.LittleEndian, v.Vector) // never fails
	}
	return h.Sum128()
}

// embedOnce returns an embedder that computes vectors only once for each list of texts.
func embedOnce(embed func(ctx context.Context, texts []string) ([][]float32,
	error)) func(ctx context.Context, texts []string) ([][]float32, error) {
	var memory sync.Map // vectors by texts
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		key := strings.Join(texts, "\x00")
		if v, ok := memory.Load(key); ok {
			return v.([][]float32), nil
		}
		v, err := embed(ctx, texts)
		if err == nil {
			memory.Store(key, v)
		}
		return v, err
	}
}
