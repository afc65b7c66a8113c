package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
	"sheaf/internal/must"
)

// TestKnownTerms compares the cache with the segment: each term, and its number of remaining
// chunks. It uses several goroutines and more terms than the cache holds, in one field and in
// several.
func TestKnownTerms(t *testing.T) {
	const vocabulary = 3 * termsKept
	rng := rand.New(rand.NewPCG(5, 11))
	ix := testIndex(t, t.TempDir())
	chunks := randomChunks(rng, 0, 3000, vocabulary)
	long := strings.Repeat("w7x", termBytes/2)
	chunks[5].Fields = append(chunks[5].Fields, FieldText{"tags", long})
	commit(t, ix, nil, chunks)
	var gone []string
	for i := 10; i < len(chunks); i += 3 {
		gone = append(gone, chunks[i].ID)
	}
	commit(t, ix, gone, nil)
	s := must.Get(ix.Acquire())
	defer s.Release()
	v := s.views[0]
	must.That(t, v.deleted != nil, "nothing is deleted")
	type known struct {
		term segment.Term
		left []int // by mask of fields
	}
	keys := []string{"", "there is no such term", long}
	for i := range vocabulary {
		keys = append(keys, fmt.Sprintf("w%dx", i))
	}
	fields := len(v.reader.Fields())
	want, several := map[string]known{}, 0
	for _, key := range keys {
		k := known{left: make([]int, 1<<fields)}
		if walk := v.reader.Terms(); walk.Find([]byte(key)) {
			k.term = walk.Term().Clone()
			for mask := range k.left {
				left := segment.NewBitset(v.reader.Chunks())
				for f := range fields {
					if mask&(1<<f) == 0 {
						continue
					}
					list := must.Get(v.reader.List(&k.term, f, false))
					var c postings.Cursor
					c.Reset(list, uint32(v.reader.Chunks()))
					for o := c.Seek(0); o != postings.End; o = c.Next() {
						left.Set(o)
					}
				}
				left.AndNot(v.deleted)
				k.left[mask] = left.Count()
			}
			if k.term.Fields() > 1 {
				several++
			}
		}
		want[key] = k
	}
	must.That(t, several >= 100 && want[long].left[1<<fields-1] == 1 && want[keys[1]].left[1<<fields-1] == 0,
		"%d terms are in several fields; %v, %v", several, want[long], want[keys[1]])
	ask := func(key string, mask int) error {
		k := want[key]
		got, err := v.term(key)
		if err != nil || got.None() != k.term.None() || !got.None() && !reflect.DeepEqual(got, k.term) {
			return fmt.Errorf("%.40q is %v %v, want %v", key, got, err, k.term)
		}
		var in []int
		p := &plan{snapshot: s, cursor: new(postings.Cursor)}
		for f, field := range v.reader.Fields() {
			p.fields = append(p.fields, &model{name: field.Name})
			if mask&(1<<f) != 0 {
				in = append(in, f)
			}
		}
		if left, err := p.unionDF(v, &got, in, nil); err != nil || left != k.left[mask] {
			return fmt.Errorf("%.40q is in %d chunks %v in fields %b, want %d", key, left, err, mask, k.left[mask])
		}
		if len(in) == 1 {
			if left, err := v.liveDF(&got, in[0], p.cursor); err != nil || left != k.left[mask] {
				return fmt.Errorf("%.40q is in %d chunks %v in field %d, want %d", key, left, err, in[0], k.left[mask])
			}
		}
		return nil
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(6, uint64(worker)))
			for range 20_000 {
				key := keys[rng.IntN(1+rng.IntN(len(keys)))]
				if err := ask(key, rng.IntN(1<<fields)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}
