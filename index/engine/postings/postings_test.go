package postings_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sheaf/index/engine/postings"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

type posting struct {
	ordinal   uint32
	length    uint32
	positions []uint32
}

// randomList returns n postings with gaps of at most maxGap.
func randomList(rng *rand.Rand, n, maxGap int) []posting {
	list := make([]posting, n)
	ordinal := uint32(rng.IntN(maxGap))
	for i := range list {
		frequency := 1
		for rng.IntN(3) == 0 && frequency < 400 {
			frequency *= 1 + rng.IntN(4)
		}
		positions := make([]uint32, frequency)
		at := uint32(rng.IntN(1000))
		for j := range positions {
			positions[j] = at
			at += uint32(rng.IntN(200))
			if rng.IntN(50) == 0 {
				at += 1 << 20
			}
		}
		list[i] = posting{ordinal, uint32(frequency + rng.IntN(300)), positions}
		if i > 0 && maxGap == 1 && rng.IntN(5) > 0 { // neighbors often share a path
			list[i] = posting{ordinal, list[i-1].length, list[i-1].positions}
		}
		ordinal += 1 + uint32(rng.IntN(maxGap))
	}
	return list
}

// lengthsOf returns the lengths of the chunks of a list.
func lengthsOf(list []posting) func(uint32) uint32 {
	byOrdinal := map[uint32]uint32{}
	for _, p := range list {
		byOrdinal[p.ordinal] = p.length
	}
	return func(ordinal uint32) uint32 { return byOrdinal[ordinal] }
}

func encode(e *postings.Encoder, list []posting) postings.List {
	for _, p := range list {
		e.Add(p.ordinal, p.length, p.positions)
	}
	l := e.Finish()
	l.Postings, l.Positions = slices.Clone(l.Postings), slices.Clone(l.Positions)
	return l
}

var sizes = []int{1, 2, 3, 24, 127, 128, 129, 255, 256, 1000, 5000}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var e postings.Encoder
	var c postings.Cursor
	var positions postings.PositionReader
	for _, n := range sizes {
		for _, gap := range []int{1, 3, 100, 3000} {
			list := randomList(rng, n, gap)
			limit := list[n-1].ordinal + 1
			c.Reset(encode(&e, list), limit)
			positions.Reset(lengthsOf(list))
			got := c.Seek(0)
			for i, want := range list {
				must.That(t, got == want.ordinal && c.Frequency() == uint32(len(want.positions)),
					"n %d gap %d: posting %d is %d x %d, want %d x %d", n, gap, i, got, c.Frequency(), want.ordinal,
					len(want.positions))
				if rng.IntN(3) > 0 {
					if p := positions.Append(nil, &c); !slices.Equal(p, want.positions) {
						t.Fatalf("n %d gap %d: positions of posting %d are %v, want %v", n, gap, i, p, want.positions)
					}
				}
				got = c.Next()
			}
			must.That(t, got == postings.End && c.Err() == nil, "n %d gap %d: after the last posting: %d, %v", n, gap, got,
				c.Err())
		}
	}
}

func TestSeek(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var e postings.Encoder
	var c postings.Cursor
	for _, n := range sizes {
		list := randomList(rng, n, 50)
		limit := list[n-1].ordinal + 1
		encoded := encode(&e, list)
		for range 20 {
			c.Reset(encoded, limit)
			target := uint32(0)
			step := 1 + rng.IntN(2*int(limit))
			for target <= limit {
				i, _ := slices.BinarySearchFunc(list, target, func(p posting, t uint32) int { return int(p.ordinal) - int(t) })
				want := uint32(postings.End)
				if i < n {
					want = list[i].ordinal
				}
				if got := c.Seek(target); got != want || c.Ordinal() != want {
					t.Fatalf("n %d: seek %d gives %d (%d), want %d", n, target, got, c.Ordinal(), want)
				}
				target += uint32(1 + rng.IntN(step))
			}
		}
	}
}

// TestImpacts checks that one impact of a block bounds each of its postings.
func TestImpacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var e postings.Encoder
	var c postings.Cursor
	list := randomList(rng, 3000, 9)
	c.Reset(encode(&e, list), list[len(list)-1].ordinal+1)
	bounded := func(p posting, impacts postings.Impacts) bool {
		return slices.ContainsFunc(impacts[:], func(m postings.Impact) bool {
			return uint32(len(p.positions)) <= m.Frequency && p.length >= m.Length
		})
	}
	for i, p := range list {
		last := c.SkipTo(p.ordinal)
		must.That(t, last >= p.ordinal, "posting %d at %d: its block ends at %d", i, p.ordinal, last)
		var whole, block postings.Impacts
		c.Impacts(&whole)
		c.BlockImpacts(&block, c.CurrentBlock())
		must.That(t, bounded(p, block) && bounded(p, whole), "posting %d: frequency %d, length %d is above %v or %v", i,
			len(p.positions), p.length, block, whole)
	}
}

