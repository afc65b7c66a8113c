package collection

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestCacheOrder: what is remembered is what a plain list, with the last used in front and
// cut where it is too long, remembers.
func TestCacheOrder(t *testing.T) {
	type entry struct {
		key   cacheKey
		value *int64
		bytes int64
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 3))
	const limit = 20 * cachedBytes
	c, at := newCache(limit), stamp{}
	var list []entry
	use := func(i int) {
		e := list[i]
		list = slices.Insert(slices.Delete(list, i, i+1), 0, e)
	}
	cut := func() {
		for total := int64(0); ; total = 0 {
			for _, e := range list {
				total += e.bytes
			}
			if total <= limit {
				return
			}
			list = list[:len(list)-1]
		}
	}
	for step := range 20000 {
		key := cacheKey{byte(random.IntN(60))}
		where := slices.IndexFunc(list, func(e entry) bool { return e.key == key })
		switch random.IntN(200) {
		case 0:
			at.generation++
			list = nil
			c.put(at, cacheKey{99}, new(int64), limit) // too large to be remembered
		default:
			got, _ := c.get(at, key).(*int64)
			if where < 0 {
				if got != nil {
					t.Fatalf("seed %d, step %d: %v is remembered", seed, step, key)
				}
				e := entry{key, new(int64), random.Int64N(2*cachedBytes) + cachedBytes}
				c.put(at, key, e.value, e.bytes-cachedBytes)
				list = append([]entry{e}, list...)
			} else {
				use(where)
				if got != list[0].value {
					t.Fatalf("seed %d, step %d: %v is %v, not %v", seed, step, key, got, list[0].value)
				}
				more := random.Int64N(cachedBytes)
				c.grow(key, new(int64), more) // of another value
				c.grow(key, got, more)
				list[0].bytes += more
			}
			cut()
		}
		n := c.state()
		total := int64(0)
		for _, e := range list {
			total += e.bytes
		}
		if n.Entries != len(list) || n.Bytes != total || len(c.slots) > 60 {
			t.Fatalf("seed %d, step %d: %d entries of %d bytes in %d slots, not %d of %d", seed, step, n.Entries, n.Bytes, len(c.slots), len(list), total)
		}
	}
}

// counted counts how often a turn was taken and ended.
type counted struct{ taken, ended int }

func (c *counted) Take(context.Context, time.Duration) error { c.taken++; return nil }
func (*counted) Rest()                                       {}
func (c *counted) End()                                      { c.ended++ }
func (*counted) Full() bool                                  { return false }

// Who waits for what another request finds has no turn meanwhile: that one may need it.
func TestWhoWaitsHasNoTurn(t *testing.T) {
	c, turn := newCache(1<<20), &counted{}
	seeks, ends := make(chan bool), make(chan bool)
	go func() {
		_, _, _ = c.share(t.Context(), stamp{}, cacheKey{}, func() (any, bool, error) {
			close(seeks)
			<-ends
			return 7, true, nil
		})
	}()
	<-seeks
	ctx := WithTurn(t.Context(), turn)
	if err := TakeTurn(ctx); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, how, err := c.share(done, stamp{}, cacheKey{}, nil); err == nil || how != shared || turn.ended != 1 {
		t.Errorf("%v, %v, ended %d times", how, err, turn.ended)
	}
	close(ends)
}
