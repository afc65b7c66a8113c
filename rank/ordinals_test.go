package rank_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/rank"
)

// Ordinals are what a map of IDs to numbers would hold, also in a table that was used
// before.
func TestOrdinals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, want := rank.NewOrdinals(rapid.IntRange(0, 50).Draw(t, "room")), map[sheaf.ID]int{}
		defer o.Release()
		if o.Len() != 0 {
			t.Fatalf("a new table has %d", o.Len())
		}
		for range rapid.IntRange(0, 400).Draw(t, "times") {
			id := sheaf.ID(fmt.Sprint("t:", rapid.IntRange(0, 150).Draw(t, "id")))
			before, known := want[id]
			if at, ok := o.Of(id); ok != known || ok && at != before {
				t.Fatalf("%s is %d, %t: want %d, %t", id, at, ok, before, known)
			}
			if !known {
				want[id] = len(want)
			}
			if at, added := o.Add(id); at != want[id] || added == known {
				t.Fatalf("added %s as %d, %t: want %d, %t", id, at, added, want[id], !known)
			}
		}
		if o.Len() != len(want) {
			t.Fatalf("%d of %d", o.Len(), len(want))
		}
	})
}

func BenchmarkOrdinals(b *testing.B) {
	ids := make([]sheaf.ID, 1000)
	for i := range ids {
		ids[i] = sheaf.ID(fmt.Sprintf("notes:some/folder/note%d.md#section", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		o := rank.NewOrdinals(4 * len(ids))
		for range 4 {
			for _, id := range ids {
				o.Add(id)
			}
		}
		o.Release()
	}
}

// A numbering says what a map says, also when its memory serves again, with 0 and
// numbers that collide among what is numbered.
func TestNumbering(t *testing.T) {
	var table rank.Numbering
	rapid.Check(t, func(t *rapid.T) {
		room, want := rapid.IntRange(0, 100).Draw(t, "room"), map[uint32]int{}
		table.Reset(room)
		for range rapid.IntRange(0, 300).Draw(t, "times") {
			number := uint32(rapid.IntRange(0, 150).Draw(t, "number")) << rapid.IntRange(0, 20).Draw(t, "shift")
			before, known := want[number]
			if at, ok := table.Of(number); ok != known || ok && at != before {
				t.Fatalf("%d is %d, %t: want %d, %t", number, at, ok, before, known)
			}
			if !known && len(want) == room {
				continue
			}
			if !known {
				want[number] = len(want)
			}
			if at, added := table.Add(number); at != want[number] || added == known {
				t.Fatalf("added %d as %d, %t: want %d, %t", number, at, added, want[number], !known)
			}
		}
		if table.Len() != len(want) {
			t.Fatalf("%d of %d", table.Len(), len(want))
		}
	})
}
