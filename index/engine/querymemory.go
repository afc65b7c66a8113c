package engine

import (
	"sync"

	"sheaf/index/engine/segment"
	"sheaf/index/engine/vector"
)

// queryMemory is the memory of one search: of its plan, its candidates and its hits. A search takes it once. It
// releases the memory when its plan, nodes and sets are no longer used.
type queryMemory struct {
	candidates withinSets
	asked      askedChunks
	collected  collected
	near       []vector.Neighbor
	union      segment.Bitset // of unionDF

	plan    plan
	fields  []*model
	scores  scores // of exhaust
	models  pieces[model]
	terms   pieces[planTerm]
	sets    pieces[segment.Bitset]
	refs    pieces[segment.Term]
	ints    pieces[int]
	weights pieces[float64]
	keys    pieces[byte]
	lists   pieces[*planTerm]
	matches pieces[planMatch]
	phrases pieces[planPhrase]
	slots   pieces[slot]

	// Evaluations of segments, stretches of segments, and the goroutines that evaluate stretches.
	pruned    []*maxScore
	stretches []stretch
	hands     [maxHelpers + 1]hand
}

var queryMemories = sync.Pool{New: func() any { return new(queryMemory) }}

func takeMemory() *queryMemory { return queryMemories.Get().(*queryMemory) }

// release makes the memory available to another search.
func (m *queryMemory) release() {
	m.candidates.reset()
	m.asked.reset()
	m.collected.reset()
	m.fields = m.fields[:0]
	clear(m.fields[:cap(m.fields)])
	m.plan = plan{}
	m.models.reset()
	m.terms.reset()
	m.sets.reset()
	m.refs.reset()
	m.ints.reset()
	m.weights.reset()
	m.keys.reset()
	m.lists.reset()
	m.matches.reset()
	m.phrases.reset()
	m.slots.reset()
	m.scores, m.hands = scores{}, [maxHelpers + 1]hand{}
	clear(m.stretches)
	if m.stretches = m.stretches[:0]; cap(m.stretches) > mostPieces {
		m.stretches = nil
	}
	queryMemories.Put(m)
}

// closePruned closes the evaluations of segments.
func (m *queryMemory) closePruned() {
	for _, of := range m.pruned {
		of.close()
	}
	clear(m.pruned)
	m.pruned = m.pruned[:0]
}

// pieces hands out slices of one allocation. reset makes all these slices invalid. The zero value is ready.
type pieces[T any] struct{ room []T }

const (
	// fewPieces is the smallest allocation of take. mostPieces is the largest that reset keeps.
	fewPieces  = 16
	mostPieces = 1 << 12
)

// take returns a slice of n zeros.
func (r *pieces[T]) take(n int) []T {
	from := len(r.room)
	if cap(r.room)-from < n { // earlier pieces stay valid
		r.room, from = make([]T, 0, max(fewPieces, 2*cap(r.room), n)), 0
	}
	r.room = r.room[:from+n]
	return r.room[from : from+n : from+n]
}

// reset makes all slices that take returned invalid.
func (r *pieces[T]) reset() {
	if cap(r.room) > mostPieces {
		r.room = nil
	}
	clear(r.room)
	r.room = r.room[:0]
}
