package segment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sheaf/index/engine/postings"
	"sheaf/internal/must"
)

// invertedCase holds builders and the occurrences of their chunks.
type invertedCase struct {
	flusher
	want map[string][]postings.Occurrence // by part, field and name
}

// randomInverted returns a case with frequent and rare terms, distances of all sizes, removed
// chunks, and reused builders.
func randomInverted(t *testing.T, rng *rand.Rand) *invertedCase {
	t.Helper()
	c := &invertedCase{want: map[string][]postings.Occurrence{}}
	for part := range 1 + rng.IntN(3) {
		b := NewBuilder([]string{"a", "b", "c"})
		if rng.IntN(2) == 0 {
			fillBuilder(t, b, rng.Uint64N(1000), 300)
			b.Reset()
		}
		got := map[string][]postings.Occurrence{}
		for i := range 1 + rng.IntN(400) {
			ordinal := must.Get(b.Begin(fmt.Sprint(part, "/", i), fmt.Sprint(i/3)))
			for field := range 2 { // the third has no text
				var tokens []Token
				position := uint32(rng.IntN(3) * rng.IntN(1<<30))
				for range rng.IntN(200) {
					name := fmt.Sprintf("%d", rng.IntN(1+rng.IntN(1+rng.IntN(2000*(1+part)))))
					tokens = append(tokens, Token{b.Term([]byte(name)), position})
					if rng.IntN(5) == 0 {
						tokens = append(tokens, Token{b.Term([]byte("form")) | FormToken, position})
						got[fmt.Sprint(field, "form")] = append(got[fmt.Sprint(field, "form")], occurrenceOf(ordinal, position))
					}
					key := fmt.Sprint(field, name)
					got[key] = append(got[key], occurrenceOf(ordinal, position))
					position += uint32(rng.IntN(3) * rng.IntN(14))
				}
				cut := rng.IntN(1 + len(tokens))
				b.Tokens(field, tokens[:cut])
				b.Tokens(field, tokens[cut:])
			}
		}
		for range rng.IntN(3) {
			b.RemoveDocument(fmt.Sprint(rng.IntN(40)))
		}
		c.add(b)
		if len(c.parts) == 0 || c.parts[len(c.parts)-1].Builder != b {
			continue // no chunk of the builder remains
		}
		p := &c.parts[len(c.parts)-1]
		for key, list := range got {
			for _, o := range list {
				if to := p.newOrdinal(uint32(o >> 32)); to != dropped {
					key := fmt.Sprint(len(c.parts)-1, "/", key)
					c.want[key] = append(c.want[key], occurrenceOf(to, uint32(o)))
				}
			}
		}
	}
	return c
}

func occurrenceOf(ordinal, position uint32) postings.Occurrence {
	return postings.Occurrence(uint64(ordinal)<<32 | uint64(position))
}

// TestInversion checks that inverting returns all occurrences of remaining chunks by term, for any
// size of a step. Ranges have the same names in all parts, and none is too long.
func TestInversion(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 4))
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		c := randomInverted(t, rng)
		c.eachPart(func(i int) { c.parts[i].invert() })
		ranges := c.ranges()
		got := map[string][]postings.Occurrence{}
		var l lists
		for from, to := 0, 0; from < len(ranges); from = to {
			to = from + 1 + rng.IntN(len(ranges)-from)
			for i := range c.parts {
				c.parts[i].inversion.make(i, from, ranges[from:to])
				for number := from; number < to; number++ {
					b := ranges[number].parts[i]
					for field := range 3 {
						l.sort(c.parts[i].inversion.occurrences(field, number), b.to-b.from)
						for k := range b.to - b.from {
							if list := l.list(k); len(list) > 0 {
								got[fmt.Sprint(i, "/", field, c.parts[i].name(b.from+k))] = withoutTerm(list)
							}
						}
					}
				}
			}
		}
		must.That(t, maps.EqualFunc(c.want, got, slices.Equal), "round %d: occurrences differ: %s", round,
			cmp.Diff(c.want, got))
		checkRanges(t, c, ranges)
	}
}

func withoutTerm(list []postings.Occurrence) []postings.Occurrence {
	out := slices.Clone(list)
	for i := range out {
		out[i] &= 1<<(64-termBits) - 1
	}
	return out
}

func checkRanges(t *testing.T, c *invertedCase, ranges []termRange) {
	t.Helper()
	at, last := make([]int, len(c.parts)), ""
	for number, r := range ranges {
		first, most := "", last
		for i, b := range r.parts {
			p := &c.parts[i]
			must.That(t, b.from == at[i] && b.to-b.from <= rangeTerms, "range %d of part %d is %v, after %d", number, i, b,
				at[i])
			if at[i] = b.to; b.from == b.to {
				continue
			}
			if name := p.name(b.from); first == "" || name < first {
				first = name
			}
			most = max(most, p.name(b.to-1))
		}
		must.That(t, first > last, "range %d begins with %q, the one before ends with %q", number, first, last)
		last = most
	}
	for i := range c.parts {
		must.That(t, at[i] == len(c.parts[i].sorted.Items), "%d of %d terms of part %d are in a range", at[i],
			len(c.parts[i].sorted.Items), i)
	}
}
