package postings_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sheaf/index/engine/postings"
	"sheaf/internal/must"
)

// occurrencesOf returns the occurrences of a list.
func occurrencesOf(list []posting) (out []postings.Occurrence) {
	for _, p := range list {
		for _, position := range p.positions {
			out = append(out, postings.Occurrence(uint64(p.ordinal)<<32|uint64(position)))
		}
	}
	return out
}

// TestRun checks that a list written through a run equals the list encoded at once, for the
// remaining chunks.
func TestRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 7))
	var runs postings.RunEncoder
	var once, again postings.Encoder
	for range 300 {
		n, counted := 1+rng.IntN(1+rng.IntN(400)), rng.IntN(3) == 0
		list := randomList(rng, n, 1+rng.IntN(50))
		limit := list[n-1].ordinal + 1
		const base = 1000
		lengths := make([]uint32, base+limit)
		for _, p := range list {
			lengths[base+p.ordinal] = p.length
		}
		var to []uint32
		if rng.IntN(2) == 0 {
			to = make([]uint32, limit)
			for i := range to {
				if to[i] = base + uint32(i); rng.IntN(3) == 0 {
					to[i] = postings.End
				}
			}
		}
		left := slices.Clone(list)
		left = slices.DeleteFunc(left, func(p posting) bool { return to != nil && to[p.ordinal] == postings.End })
		for i := range left {
			left[i].ordinal += base
		}
		half := len(occurrencesOf(list[:n/2]))
		all := occurrencesOf(list)
		runs.Add(all[:half], counted)
		runs.Add(all[half:], counted)
		if counted {
			once.AddCounts(occurrencesOf(left))
		} else {
			once.AddOccurrences(occurrencesOf(left), lengths)
		}
		must.Do(t, again.AddRun(runs.Finish(), counted, limit, base, to, lengths))
		must.Equal(t, cmp.Diff(once.Finish(), again.Finish()), "", "%d postings, counted: %v", n, counted)
	}
}

// FuzzRun checks that no bytes make reading a run panic, and that bytes which are no run are an error.
func FuzzRun(f *testing.F) {
	f.Add([]byte{3, 0, 5, 1, 2, 9}, 2, 0, false)
	f.Add([]byte{3, 5, 7}, 3, 0, true)
	f.Add([]byte{4, 2}, 1, 2, false)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}, 2, 0, false)
	f.Fuzz(func(t *testing.T, data []byte, n, frequency int, counted bool) {
		const limit = 100
		list := postings.List{DF: n & 0xff, Postings: data}
		if list.DF == 1 {
			list.Postings, list.Positions = nil, data
			list.Single = postings.Single{Ordinal: uint32(n >> 8), Frequency: uint32(frequency), Position: uint32(n)}
		}
		var e postings.Encoder
		if err := e.AddRun(list, counted, limit, 0, nil, make([]uint32, limit)); err != nil {
			return
		}
		encoded := e.Finish()
		var c postings.Cursor
		c.Reset(encoded, limit)
		count := 0
		for o := c.Seek(0); o != postings.End; o = c.Next() {
			count++
		}
		must.That(t, c.Err() == nil && count == list.DF, "%d postings of %d: %v", count, list.DF, c.Err())
	})
}
