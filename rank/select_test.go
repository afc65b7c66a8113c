package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
)

// numbered is a value with its place, so that no two are equal.
type numbered struct{ value, at int }

// adversary answers comparisons so that every member chosen to part by turns out to be
// among the smallest (McIlroy: A Killer Adversary for Quicksort, 1999).
type adversary struct {
	values      []int
	solid, last int
}

func (a *adversary) compare(x, y numbered) int {
	gas := len(a.values)
	if a.values[x.at] == gas && a.values[y.at] == gas {
		freeze := y.at
		if x.at == a.last {
			freeze = x.at
		}
		a.values[freeze] = a.solid
		a.solid++
	}
	if a.values[x.at] == gas {
		a.last = x.at
	} else if a.values[y.at] == gas {
		a.last = y.at
	}
	return cmp.Or(cmp.Compare(a.values[x.at], a.values[y.at]), cmp.Compare(x.at, y.at))
}

// killer is a list of n from which the middle one of three is chosen badly each time.
func killer(n, first int) []numbered {
	a := &adversary{values: slices.Repeat([]int{n}, n)}
	list := make([]numbered, n)
	for i := range list {
		list[i].at = i
	}
	sortFirst(list, first, a.compare)
	for i := range list {
		list[i] = numbered{a.values[i], i}
	}
	return list
}

func byValue(a, b numbered) int {
	return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.at, b.at))
}

// The first are those of the sorted list, and the others are still there.
func TestSortFirst(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		list := make([]numbered, rng.IntN(300))
		first := rng.IntN(len(list) + 1)
		for i := range list {
			list[i] = numbered{i, i}
		}
		switch seed % 5 {
		case 0:
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		case 1:
			slices.Reverse(list)
		case 2: // sorted
		case 3:
			for i := range list {
				list[i].value = rng.IntN(3)
			}
		case 4:
			list = killer(len(list), first)
		}
		want := slices.SortedFunc(slices.Values(list), byValue)
		sortFirst(list, first, byValue)
		if !slices.Equal(list[:first], want[:first]) {
			t.Fatalf("seed %d: the first %d are %v, want %v", seed, first, list[:first], want[:first])
		}
		slices.SortFunc(list, byValue)
		if !slices.Equal(list, want) {
			t.Fatalf("seed %d: the list has become %v, want %v", seed, list, want)
		}
	}
}

// A list against which members are chosen badly takes no more than sorting it does,
// a few times over, instead of the square of its length.
func TestSortFirstBadPivots(t *testing.T) {
	const n = 10_000
	list, compared := killer(n, n/2), 0
	sortFirst(list, n/2, func(a, b numbered) int { compared++; return byValue(a, b) })
	if most := 2*14*n + 3*14*n; compared > most {
		t.Errorf("%d comparisons for %d, want at most %d", compared, n, most)
	}
	if compared < 14*n {
		t.Errorf("%d comparisons for %d: the list chooses no bad members", compared, n)
	}
}

func TestFuseTopBelowZero(t *testing.T) {
	legs := []Leg{{Name: "words", Hits: sheaf.Ranking{{ID: "a", Score: 1}}, Weight: 1}}
	for _, f := range []Fusion{RRF{K: 60}, Scores{}} {
		if got, err := f.FuseTop(legs, -1); err != nil || len(got) != 0 {
			t.Errorf("%T: the first -1: %v, %v, want none", f, got, err)
		}
	}
}

// Keys come in the order of their scores, those of equal score in the order of ties,
// however they stood and however many are equal.
func TestSortKeys(t *testing.T) {
	tied := func(a, b rowKey) int { return int(a.at) - int(b.at) }
	compare := func(a, b rowKey) int { return cmp.Or(cmp.Compare(b.score, a.score), tied(a, b)) }
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		keys := make([]rowKey, rng.IntN(400))
		for i := range keys {
			keys[i] = rowKey{score: float64(rng.IntN(1 + rng.IntN(300))), at: int32(i)}
		}
		switch seed % 4 {
		case 0:
			slices.SortFunc(keys, compare)
		case 1:
			slices.SortFunc(keys, func(a, b rowKey) int { return compare(b, a) })
		}
		want := slices.Clone(keys)
		slices.SortFunc(want, compare)
		if sortKeys(keys, tied); !slices.Equal(keys, want) {
			t.Fatalf("seed %d: %v, want %v", seed, keys, want)
		}
	}
	// A list from which the middle one of three is chosen badly takes no longer.
	list := killer(4000, 4000)
	keys := make([]rowKey, len(list))
	for i, x := range list {
		keys[i] = rowKey{score: -float64(x.value), at: int32(i)}
	}
	if sortKeys(keys, tied); !slices.IsSortedFunc(keys, compare) {
		t.Error("4,000 keys are not in order")
	}
}
