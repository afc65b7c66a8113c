package engine

import (
	"slices"
	"sync"

	"sheaf/index/engine/segment"
)

// withinSets are the chunks that a request is bounded to, for each view, in memory that
// serves again. Who has one may use its sets until release; others may take chunks out
// of them, and add none.
type withinSets struct {
	sets []segment.Bitset
	room []segment.Bitset // as many bits as there are, all of them 0 but those of added
	// added are the words of sets in which a bit was set.
	added []setWord
	// allowed are the sets of a request.
	allowed []segment.Bitset
}

// setWord is a word of the set of a view.
type setWord struct {
	view int32
	at   uint32
}

// mostSetWords is how much is remembered of what to clear; for more all is cleared.
const mostSetWords = 1 << 14

var withinPool = sync.Pool{New: func() any { return &withinSets{} }}

func newWithin() *withinSets { return withinPool.Get().(*withinSets) }

// release gives the sets back.
func (w *withinSets) release() {
	if len(w.added) > mostSetWords {
		for _, set := range w.sets {
			clear(set)
		}
		w.added = nil
	}
	for _, word := range w.added {
		w.room[word.view][:cap(w.room[word.view])][word.at] = 0
	}
	clear(w.allowed) // sets that others have too
	w.sets, w.added, w.allowed = w.sets[:0], w.added[:0], w.allowed[:0]
	withinPool.Put(w)
}

// begin makes empty sets for the views of a snapshot.
func (w *withinSets) begin(s *Snapshot) {
	for i, v := range s.views {
		words := (v.reader.Chunks() + 63) / 64
		if i == len(w.room) {
			w.room = append(w.room, nil)
		}
		if cap(w.room[i]) < words {
			w.room[i] = segment.NewBitset(v.reader.Chunks())
		}
		w.sets = append(w.sets, w.room[i][:words])
	}
}

// set adds a chunk.
func (w *withinSets) set(view int, ordinal uint32) {
	w.sets[view].Set(ordinal)
	if len(w.added) <= mostSetWords {
		w.added = append(w.added, setWord{int32(view), ordinal / 64})
	}
}

// add begins with the chunks that a request is bounded to.
func (w *withinSets) add(s *Snapshot, req *Request) error {
	w.begin(s)
	w.added = slices.Grow(w.added, min(len(req.Within), mostSetWords))
	for _, id := range req.Within {
		if err := s.locate(id, w.set); err != nil {
			return err
		}
	}
	return nil
}
