package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/embedded"
)

// What is answered in memory that is lent is what is answered without, by words and
// over several segments with deleted chunks; places tell chunks apart, and bound a request
// as their IDs do.
func TestAnswersInRoom(t *testing.T) {
	ctx := context.Background()
	s := open(t, embedded.Options{Dir: t.TempDir(), MergeRate: embedded.NoMerges})
	r := rand.New(rand.NewPCG(3, 4))
	vocabulary := []string{"tea", "green", "black", "kettle", "water"}
	write := func(docs int, deleted ...sheaf.ID) {
		batch := store.Batch{Replace: deleted}
		for range docs {
			id := fmt.Sprintf("t:%03d.md", r.IntN(300))
			if slices.Contains(batch.Replace, sheaf.ID(id)) {
				continue
			}
			batch.Replace = append(batch.Replace, sheaf.ID(id))
			batch.Chunks = append(batch.Chunks, note(id, id, vocabulary[r.IntN(5)], vocabulary[r.IntN(5)]+" "+vocabulary[r.IntN(5)]))
		}
		if err := s.Write(ctx, batch); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		write(60)
	}
	write(10, "t:001.md", "t:002.md", "t:003.md")
	pinned, err := s.Pin()
	if err != nil {
		t.Fatal(err)
	}
	defer pinned.Close()
	known := map[uint32]sheaf.ID{}
	room := &store.Room{}
	for _, q := range []string{"tea", "green kettle", "black water tea", "nothing"} {
		req := words(sheaf.Match{Text: q})
		req.Limit = 70
		want := answer(t, pinned, req)
		req.Room = room
		got := answer(t, pinned, req)
		if !slices.EqualFunc(got, want, equalHits) {
			t.Fatalf("%q in room: %v, want %v", q, ids(got), ids(want))
		}
		if room.Places.State == 0 || len(room.Places.Of) != len(got) {
			t.Fatalf("%q: places %+v of %d hits", q, room.Places, len(got))
		}
		if len(got) > 0 && len(got) <= cap(room.Hits) && &got[0] != &room.Hits[:1][0] {
			t.Errorf("%q: the answer does not lie in the room", q)
		}
		for i, place := range room.Places.Of {
			if id, ok := known[place]; ok && id != got[i].ID {
				t.Fatalf("place %d is %s and %s", place, id, got[i].ID)
			}
			known[place] = got[i].ID
		}
		if room.Hits == nil {
			room.Hits = make(sheaf.Ranking, 0, 100)
		}
	}
	seen := map[sheaf.ID]bool{}
	for place, id := range known {
		if seen[id] {
			t.Fatalf("%s has two places, of which one is %d", id, place)
		}
		seen[id] = true
	}

	state := room.Places.State
	for range 20 {
		req := words(sheaf.Match{Text: vocabulary[r.IntN(5)] + " " + vocabulary[r.IntN(5)]})
		req.Limit = 300
		req.Filter = sheaf.HasPrefix{Column: sheaf.ColumnPath, Prefix: "t:0"}
		req.Within = []sheaf.ID{}
		var places []uint32
		for place, id := range known {
			if r.IntN(3) == 0 {
				req.Within, places = append(req.Within, id), append(places, place)
			}
		}
		want := answer(t, pinned, req)
		req.Places = store.Places{State: state, Of: places}
		if got := answer(t, pinned, req); !slices.EqualFunc(got, want, equalHits) {
			t.Fatalf("within places: %v, want %v", ids(got), ids(want))
		}
		// Those of another state mean nothing.
		req.Places = store.Places{State: state + 1000, Of: make([]uint32, len(places))}
		if got := answer(t, pinned, req); !slices.EqualFunc(got, want, equalHits) {
			t.Fatalf("within places of another state: %v, want %v", ids(got), ids(want))
		}
	}

	write(5)
	req := words(sheaf.Match{Text: "tea"})
	req.Room = room
	answer(t, s, req)
	if room.Places.State == state {
		t.Error("what was written did not change the state")
	}
}

func equalHits(a, b sheaf.Hit) bool {
	return a.ID == b.ID && a.Score == b.Score && a.Passage == b.Passage
}

func answer(t *testing.T, b store.Backend, req store.Request) sheaf.Ranking {
	t.Helper()
	ranking, err := b.Retrieve(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return ranking
}