// TestRewind checks that reading backward finds what reading forward found.
func TestRewind(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	var e postings.Encoder
	var c postings.Cursor
	var positions postings.PositionReader
	for _, n := range sizes {
		list := randomList(rng, n, 40)
		c.Reset(encode(&e, list), list[n-1].ordinal+1)
		positions.Reset(lengthsOf(list))
		for range 300 {
			c.Rewind()
			at := rng.IntN(n)
			for ; at < n; at += 1 + rng.IntN(n) {
				want := list[at]
				got := c.Seek(want.ordinal)
				must.That(t, got == want.ordinal, "n %d: seek %d gives %d", n, want.ordinal, got)
				if got := positions.Append(nil, &c); !slices.Equal(got, want.positions) {
					t.Fatalf("n %d: positions of %d are %v, want %v", n, want.ordinal, got, want.positions)
				}
				must.That(t, int(c.Frequency()) == len(want.positions), "n %d: frequency of %d is %d", n, want.ordinal,
					c.Frequency())
				if rng.IntN(4) == 0 {
					c.Seek(postings.End)
					c.Rewind()
				}
			}
		}
		must.Do(t, c.Err())
	}
}

// TestAddOccurrences checks that a list of occurrences becomes the list of their postings, in one part or two.
func TestAddOccurrences(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var e postings.Encoder
	for range 60 {
		list := randomList(rng, rng.IntN(600)+1, 40)
		lengths := make([]uint32, list[len(list)-1].ordinal+1)
		var occurrences []postings.Occurrence
		cut := 0
		for i, p := range list {
			lengths[p.ordinal] = p.length
			if i == len(list)/2 {
				cut = len(occurrences)
			}
			for _, at := range p.positions {
				occurrences = append(occurrences, postings.Occurrence(uint64(p.ordinal)<<32|uint64(at)))
			}
		}
		second := slices.Clone(occurrences[cut:])
		for i := range second {
			second[i] |= 0xab << 56
		}
		want := encode(&e, list)
		for _, pieces := range [][][]postings.Occurrence{{occurrences}, {occurrences[:cut], second}} {
			for _, piece := range pieces {
				e.AddOccurrences(piece, lengths)
			}
			must.Equal(t, cmp.Diff(want, e.Finish()), "", "%d postings in %d pieces", len(list), len(pieces))
		}
		for _, p := range list {
			e.AddCount(p.ordinal, uint32(len(p.positions)))
		}
		counted := e.Finish()
		counted.Postings, counted.Positions = slices.Clone(counted.Postings), slices.Clone(counted.Positions)
		e.AddCounts(occurrences)
		must.Equal(t, cmp.Diff(counted, e.Finish()), "", "%d postings, counted", len(list))
	}
}

// FuzzCursor checks that no bytes make a cursor panic or leave its limits.
func FuzzCursor(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 10))
	var e postings.Encoder
	for _, n := range []int{1, 2, 100, 128, 300} {
		l := encode(&e, randomList(rng, n, 30))
		f.Add(l.DF, l.Postings, l.Positions, uint32(10_000))
	}
	f.Fuzz(func(t *testing.T, df int, list, positions []byte, limit uint32) {
		if df < 0 || df > 1<<24 || limit > postings.MaxOrdinal {
			return
		}
		var c postings.Cursor
		var p postings.PositionReader
		p.Reset(func(ordinal uint32) uint32 { return ordinal % 1000 })
		c.Reset(postings.List{DF: df, Postings: list, Positions: positions,
			Single: postings.Single{Ordinal: 3, Frequency: 2}}, limit)
		last := int64(-1)
		for d := c.Seek(0); d != postings.End; d = c.Next() {
			if int64(d) <= last && last >= 0 && c.DF() > 1 || d >= limit || c.Frequency() == 0 && c.Err() == nil {
				t.Fatalf("ordinal %d x %d after %d, limit %d", d, c.Frequency(), last, limit)
			}
			last = int64(d)
			_ = p.Append(nil, &c)
			if c.HasImpacts() && c.CurrentBlock() < c.Blocks() {
				var impacts postings.Impacts
				c.BlockImpacts(&impacts, c.CurrentBlock())
			}
			if d%7 == 3 {
				c.Rewind()
				if again := c.Seek(d); again != d && c.Err() == nil {
					t.Fatalf("ordinal %d is %d after going back", d, again)
				}
			}
		}
	})
}

func BenchmarkBlock(b *testing.B) {
	for _, gap := range []int{2, 20, 500} {
		rng := rand.New(rand.NewPCG(11, 12))
		list := randomList(rng, 12800, gap)
		var e postings.Encoder
		encoded := encode(&e, list)
		b.Run(fmt.Sprintf("gap=%d", gap), func(b *testing.B) {
			var c postings.Cursor
			var sum uint32
			for range b.N {
				c.Reset(encoded, postings.MaxOrdinal)
				for docs := c.Block(); len(docs) > 0; docs = c.Block() {
					sum += docs[0] + c.Frequencies()[0]
					c.NextBlock()
				}
			}
			b.ReportMetric(float64(len(list))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpostings/s")
			_ = sum
		})
	}
}

// TestDocumentedExample checks the worked example of doc/formats/postings.md.
func TestDocumentedExample(t *testing.T) {
	var e postings.Encoder
	l := encode(&e, []posting{{3, 10, []uint32{0, 4}}, {7, 20, []uint32{2}}})
	check.Equal(t, fmt.Sprintf("%x %x", l.Postings, l.Positions), "060107 8600", "the example")
}
