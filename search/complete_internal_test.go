package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
)

// Hits are the same by their places in the store as by their IDs: which there are, who
// found them, and which each branch lacks.
func TestEveryHitByPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var byPlace, byID foundRoom // which serve again
	for n := range 200 {
		known := make([]outcome, 1+r.IntN(4))
		for i := range known {
			for _, k := range r.Perm(40)[:r.IntN(40)] {
				known[i].ranking = append(known[i].ranking, sheaf.Hit{ID: sheaf.ID(fmt.Sprint("t:", k))})
				known[i].places.Of = append(known[i].places.Of, uint32(k)*uint32(1+n*997))
			}
			known[i].places.State = 7
		}
		plain := slices.Clone(known)
		for i := range plain {
			plain[i].places = store.Places{}
		}
		a, b := everyHit(known, &byPlace), everyHit(plain, &byID)
		if a.state != 7 && countHits(known) > 0 || b.state != 0 {
			t.Fatalf("states %d and %d", a.state, b.state)
		}
		if !slices.Equal(a.ids, b.ids) {
			t.Fatalf("%v by places, %v by IDs", a.ids, b.ids)
		}
		for i := range known {
			ids, places := a.lacks(i)
			want, none := b.lacks(i)
			if !slices.Equal(ids, want) || none.State != 0 || a.state != 0 && len(places.Of) != len(ids) {
				t.Fatalf("branch %d lacks %v at %v, want %v", i, ids, places, want)
			}
			if !slices.Equal(known[i].numbers, plain[i].numbers) {
				t.Fatalf("branch %d has numbers %v, want %v", i, known[i].numbers, plain[i].numbers)
			}
			for k, id := range ids {
				for _, place := range [...]struct {
					state uint64
					of    uint32
				}{{places.State, places.Of[k]}, {8, 12345}} { // of a store that has changed
					if at, ok := a.number(id, place.state, place.of); !ok || a.ids[at] != id {
						t.Fatalf("%s in state %d is number %d, %v", id, place.state, at, ok)
					}
				}
			}
		}
		b.release()
	}
}

// A store whose state changed between two branches tells of places that do not fit
// together: IDs decide then.
func TestEveryHitOfTwoStates(t *testing.T) {
	of := func(state uint64, place uint32, id sheaf.ID) outcome {
		return outcome{ranking: sheaf.Ranking{{ID: id}}, places: store.Places{State: state, Of: []uint32{place}}}
	}
	all := everyHit([]outcome{of(1, 5, "a"), of(2, 5, "b"), of(1, 6, "b")}, &foundRoom{})
	defer all.release()
	if want := []sheaf.ID{"a", "b"}; !slices.Equal(all.ids, want) {
		t.Errorf("hits %v, want %v", all.ids, want)
	}
}

// Hits that are not in order after a look-up keep their numbers when they are put in order.
func TestNumbersFollowHits(t *testing.T) {
	outcomes := []outcome{
		{ranking: sheaf.Ranking{{ID: "a", Score: 3}, {ID: "b", Score: 1}}, places: store.Places{State: 1, Of: []uint32{10, 11}}},
		{ranking: sheaf.Ranking{{ID: "c", Score: 9}}, places: store.Places{State: 1, Of: []uint32{12}}},
	}
	all := everyHit(outcomes, &foundRoom{})
	defer all.release()
	o := &outcomes[0]
	o.ranking = append(o.ranking, sheaf.Hit{ID: "c", Score: 2})
	o.number(&all, store.Places{State: 1, Of: []uint32{12}})
	if want := []int32{0, 2, 1}; !slices.Equal(o.numbers, want) || o.ranking[1].ID != "c" {
		t.Errorf("numbers %v of %v, want %v", o.numbers, o.ranking, want)
	}
}

// Two rankings in order, one looked up after the other, are one in order, whether what was
// looked up comes after the rest, as a rule, or not; and numbers are those of the hits.
func TestLookedUpInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	moved := 0
	for range 2_000 {
		had, added := outcome{}, outcome{}
		for i, k := range r.Perm(12) {
			h, of := sheaf.Hit{ID: sheaf.ID(fmt.Sprint("t:", k)), Score: float64(r.IntN(4))}, &had
			if i >= 6 {
				of = &added
			}
			if r.IntN(3) > 0 {
				of.ranking = append(of.ranking, h)
			}
		}
		had.ranking.Sort()
		added.ranking.Sort()
		outcomes := []outcome{had, added}
		all := everyHit(outcomes, &foundRoom{})
		o := &outcomes[0]
		o.ranking = append(slices.Clone(o.ranking), added.ranking...)
		before := slices.Clone(o.ranking)
		o.number(&all, store.Places{})
		if !o.ranking.Sorted() || len(o.numbers) != len(o.ranking) {
			t.Fatalf("%v with numbers %v", o.ranking, o.numbers)
		}
		for k, at := range o.numbers {
			if all.ids[at] != o.ranking[k].ID {
				t.Fatalf("%s has the number of %s", o.ranking[k].ID, all.ids[at])
			}
			if before[k].ID != o.ranking[k].ID {
				moved++
			}
		}
		all.release()
	}
	if moved < 1_000 {
		t.Errorf("%d hits were put elsewhere", moved)
	}
}
