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
		}
	}
}

// A store whose state changed between two branches tells of places that do not fit
// together: IDs decide then.
func TestEveryHitOfTwoStates(t *testing.T) {
	of := func(state uint64, place uint32, id sheaf.ID) outcome {
		return outcome{ranking: sheaf.Ranking{{ID: id}}, places: store.Places{State: state, Of: []uint32{place}}}
	}
	all := everyHit([]outcome{of(1, 5, "a"), of(2, 5, "b"), of(1, 6, "b")}, &foundRoom{})
	if want := []sheaf.ID{"a", "b"}; !slices.Equal(all.ids, want) {
		t.Errorf("hits %v, want %v", all.ids, want)
	}
}
